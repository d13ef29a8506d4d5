//! Opens the store and the secrets of a gateway.

use super::{AUDIT_COPY_FOLDER, StartError, clock_check};
use crate::clock::Clock;
use crate::config::{Config, NodeSection};
use crate::secrets::operator_token::{self, OperatorToken};
use crate::secrets::{Pepper, PepperError, StoreContents};
use crate::telemetry;
use hermod_domain::numbers::Numbers;
use hermod_store::{NodeListener, NodeOptions, OpenOptions, Server, Store};

/// The opened store and secrets of a data folder.
pub struct Opened {
    pub store: Store,
    pub pepper: Pepper,
    pub operator_token: OperatorToken,
}

/// Opens a data folder, creating it if missing. Blocking: it recovers the state. Fails with
/// [`PepperError::OfAnotherStore`] if the store belongs to another pepper; a new one belongs to the first.
pub fn open(config: &Config, clock: &Clock) -> Result<Opened, StartError> {
    let opened = open_unclaimed(config, clock)?;
    if !opened.store.claim_pepper(opened.pepper.fingerprint())? {
        return Err(PepperError::OfAnotherStore { place: Pepper::source(&config.data) }.into());
    }
    Ok(opened)
}

/// Does the same as [`open`] for a data folder that is removed afterwards: a pepper that was generated there must not claim the
/// store of a server.
pub fn open_unclaimed(config: &Config, clock: &Clock) -> Result<Opened, StartError> {
    // First: metrics counted before the recorder exists are lost.
    telemetry::name_node(config.node.name.as_deref());
    telemetry::figures();
    // Load now, not during the first request.
    Numbers::embedded();
    let now = clock_check::check(clock.now())?;
    let folder = config.data.folder.clone();
    let server = config.data.store.server()?;
    let is_on_server = server.is_some();
    let options = OpenOptions {
        folder: folder.clone(),
        server: server.map(|server| as_node(server, config, clock)).transpose()?,
        low_water_bytes: config.data.low_water.0,
        in_doubt_wait: config.messages.in_doubt_wait.into(),
        record: config.record.enabled,
        now,
    };
    let store = Store::open(&options)?;
    // Left over by an audit that was killed.
    let _ = std::fs::remove_dir_all(folder.join(AUDIT_COPY_FOLDER));
    let claimed = store.pepper_fingerprint()?;
    let contents = match claimed {
        Some(_) if is_on_server => StoreContents::OnServer,
        None if store.was_empty() => StoreContents::Empty,
        Some(_) | None => StoreContents::InUse,
    };
    let pepper = Pepper::load(&config.data, contents)?;
    if claimed.is_some_and(|claimed| claimed != pepper.fingerprint()) {
        return Err(PepperError::OfAnotherStore { place: Pepper::source(&config.data) }.into());
    }
    store.set_audit_key(pepper.audit_key());
    store.erasures().set_key(pepper.erasure_key());
    let operator_token = OperatorToken::load_or_make(config, &pepper)
        .map_err(|error| StartError::Token { place: operator_token::source(config), error })?;
    Ok(Opened { store, pepper, operator_token })
}

/// Makes this gateway one of several nodes, if the settings say so.
fn as_node(server: Server, config: &Config, clock: &Clock) -> Result<Server, StartError> {
    let NodeSection { name: Some(name), listen: Some(listen), address } = &config.node else {
        return Ok(server);
    };
    let failed = |error| StartError::NodeListener { address: *listen, error };
    let socket = std::net::TcpListener::bind(listen).map_err(failed)?;
    let own = socket.local_addr().map_err(failed)?;
    let address = address.clone().unwrap_or_else(|| own.to_string());
    // Never made here: every node needs the same.
    let key = Pepper::load(&config.data, StoreContents::OnServer)?.node_key();
    let clock = clock.clone();
    Ok(server.as_node(NodeOptions {
        name: name.clone(),
        listener: Some(NodeListener { socket, address, key }),
        clock: Box::new(move || clock.now()),
    }))
}

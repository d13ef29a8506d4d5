//! Who is asking. The key names the connection, the secret proves it; a wrong key costs the same work as a wrong secret.

use crate::secrets::Secret;
use crate::world::World;
use hermod_domain::catalogue::{AccountView, AllowList, Catalogue, Connection};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::refusal::{RateLimit, Refusal};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// A key and its secret as they came in.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub key: String,
    pub secret: Secret,
}

/// An authenticated customer, with the catalogue as it was when the request came in: one request sees one world.
#[derive(Clone)]
pub struct Caller {
    pub account: AccountId,
    pub connection: ConnectionId,
    /// Where the key may be used from.
    key_allows: AllowList,
    catalogue: Arc<Catalogue>,
}

/// What an unknown key is compared with, so that it takes as long as a known one.
const NOBODY: &str = "0000000000000000000000000000000000000000000000000000000000000000";

pub fn authenticate(world: &World, credentials: &Credentials) -> Result<Caller, Refusal> {
    let catalogue = world.catalogue();
    let known = catalogue.key(&credentials.key);
    let digest = known.map_or(NOBODY, |key| &key.secret_digest);
    let matches = world.pepper.matches(credentials.secret.reveal(), digest);
    let now = world.clock.now();
    let proven = known.filter(|key| matches && key.is_valid_at(now)).ok_or(Refusal::InvalidApiKey)?;
    let (connection, key_allows) = (proven.connection, proven.allow.clone());
    let open = catalogue.connection(connection).filter(|connection| !connection.closed);
    let account = open.ok_or(Refusal::InvalidApiKey)?.account;
    if catalogue.account(account).is_none_or(|view| view.account.closed) {
        return Err(Refusal::InvalidApiKey);
    }
    Ok(Caller { account, connection, key_allows, catalogue })
}

/// The lists of the key and of the connection must both admit where the request came from. Who cannot be told where it
/// came from is admitted by no list.
pub fn admit(caller: &Caller, peer: Option<IpAddr>) -> Result<(), Refusal> {
    let lists = [&caller.key_allows, &caller.connection().allow];
    if lists.iter().all(|list| list.is_empty()) {
        return Ok(());
    }
    match peer {
        Some(peer) if lists.iter().all(|list| list.admits(peer)) => Ok(()),
        Some(peer) => Err(Refusal::IpNotAllowed(peer)),
        None => Err(Refusal::IpNotAllowed(IpAddr::V6(Ipv6Addr::UNSPECIFIED))),
    }
}

/// What a failed sign-in is answered with: after too many of them from one address, that there were too many.
pub fn refuse_sign_in(world: &World, source: IpAddr) -> Refusal {
    match world.fail_sign_in(source) {
        Ok(()) => Refusal::InvalidApiKey,
        Err(wait) => {
            let seconds = wait.as_millis().div_ceil(1000);
            let retry_after_s = u32::try_from(seconds).unwrap_or(u32::MAX);
            Refusal::RateLimited { limit: RateLimit::FailedSignIns, retry_after_s }
        }
    }
}

impl Caller {
    /// A customer who proved itself when it bound. `None` once its connection or its account is closed.
    pub fn bound(catalogue: Arc<Catalogue>, connection: ConnectionId) -> Option<Caller> {
        let open = catalogue.connection(connection).filter(|connection| !connection.closed)?;
        let account = open.account;
        if open.smpp.is_none() || catalogue.account(account)?.account.closed {
            return None;
        }
        Some(Caller { account, connection, key_allows: AllowList::default(), catalogue })
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub fn connection(&self) -> &Connection {
        self.catalogue.connection(self.connection).expect("checked when the caller was made")
    }

    pub fn account(&self) -> &AccountView {
        self.catalogue.account(self.account).expect("a catalogue has the accounts of its connections")
    }
}

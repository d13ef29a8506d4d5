//! Authenticates API requests by key and secret. An unknown key, a wrong secret and unreadable credentials all cost
//! the same work, so that the response time does not reveal which keys exist.

use crate::secrets::Secret;
use crate::world::{SignInKey, World};
use hermod_domain::catalogue::{AccountView, AllowList, Catalogue, Connection};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::refusal::{RateLimit, Refusal};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

/// The key and secret of a request.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub key: String,
    pub secret: Secret,
}

/// An authenticated customer, with the catalogue at the time of the request: a request uses one catalogue throughout.
#[derive(Clone)]
pub struct Caller {
    pub account: AccountId,
    pub connection: ConnectionId,
    /// The key's own allow-list.
    key_allows: AllowList,
    catalogue: Arc<Catalogue>,
}

/// The digest that an unknown key is compared with, so that it takes as long as a known one.
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Authenticates a request from an address. `given` is `None` where the request has no readable credentials.
///
/// Fails with INVALID_API_KEY, or with RATE_LIMITED once there were too many failed sign-ins from the address. An
/// address that has signed in with these credentials before is never rejected with them; from any other address even
/// valid credentials are rejected while there are too many failures.
pub fn authenticate(
    world: &World,
    given: Option<&Credentials>,
    source: Option<IpAddr>,
) -> Result<Caller, Refusal> {
    let (name, secret) = given.map_or(("", ""), |given| (&given.key, given.secret.reveal()));
    let key = SignInKey::Api(name);
    let catalogue = world.catalogue();
    let known = given.and_then(|given| catalogue.key(&given.key));
    let digest = known.map_or(NO_DIGEST, |key| &key.secret_digest);
    let matches = world.pepper.matches(secret, digest);
    let now = world.clock.now();
    let proven = known.filter(|key| matches && key.is_valid_at(now));
    let caller = proven.and_then(|key| Caller::open(&catalogue, key.connection, key.allow.clone()));
    let limited = match (&caller, source) {
        (_, None) => Ok(()),
        (Some(_), Some(source)) => world.pass_sign_in(source, key, digest),
        (None, Some(source)) => world.fail_sign_in(source, key),
    };
    limited.map_err(too_many_failures)?;
    caller.ok_or(Refusal::InvalidApiKey)
}

fn too_many_failures(wait: Duration) -> Refusal {
    let retry_after_s = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
    Refusal::RateLimited { limit: RateLimit::FailedSignIns, retry_after_s }
}

/// Checks the peer address against the allow-lists of the key and of the connection. An unknown address passes only if
/// both lists are empty.
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

impl Caller {
    /// Returns the caller of a bound SMPP connection. `None` if the connection or its account is closed.
    pub fn bound(catalogue: Arc<Catalogue>, connection: ConnectionId) -> Option<Caller> {
        catalogue.connection(connection)?.smpp.as_ref()?;
        Caller::open(&catalogue, connection, AllowList::default())
    }

    /// Returns the caller of an API key without its secret, for messages that the gateway makes itself. `None` if there is no
    /// such key, or its connection or account is closed.
    pub fn with_key(catalogue: &Arc<Catalogue>, key: &str) -> Option<Caller> {
        let key = catalogue.key(key)?;
        Caller::open(catalogue, key.connection, key.allow.clone())
    }

    /// `None` if the connection or its account is closed.
    fn open(catalogue: &Arc<Catalogue>, connection: ConnectionId, key_allows: AllowList) -> Option<Caller> {
        let account = catalogue.connection(connection).filter(|connection| !connection.closed)?.account;
        if catalogue.account(account)?.account.closed {
            return None;
        }
        Some(Caller { account, connection, key_allows, catalogue: catalogue.clone() })
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

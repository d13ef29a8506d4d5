//! Authenticates API requests by key and secret. An unknown key, a wrong secret and unreadable credentials all cost
//! the same work, so that the response time does not reveal which keys exist.

use crate::gateway::{Gateway, SignInKey};
use crate::secrets::Secret;
use hermod_domain::catalogue::{AccountView, AllowList, ApiKey, Catalogue, Connection};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::refusal::{RateLimit, Refusal};
use hermod_domain::time::Timestamp;
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

hermod_domain::named! {
    /// Why credentials are rejected, in the order of the checks, with the reason in the operator's request log: every caller
    /// gets the same INVALID_API_KEY.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SignInFault {
        NoCredentials = "no credentials, or none that can be read",
        UnknownKey = "unknown API key",
        KeyRevoked = "the API key is revoked",
        KeyExpired = "the API key has expired",
        AccountClosed = "the account is closed",
        ConnectionClosed = "the connection is closed",
        WrongSecret = "wrong secret",
    }
}

/// Returns why credentials that [`authenticate`] rejected with INVALID_API_KEY are invalid, and whose the key is, if it exists. Only
/// for the log: it is apart from [`authenticate`], whose duration must not reveal it. The state of a key and its account comes before
/// its secret, because no secret helps then.
pub fn explain_rejection(
    catalogue: &Catalogue,
    given: Option<&Credentials>,
    now: Timestamp,
) -> (SignInFault, Option<(AccountId, ConnectionId)>) {
    let Some(given) = given else { return (SignInFault::NoCredentials, None) };
    let Some(key) = catalogue.key(&given.key) else { return (SignInFault::UnknownKey, None) };
    let owner = catalogue.connection(key.connection).map(|connection| (connection.account, key.connection));
    let fault = if key.revoked {
        SignInFault::KeyRevoked
    } else if !key.is_valid_at(now) {
        SignInFault::KeyExpired
    } else {
        // The rest is in order, so it is the secret.
        check_open(catalogue, key.connection).err().unwrap_or(SignInFault::WrongSecret)
    };
    (fault, owner)
}

/// Returns the account of a connection that may be used, or why it may not. A suspended account may still read.
fn check_open(catalogue: &Catalogue, connection: ConnectionId) -> Result<AccountId, SignInFault> {
    let found = catalogue.connection(connection).ok_or(SignInFault::ConnectionClosed)?;
    let account = catalogue.account(found.account).ok_or(SignInFault::AccountClosed)?;
    if account.account.closed {
        return Err(SignInFault::AccountClosed);
    }
    if found.closed {
        return Err(SignInFault::ConnectionClosed);
    }
    Ok(found.account)
}

/// The digest that an unknown key is compared with, so that it takes as long as a known one.
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Authenticates a request from an address. `given` is `None` where the request has no readable credentials.
///
/// Fails with INVALID_API_KEY for every fault of the credentials, or with RATE_LIMITED once there were too many failed sign-ins
/// from the address. An address that has signed in with these credentials before is never rejected with them; from any other
/// address even valid credentials are rejected while there are too many failures.
pub fn authenticate(
    gateway: &Gateway,
    given: Option<&Credentials>,
    source: Option<IpAddr>,
) -> Result<Caller, Refusal> {
    let (name, secret) = given.map_or(("", ""), |given| (&given.key, given.secret.reveal()));
    let key = SignInKey::Api(name);
    let catalogue = gateway.catalogue();
    let known = given.and_then(|given| catalogue.key(&given.key));
    let now = gateway.clock.now();
    let digest = matching_digest(gateway, known, secret, now);
    let proven = known.filter(|key| digest.is_some() && key.is_valid_at(now));
    let caller = proven.and_then(|key| Caller::open(&catalogue, key.connection, key.allow.clone()));
    let limited = match (&caller, source) {
        (_, None) => Ok(()),
        (Some(_), Some(source)) => gateway.pass_sign_in(source, key, digest.unwrap_or(NO_DIGEST)),
        (None, Some(source)) => gateway.fail_sign_in(source, key),
    };
    limited.map_err(too_many_failures)?;
    let caller = caller.ok_or(Refusal::InvalidApiKey)?;
    gateway.key_uses.note(name, now, source);
    Ok(caller)
}

/// Returns the digest of the key that a secret has: the current one, or during a rotation the one before it. Compares two
/// digests in any case.
fn matching_digest<'a>(
    gateway: &Gateway,
    known: Option<&'a ApiKey>,
    secret: &str,
    now: Timestamp,
) -> Option<&'a str> {
    let mut digests = known.into_iter().flat_map(|key| key.digests_at(now));
    let candidates = [digests.next(), digests.next()];
    let matches = gateway.pepper.matches_each(secret, candidates.map(|digest| digest.unwrap_or(NO_DIGEST)));
    candidates.into_iter().zip(matches).find_map(|(digest, matches)| digest.filter(|_| matches))
}

fn too_many_failures(wait: Duration) -> Refusal {
    let retry_after_s = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
    Refusal::RateLimited { limit: RateLimit::FailedSignIns, retry_after_s }
}

/// Checks the peer address against the allow-lists of the key and of the connection. An unknown address passes only if
/// both lists are empty.
pub fn admit(caller: &Caller, peer: Option<IpAddr>) -> Result<(), Refusal> {
    let lists = [&caller.key_allows, &caller.connection().allow];
    match rejecting_list(lists, peer) {
        None => Ok(()),
        Some(_) => Err(Refusal::IpNotAllowed(peer.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)))),
    }
}

/// Returns the position of the first allow-list that rejects an address; `None` if all lists admit it. An unknown address
/// is rejected by every list that is not empty.
pub fn rejecting_list<const N: usize>(lists: [&AllowList; N], peer: Option<IpAddr>) -> Option<usize> {
    lists.iter().position(|list| match peer {
        Some(peer) => !list.admits(peer),
        None => !list.is_empty(),
    })
}

impl Caller {
    /// Returns the caller of a bound SMPP connection. `None` if the connection or its account is closed.
    pub fn bound(catalogue: Arc<Catalogue>, connection: ConnectionId) -> Option<Caller> {
        catalogue.connection(connection)?.smpp.as_ref()?;
        Caller::open(&catalogue, connection, AllowList::default())
    }

    /// Returns the caller of a message that a signed-in user of the account sends on a web page. Allow-lists are for
    /// programs and do not apply. `None` if the connection is of another account, or it or the account is closed.
    pub fn on_page(
        catalogue: &Arc<Catalogue>,
        account: AccountId,
        connection: ConnectionId,
    ) -> Option<Caller> {
        let caller = Caller::open(catalogue, connection, AllowList::default())?;
        (caller.account == account).then_some(caller)
    }

    /// Returns the caller of an API key without its secret, for messages that the gateway makes itself. `None` if there is no
    /// such key, or its connection or account is closed.
    pub fn with_key(catalogue: &Arc<Catalogue>, key: &str) -> Option<Caller> {
        let key = catalogue.key(key)?;
        Caller::open(catalogue, key.connection, key.allow.clone())
    }

    /// `None` if the connection or its account is closed.
    fn open(catalogue: &Arc<Catalogue>, connection: ConnectionId, key_allows: AllowList) -> Option<Caller> {
        let account = check_open(catalogue, connection).ok()?;
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

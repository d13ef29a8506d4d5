//! Accepts or rejects a bind: the checks in order, each with the status that makes ESME software react correctly. Some
//! software gives up for good after 0x0E, 0x0F and 0x53, so these are for wrong credentials and fields only. 0x08 means that
//! the check itself failed. Every other reason is 0x0D: the gateway stops, too many sessions, binds, attempts or password
//! checks, account or connection closed, account suspended, address not on the allow-list, TLS required, bind type not
//! allowed.

use super::bind_guard::{GuardedBind, Listing, OverLimit, PasswordCheck};
use super::listener::Peer;
use super::settings::SmppSettings;
use crate::app::{AnsweredRequest, CallerName, Rejection, note_request};
use crate::clock::Moment;
use crate::gateway::{Gateway, WrongBind};
use crate::listeners::limit_key_of;
use crate::live_status::{LiveBind, NewBind, Order};
use crate::node_messages::probe_bind_elsewhere;
use hermod_domain::catalogue::{Connection, SMPP_PASSWORD_CHARS, SYSTEM_ID_CHARS_MAX, SmppAccess};
use hermod_domain::ids::ConnectionId;
use hermod_smpp::{Bind, BindType, CommandStatus};
use hermod_store::record::{Replay, RequestKind};
use hermod_store::{BindClaim, StoreError};
use metrics::counter;
use std::time::Duration;

/// The response to a bind over the attempt limit is delayed by at least and at most this.
const OVER_LIMIT_DELAY_MIN: Duration = Duration::from_secs(1);
const OVER_LIMIT_DELAY_MAX: Duration = Duration::from_secs(5);
/// How long to wait for an older bind from the same address to answer enquire_link: the five seconds of its timeout,
/// and some for closing.
const PROBE_WAIT: Duration = Duration::from_millis(5_500);
/// Pause between two looks whether a bind on another node has ended.
const LOOK_ELSEWHERE: Duration = Duration::from_secs(1);
/// How long the database may take to count a bind.
const CLAIM_WAIT: Duration = Duration::from_secs(5);
const TOO_MANY_BINDS: &str = "maximum number of binds reached";

/// An accepted bind.
pub(super) struct AcceptedBind {
    pub(super) connection: ConnectionId,
    /// The SMPP settings at the time of the bind.
    pub(super) access: SmppAccess,
    /// The stored hash of the password that the bind gave.
    pub(super) password_hash: String,
    /// Its slot among the binds of the connection.
    pub(super) bind: LiveBind,
}

/// A rejected bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BindRejection {
    pub(super) status: CommandStatus,
    /// How long to delay the response.
    pub(super) delay: Duration,
    /// The reason, for log and metrics; the customer gets the status only.
    pub(super) why: &'static str,
}

impl BindRejection {
    const fn with_status(status: CommandStatus, why: &'static str) -> BindRejection {
        BindRejection { status, delay: Duration::ZERO, why }
    }

    /// A rejection with ESME_RBINDFAIL (0x0D), the status after which ESME software tries again.
    const fn bind_failed(why: &'static str) -> BindRejection {
        BindRejection::with_status(CommandStatus::BINDFAIL, why)
    }
}

/// Runs all checks, and takes a bind slot if they pass. The caller must not read from the socket meanwhile.
pub(super) async fn check(
    gateway: &Gateway,
    settings: &SmppSettings,
    peer: Peer,
    kind: BindType,
    bind: &Bind<'_>,
) -> Result<AcceptedBind, BindRejection> {
    let began = gateway.clock.moment();
    let checked = admit(gateway, settings, peer, kind, bind).await;
    let system_id = String::from_utf8_lossy(bind.system_id);
    let (connection, who) = named(gateway, &system_id);
    note(gateway, peer, kind, (connection, who.clone()), &checked, began);
    let outcome = checked.as_ref().map_or_else(|refused| refused.why, |_| "bound");
    counter!("hermod_smpp_bind_attempts_total", "outcome" => outcome).increment(1);
    if let Err(BindRejection { status, why, .. }) = &checked {
        let rejected = (limit_key_of(peer.address), *why, connection);
        if settings.rejected_bind_log.note(rejected, gateway.clock.now()) {
            tracing::info!(system_id = who.as_str(), peer = %peer.address, %status, "Bind rejected: {why}");
        }
    }
    checked
}

/// Returns the connection with this system_id, and the name for logs.
fn named<'a>(gateway: &Gateway, system_id: &'a str) -> (Option<ConnectionId>, CallerName<'a>) {
    let connection = gateway.catalogue().connection_by_system_id(system_id);
    (connection, CallerName::given(&gateway.pepper, system_id, connection.is_some()))
}

/// Notes a bind for the request log.
fn note(
    gateway: &Gateway,
    peer: Peer,
    kind: BindType,
    (connection, who): (Option<ConnectionId>, CallerName<'_>),
    checked: &Result<AcceptedBind, BindRejection>,
    began: Moment,
) {
    let catalogue = gateway.catalogue();
    let account = connection.and_then(|id| catalogue.connection(id)).map(|connection| connection.account);
    let (status, rejection) = match checked {
        Ok(_) => (CommandStatus::OK, None),
        Err(BindRejection { status, why, .. }) => {
            let code = status.name().unwrap_or("ESME_RBINDFAIL").into();
            (*status, Some(Rejection { code, reason: (*why).into() }))
        }
    };
    let answered = AnsweredRequest {
        kind: RequestKind::Bind,
        operation: &kind.request(),
        caller: account.zip(connection),
        who,
        address: Some(peer.address),
        status: status.0,
        rejection,
        took_ms: gateway.clock.moment().0.saturating_sub(began.0),
        request: None,
        replay: Replay::No,
        message: None,
        recipient: None,
    };
    note_request(gateway, answered);
}

/// Runs the checks in order: state of the gateway, fields, attempt limits, password, connection, bind slot.
async fn admit(
    gateway: &Gateway,
    settings: &SmppSettings,
    peer: Peer,
    kind: BindType,
    bind: &Bind<'_>,
) -> Result<AcceptedBind, BindRejection> {
    if gateway.is_draining() {
        return Err(BindRejection::bind_failed("stopping"));
    }
    if gateway.is_closed_by_hold() {
        return Err(BindRejection::bind_failed("held"));
    }
    if settings.is_overrun() {
        return Err(BindRejection::bind_failed("too many sessions"));
    }
    for wrong in gateway.take_wrong_binds() {
        settings.guard.charge(wrong, gateway.clock.now());
    }
    if let Err(refused) = check_fields(bind) {
        // Malformed binds count against the attempt limit of the address too.
        settings.guard.admit_address(peer.address, gateway.clock.now()).map_err(over_limit)?;
        gateway.note_wrong_bind(WrongBind { source: limit_key_of(peer.address), name: None });
        return Err(refused);
    }
    let catalogue = gateway.catalogue();
    let known = std::str::from_utf8(bind.system_id).ok().and_then(|system_id| {
        let connection = catalogue.connection_by_system_id(system_id)?;
        let document = catalogue.connection(connection)?;
        Some((connection, document, document.smpp.as_ref()?))
    });
    let now = gateway.clock.now();
    let hashes: Vec<&str> =
        known.into_iter().flat_map(|(_, _, access)| access.password_hashes_at(now)).collect();
    let attempt = GuardedBind {
        system_id: bind.system_id,
        password: &bind.password,
        hashes: &hashes,
        from: peer.address,
        listing: known.map_or(Listing::NoList, |(_, document, _)| listing(document, peer)),
    };
    let password_hash = check_password(gateway, settings, &attempt).await?.to_owned();
    let (connection, document, access) =
        known.ok_or(BindRejection::with_status(CommandStatus::INVPASWD, "wrong credentials"))?;
    let account = catalogue.account(document.account).map(|view| &view.account);
    let is_open = account.is_some_and(|account| !account.closed);
    check_connection(document, access, is_open, peer, kind, Some(bind.system_type))?;
    if account.is_some_and(|account| account.suspended.is_some()) {
        return Err(BindRejection::bind_failed("account suspended"));
    }
    let new = NewBind {
        connection,
        account: document.account,
        system_id: access.system_id.as_str().into(),
        kind,
        is_3_4: bind.is_3_4(),
        peer: peer.address,
        tls: peer.tls,
        window: u32::from(access.window),
        address_range: String::from_utf8_lossy(bind.address_range).into_owned(),
        now: gateway.clock.now(),
    };
    let place = take_bind_slot(gateway, new, access.max_binds).await?;
    Ok(AcceptedBind { connection, access: access.clone(), password_hash, bind: place })
}

fn listing(connection: &Connection, peer: Peer) -> Listing {
    match &connection.allow {
        list if list.is_empty() => Listing::NoList,
        list if list.admits(peer.address) => Listing::Listed,
        _ => Listing::NotListed,
    }
}

fn check_fields(bind: &Bind<'_>) -> Result<(), BindRejection> {
    if !(1..=SYSTEM_ID_CHARS_MAX).contains(&bind.system_id.len()) {
        return Err(BindRejection::with_status(CommandStatus::INVSYSID, "invalid length of system_id"));
    }
    if bind.password.len() > SMPP_PASSWORD_CHARS {
        return Err(BindRejection::with_status(CommandStatus::INVPASWD, "password too long"));
    }
    Ok(())
}

/// Waits for other binds with the same credentials, takes an attempt from the limits, then checks the password. Gives the attempt back unless the password is wrong. Returns
/// the stored hash of the password.
async fn check_password<'a>(
    gateway: &Gateway,
    settings: &SmppSettings,
    attempt: &GuardedBind<'a>,
) -> Result<&'a str, BindRejection> {
    let wrong = BindRejection::with_status(CommandStatus::INVPASWD, "wrong credentials");
    let guard = &settings.guard;
    let _turn = guard.turn(attempt).await;
    let taken = guard.admit(attempt, gateway.clock.now()).map_err(over_limit)?;
    let check = guard.check_password(gateway, attempt).await;
    if check == PasswordCheck::Wrong {
        gateway.note_wrong_bind(guard.wrong_bind(attempt, taken));
    } else {
        guard.give_back(attempt, taken);
    }
    match check {
        PasswordCheck::Right(position) => attempt.hashes.get(position).copied().ok_or(wrong),
        PasswordCheck::Wrong => Err(wrong),
        PasswordCheck::Busy => Err(BindRejection::bind_failed("too many password checks in progress")),
        PasswordCheck::Broken => {
            Err(BindRejection::with_status(CommandStatus::SYSERR, "the password could not be checked"))
        }
    }
}

/// Rejects a bind over the attempt limit. The response is delayed by the wait for the next attempt, within bounds.
fn over_limit(OverLimit { why, wait }: OverLimit) -> BindRejection {
    let delay = wait.clamp(OVER_LIMIT_DELAY_MIN, OVER_LIMIT_DELAY_MAX);
    BindRejection { delay, ..BindRejection::bind_failed(why) }
}

/// Returns why the current catalogue would reject a live bind; `None` if it would accept it. The password is not
/// checked again, so that it can be changed without interruption. If max_binds was lowered, the newest binds are
/// rejected; with several nodes those with the highest slots, which are not always the newest. Binds of a suspended account
/// stay, so that its receipts and MO messages arrive.
pub(super) fn rejection_of_live_bind(gateway: &Gateway, bind: &LiveBind, peer: Peer) -> Option<&'static str> {
    let catalogue = gateway.catalogue();
    let Some(connection) = catalogue.connection(bind.began.connection) else { return Some("closed") };
    let Some(access) = &connection.smpp else { return Some("closed") };
    let is_open = catalogue.account(connection.account).is_some_and(|view| !view.account.closed);
    if let Err(BindRejection { why, .. }) =
        check_connection(connection, access, is_open, peer, bind.began.kind, None)
    {
        return Some(why);
    }
    if *access.system_id != *bind.began.system_id {
        return Some("system_id changed");
    }
    let binds = gateway.binds.of_connection(bind.began.connection);
    let here = || binds.iter().position(|other| other.number == bind.number);
    let place = bind.slot().map_or_else(here, |slot| usize::try_from(slot).ok()).unwrap_or_default();
    let max_binds = usize::try_from(access.max_binds).expect("32 bits fit");
    (place >= max_binds).then_some(TOO_MANY_BINDS)
}

/// Whether the password that a bind was accepted with is still valid.
pub(super) fn has_valid_password(gateway: &Gateway, admitted: &AcceptedBind) -> bool {
    let catalogue = gateway.catalogue();
    let access = catalogue.connection(admitted.connection).and_then(|connection| connection.smpp.as_ref());
    let now = gateway.clock.now();
    access.is_some_and(|access| access.password_hashes_at(now).any(|hash| hash == admitted.password_hash))
}

/// Checks an authenticated bind against its connection, in this order. `system_type` is `None` for a live bind.
fn check_connection(
    connection: &Connection,
    access: &SmppAccess,
    account_is_open: bool,
    peer: Peer,
    kind: BindType,
    system_type: Option<&[u8]>,
) -> Result<(), BindRejection> {
    if connection.closed || !account_is_open {
        return Err(BindRejection::bind_failed("closed"));
    }
    if !connection.allow.admits(peer.address) {
        return Err(BindRejection::bind_failed("address not allowed"));
    }
    if access.tls_only && !peer.tls {
        return Err(BindRejection::bind_failed("TLS required"));
    }
    // Without a configured system_type any value is accepted.
    let wanted = access.system_type.as_ref().zip(system_type);
    if wanted.is_some_and(|(wanted, given)| wanted.as_bytes() != given) {
        return Err(BindRejection::with_status(CommandStatus::INVSYSTYP, "wrong system_type"));
    }
    let types = access.bind_types;
    let is_allowed = match kind {
        BindType::Transmitter => types.transmitter,
        BindType::Receiver => types.receiver,
        BindType::Transceiver => types.transceiver,
    };
    if is_allowed { Ok(()) } else { Err(BindRejection::bind_failed("bind type not allowed")) }
}

/// Takes a bind slot. If all are taken, probes the oldest bind from the same address, which may be a dead one of a
/// customer that reconnects, perhaps to another node.
async fn take_bind_slot(gateway: &Gateway, new: NewBind, max_binds: u32) -> Result<LiveBind, BindRejection> {
    let full = || BindRejection::bind_failed(TOO_MANY_BINDS);
    let (connection, peer) = (new.connection, new.peer);
    if let Some(place) = enter(gateway, new.clone(), max_binds).await? {
        return Ok(place);
    }
    let mut older = gateway.binds.oldest_from(connection, peer);
    let has_others = gateway.store.cluster().has_other_nodes();
    if older.is_none() && !has_others {
        return Err(full());
    }
    older.iter().for_each(|older| older.order(Order::Probe));
    if has_others {
        probe_bind_elsewhere(gateway, connection, peer);
    }
    let late = gateway.clock.sleep(PROBE_WAIT);
    tokio::pin!(late);
    loop {
        let gone = async {
            match &older {
                Some(older) => older.gone().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = gone => older = None,
            () = gateway.clock.sleep(LOOK_ELSEWHERE), if has_others => {}
            () = &mut late => return enter(gateway, new, max_binds).await?.ok_or_else(full),
        }
        if let Some(place) = enter(gateway, new.clone(), max_binds).await? {
            return Ok(place);
        }
    }
}

/// Takes a bind slot on this node and, if there may be several, one that counts on all. Returns none if all are taken.
async fn enter(gateway: &Gateway, new: NewBind, max_binds: u32) -> Result<Option<LiveBind>, BindRejection> {
    if gateway.binds.is_full(new.connection, max_binds) {
        return Ok(None);
    }
    let claimed = tokio::select! {
        claimed = gateway.store.cluster().claim_bind(new.connection, max_binds) => claimed,
        () = gateway.clock.sleep(CLAIM_WAIT) => Err(StoreError::QueueTimeout),
    };
    let slot = match claimed {
        Ok(BindClaim::Alone) => None,
        Ok(BindClaim::Taken(slot)) => Some(slot),
        Ok(BindClaim::Full) => return Ok(None),
        Err(error) => {
            tracing::warn!(%error, "A bind could not be counted on all nodes");
            return Err(BindRejection::with_status(CommandStatus::SYSERR, "the database does not answer"));
        }
    };
    let Ok(place) = gateway.binds.enter(new, max_binds) else { return Ok(None) };
    if let Some(slot) = slot {
        place.keep(slot);
    }
    Ok(Some(place))
}

#[cfg(test)]
#[path = "bind_tests.rs"]
pub(super) mod tests;

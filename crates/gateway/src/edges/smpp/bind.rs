//! Whether a bind is let in: the checks in their order, each with the code that makes the customer's software do the right
//! thing. 0x0E, 0x0F and 0x53 make some of it give up for good, so they are for what is really wrong; whatever may be
//! better in a minute is 0x0D.

use super::bind_guard::{Attempt, Listing, OverBudget, Proof};
use super::listener::Peer;
use super::settings::Settings;
use crate::arrivals::site_of;
use crate::board::{BoundAs, Full, LiveBind, NewBind, Order};
use crate::world::World;
use hermod_domain::catalogue::{Connection, SMPP_PASSWORD_CHARS, SYSTEM_ID_CHARS_MAX, SmppAccess};
use hermod_domain::ids::ConnectionId;
use hermod_smpp::{Bind, BindType, CommandStatus};
use metrics::counter;
use std::time::Duration;

/// Whoever is over budget waits at least and at most this long for its answer.
const OVER_BUDGET_DELAY_MIN: Duration = Duration::from_secs(1);
const OVER_BUDGET_DELAY_MAX: Duration = Duration::from_secs(5);
/// How long an older bind from the same address has to show that it is alive: the five seconds of its probe, and some for
/// its goodbyes.
const TWIN_WAIT: Duration = Duration::from_millis(5_500);
const TOO_MANY_BINDS: &str = "as many binds as there may be";

/// A bind that is let in.
pub(super) struct Admitted {
    pub(super) connection: ConnectionId,
    /// As it was when the customer bound.
    pub(super) access: SmppAccess,
    /// Its place among the binds of the connection.
    pub(super) bind: LiveBind,
}

/// A bind that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: CommandStatus,
    /// How long to wait with the answer.
    pub(super) delay: Duration,
    /// For the log and for metrics: the customer gets the status only.
    pub(super) why: &'static str,
}

impl Refused {
    const fn now(status: CommandStatus, why: &'static str) -> Refused {
        Refused { status, delay: Duration::ZERO, why }
    }

    const fn later(why: &'static str) -> Refused {
        Refused::now(CommandStatus::BINDFAIL, why)
    }
}

/// All of it; takes the place of the bind if it is let in. Nothing further should be read from the caller meanwhile.
pub(super) async fn check(
    world: &World,
    settings: &Settings,
    peer: Peer,
    kind: BindType,
    bind: &Bind<'_>,
) -> Result<Admitted, Refused> {
    let checked = admit(world, settings, peer, kind, bind).await;
    let outcome = checked.as_ref().map_or_else(|refused| refused.why, |_| "bound");
    counter!("hermod_smpp_bind_attempts_total", "outcome" => outcome).increment(1);
    if let Err(Refused { status, why, .. }) = &checked
        && settings.refusals.note((site_of(peer.address), *why), world.clock.now())
    {
        let system_id = String::from_utf8_lossy(bind.system_id);
        tracing::info!(%system_id, peer = %peer.address, %status, "Refused a bind: {why}");
    }
    checked
}

async fn admit(
    world: &World,
    settings: &Settings,
    peer: Peer,
    kind: BindType,
    bind: &Bind<'_>,
) -> Result<Admitted, Refused> {
    if world.is_draining() {
        return Err(Refused::later("stopping"));
    }
    if settings.is_overrun() {
        return Err(Refused::later("too many sessions"));
    }
    if let Err(refused) = check_shape(bind) {
        // Whoever sends these by the thousand is slowed down like any other guesser.
        settings.guard.admit_address(peer.address, world.clock.now()).map_err(over_budget)?;
        return Err(refused);
    }
    let catalogue = world.catalogue();
    let known = std::str::from_utf8(bind.system_id).ok().and_then(|system_id| {
        let connection = catalogue.bound_as(system_id)?;
        let document = catalogue.connection(connection)?;
        Some((connection, document, document.smpp.as_ref()?))
    });
    let attempt = Attempt {
        system_id: bind.system_id,
        password: &bind.password,
        hash: known.map(|(_, _, access)| access.password_hash.as_str()),
        from: peer.address,
        listing: known.map_or(Listing::NoList, |(_, document, _)| listing(document, peer)),
    };
    prove(world, settings, &attempt).await?;
    let (connection, document, access) =
        known.ok_or(Refused::now(CommandStatus::INVPASWD, "wrong credentials"))?;
    let kind = bound_as(kind);
    let is_open = catalogue.account(document.account).is_some_and(|view| !view.account.closed);
    judge(document, access, is_open, peer, kind, Some(bind.system_type))?;
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
        now: world.clock.now(),
    };
    let place = find_place(world, new, access.max_binds).await?;
    Ok(Admitted { connection, access: access.clone(), bind: place })
}

fn listing(connection: &Connection, peer: Peer) -> Listing {
    match &connection.allow {
        list if list.is_empty() => Listing::NoList,
        list if list.admits(peer.address) => Listing::Listed,
        _ => Listing::NotListed,
    }
}

fn check_shape(bind: &Bind<'_>) -> Result<(), Refused> {
    if !(1..=SYSTEM_ID_CHARS_MAX).contains(&bind.system_id.len()) {
        return Err(Refused::now(CommandStatus::INVSYSID, "no such system_id is possible"));
    }
    if bind.password.len() > SMPP_PASSWORD_CHARS {
        return Err(Refused::now(CommandStatus::INVPASWD, "no such password is possible"));
    }
    Ok(())
}

/// The budgets, and only then the password. What was no fault of the caller's is given back.
async fn prove(world: &World, settings: &Settings, attempt: &Attempt<'_>) -> Result<(), Refused> {
    let taken = settings.guard.admit(attempt, world.clock.now()).map_err(over_budget)?;
    let proof = settings.guard.prove(world, attempt).await;
    if proof != Proof::Wrong {
        settings.guard.give_back(attempt, taken);
    }
    match proof {
        Proof::Right => Ok(()),
        Proof::Wrong => Err(Refused::now(CommandStatus::INVPASWD, "wrong credentials")),
        Proof::Busy => Err(Refused::later("too many passwords to check")),
        Proof::Broken => Err(Refused::now(CommandStatus::SYSERR, "the password could not be checked")),
    }
}

/// The longer it lasts, the longer the answer takes.
fn over_budget(OverBudget { why, wait }: OverBudget) -> Refused {
    let delay = wait.clamp(OVER_BUDGET_DELAY_MIN, OVER_BUDGET_DELAY_MAX);
    Refused { delay, ..Refused::later(why) }
}

/// Why a live bind would not be admitted again by what holds now; `None` if it would. A password is asked for when a
/// customer binds and not again, so that one can be changed without a gap. Where there may be fewer binds than there are,
/// the newest go.
pub(super) fn no_longer_admitted(world: &World, bind: &LiveBind, peer: Peer) -> Option<&'static str> {
    let catalogue = world.catalogue();
    let Some(connection) = catalogue.connection(bind.connection()) else { return Some("closed") };
    let Some(access) = &connection.smpp else { return Some("closed") };
    let is_open = catalogue.account(connection.account).is_some_and(|view| !view.account.closed);
    if let Err(Refused { why, .. }) = judge(connection, access, is_open, peer, bind.kind(), None) {
        return Some(why);
    }
    if *access.system_id != **bind.system_id() {
        return Some("its system_id was changed");
    }
    let binds = world.binds.of_connection(bind.connection());
    let place = binds.iter().position(|other| other.number() == bind.number()).unwrap_or_default();
    let max_binds = usize::try_from(access.max_binds).expect("32 bits fit");
    (place >= max_binds).then_some(TOO_MANY_BINDS)
}

/// Whether the password that a bind was admitted with is the one that holds now: it may have been changed meanwhile.
pub(super) fn has_current_password(world: &World, admitted: &Admitted) -> bool {
    let catalogue = world.catalogue();
    let access = catalogue.connection(admitted.connection).and_then(|connection| connection.smpp.as_ref());
    access.is_some_and(|access| access.password_hash == admitted.access.password_hash)
}

/// What holds for whoever has proven who it is. In this order. `system_type` is asked for when a customer binds only.
fn judge(
    connection: &Connection,
    access: &SmppAccess,
    account_is_open: bool,
    peer: Peer,
    kind: BoundAs,
    system_type: Option<&[u8]>,
) -> Result<(), Refused> {
    if connection.closed || !account_is_open {
        return Err(Refused::later("closed"));
    }
    if !connection.allow.admits(peer.address) {
        return Err(Refused::later("address not allowed"));
    }
    if access.tls_only && !peer.tls {
        return Err(Refused::later("not over TLS"));
    }
    // Nobody's software should give up over a value that nobody asked for.
    let wanted = access.system_type.as_ref().zip(system_type);
    if wanted.is_some_and(|(wanted, given)| wanted.as_bytes() != given) {
        return Err(Refused::now(CommandStatus::INVSYSTYP, "another system_type is wanted"));
    }
    let types = access.bind_types;
    let is_allowed = match kind {
        BoundAs::Transmitter => types.transmitter,
        BoundAs::Receiver => types.receiver,
        BoundAs::Transceiver => types.transceiver,
    };
    if is_allowed { Ok(()) } else { Err(Refused::later("bind type not allowed")) }
}

/// A customer who comes back after its line dropped finds its old bind still there: that one has to show that it is alive.
async fn find_place(world: &World, new: NewBind, max_binds: u32) -> Result<LiveBind, Refused> {
    let full = |Full| Refused::later(TOO_MANY_BINDS);
    let (connection, peer) = (new.connection, new.peer);
    if let Ok(place) = world.binds.enter(new.clone(), max_binds) {
        return Ok(place);
    }
    let twin = world.binds.oldest_from(connection, peer).ok_or_else(|| full(Full))?;
    twin.order(Order::Probe);
    tokio::select! {
        () = twin.gone() => {}
        () = world.clock.sleep(TWIN_WAIT) => {}
    }
    world.binds.enter(new, max_binds).map_err(full)
}

fn bound_as(kind: BindType) -> BoundAs {
    match kind {
        BindType::Transmitter => BoundAs::Transmitter,
        BindType::Receiver => BoundAs::Receiver,
        BindType::Transceiver => BoundAs::Transceiver,
    }
}

#[cfg(test)]
#[path = "bind_tests.rs"]
mod tests;

//! How carriers are doing: their links, what waits for them, what somebody should look into, and their PDUs while somebody
//! watches.

use crate::app::operator::refusal::OperatorRefusal;
use crate::board::{Alarm, AlarmKind, CarrierShown, NoProbe, Probe, ProbeReport, Recent, TraceLine};
use crate::world::World;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_store::CarrierQueue;
use std::time::Duration;

/// A carrier with its links and with what waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarrierSeen {
    pub shown: CarrierShown,
    pub queue: CarrierQueue,
}

/// Every carrier of the catalogue, by name.
pub async fn carriers_seen(world: &World) -> Result<Vec<CarrierSeen>, OperatorRefusal> {
    let queues = world.store.queues().await?;
    let mut shown = world.carriers.list(world.clock.moment());
    let catalogue = world.catalogue();
    let seen = catalogue.carriers().iter().map(|(id, name, carrier)| {
        let place = shown.iter().position(|shown| shown.id == *id);
        let mut shown = place.map_or_else(|| unseen(*id), |place| shown.swap_remove(place));
        // The board learns of a change a moment later than everybody else.
        name.clone_into(&mut shown.name);
        if carrier.disabled {
            shown.health = Health::Disabled;
        }
        let queue = queues.iter().find(|queue| queue.carrier == *id).copied();
        CarrierSeen { shown, queue: queue.unwrap_or(empty(*id)) }
    });
    let mut seen: Vec<CarrierSeen> = seen.collect();
    seen.sort_by(|one, other| one.shown.name.cmp(&other.shown.name));
    Ok(seen)
}

fn unseen(id: CarrierId) -> CarrierShown {
    CarrierShown {
        id,
        name: String::new(),
        health: Health::Down,
        stopped_for: None,
        links: Vec::new(),
        recent: Recent::default(),
        tracing_until: None,
    }
}

fn empty(carrier: CarrierId) -> CarrierQueue {
    CarrierQueue { carrier, waiting: 0, in_flight: 0, deferred: 0, oldest: None }
}

pub(super) fn find_carrier(world: &World, name: &str) -> Result<CarrierId, OperatorRefusal> {
    let catalogue = world.catalogue();
    let found = catalogue.carriers().iter().find(|(_, known, _)| known == name).map(|(id, ..)| *id);
    found.ok_or_else(|| OperatorRefusal::no_such("carrier", name))
}

/// Lets a carrier that was stopped send again, and says whether it had been.
pub fn resume_carrier(world: &World, name: &str) -> Result<bool, OperatorRefusal> {
    let id = find_carrier(world, name)?;
    let resumed = world.carriers.resume(id, world.clock.moment());
    if resumed {
        world.alarms.clear(AlarmKind::CarrierStopped, name);
        tracing::info!(carrier.name = name, "Resumed by the operator");
    }
    Ok(resumed)
}

/// Those of one carrier, or all.
pub fn alarms(world: &World, carrier: Option<&str>) -> Vec<Alarm> {
    let all = world.alarms.list().into_iter();
    all.filter(|alarm| carrier.is_none_or(|carrier| alarm.carrier == carrier)).collect()
}

/// What is still wrong raises its alarm again.
pub fn acknowledge_alarms(world: &World, carrier: Option<&str>) -> usize {
    let acknowledged = world.alarms.acknowledge(carrier);
    tracing::info!(carrier.name = carrier, acknowledged, "Alarms acknowledged by the operator");
    acknowledged
}

/// What to do about an alarm, for whoever reads it at night.
pub const fn what_to_do(kind: AlarmKind) -> &'static str {
    match kind {
        AlarmKind::BindRefused => {
            "Check system_id, password and system_type with the carrier: it may lock the account. Then hermod carrier set."
        }
        AlarmKind::AlreadyBound => {
            "The carrier holds an old session or allows fewer binds: wait, look for a second gateway, or lower links."
        }
        AlarmKind::CarrierDown => {
            "hermod links shows the last error of each link. Check address, network and firewall."
        }
        AlarmKind::QueueAge => {
            "hermod links shows why its links do not keep up: down, throttled or too slow. Add a second carrier to the route."
        }
        AlarmKind::CarrierStopped => {
            "Look at what it refused (hermod carrier trace), mend the profile, then hermod carrier resume."
        }
        AlarmKind::ProtocolError => {
            "The carrier does not understand what we send: compare its specification with long_messages, tlvs and source."
        }
        AlarmKind::UnknownStatus => "Ask the carrier what the code means and say so in its retry list.",
        AlarmKind::UnknownWord => {
            "Ask the carrier what the word means; until then such receipts change nothing."
        }
        AlarmKind::UnmatchedReceipts => {
            "Hold the ids against each other (hermod carrier receipts) and set ids to hex-to-decimal or decimal-to-hex."
        }
        AlarmKind::AmbiguousReceipt => {
            "The carrier uses an id for several parts: ask it to make them unique."
        }
        AlarmKind::MissingMessageId => {
            "Ask the carrier for a message_id of 1 to 64 octets in submit_sm_resp: without it most receipts match nothing."
        }
        AlarmKind::UnconfirmedParts => {
            "The carrier took parts without answering, more often than they are resent: ask it for its record of them."
        }
        AlarmKind::BadSettings => "Mend the carrier's entry: the detail says which setting.",
        AlarmKind::StoreLogLarge => {
            "Find the program that reads hermod.db (fuser -v hermod.db in the data folder) and end it: the log shrinks within seconds."
        }
        AlarmKind::RowsSetAside => {
            "hermod set-aside list names the messages, which are not sent. Look for the damage (hermod audit, the disk), then repair the rows."
        }
        AlarmKind::ClockJumped => {
            "Let a time server keep the machine's clock. If it is right now, restart Hermod to take it over at once."
        }
        AlarmKind::ClockBehind => {
            "Set the machine's clock and restart Hermod: what is dated now is older than what is stored."
        }
        AlarmKind::DiskLow => {
            "Free space or enlarge the disk of the data folder. Below low_water of [data] new messages get 503."
        }
        AlarmKind::ReviewsOpen => {
            "hermod review list, then hermod review approve ID or hermod review reject ID."
        }
        AlarmKind::WebhookFailing => {
            "Tell the customer. hermod webhook list ACCOUNT --state waiting shows what waits, hermod webhook attempts why."
        }
        AlarmKind::CertificateExpiring => {
            "Put a renewed certificate and its key in the same files: they are read again within seconds."
        }
        AlarmKind::CertificateExpired => {
            "Customers refuse it. Put a new certificate and its key in the same files: they are read again within seconds."
        }
    }
}

/// Lines for so long from now on; nothing ends it. Answers with the time it ends.
pub fn trace_carrier(
    world: &World,
    name: &str,
    lasting: Option<Duration>,
) -> Result<Option<Timestamp>, OperatorRefusal> {
    let id = find_carrier(world, name)?;
    let state = world.carriers.open(id, name);
    match lasting {
        Some(lasting) => {
            let until = world.clock.now().plus(lasting);
            state.trace.enable(until);
            tracing::info!(carrier.name = name, until = %until.to_iso(), "Traced for the operator");
            Ok(Some(until))
        }
        None => {
            state.trace.disable();
            Ok(None)
        }
    }
}

/// Sends one message over a connection of its own and tells everything that happened.
pub async fn test_carrier(world: &World, name: &str, probe: Probe) -> Result<ProbeReport, OperatorRefusal> {
    find_carrier(world, name)?;
    tracing::info!(carrier.name = name, "Tested by the operator");
    world.probes.run(name, probe).await.map_err(|none| match none {
        NoProbe::Busy => OperatorRefusal::TestRunning,
        NoProbe::Stopping => OperatorRefusal::stopping(),
    })
}

/// The lines behind one that was read before, and until when there will be more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    pub lines: Vec<TraceLine>,
    pub until: Option<Timestamp>,
}

pub fn read_trace(world: &World, name: &str, after: u64) -> Result<Traced, OperatorRefusal> {
    let id = find_carrier(world, name)?;
    let Some(state) = world.carriers.get(id) else { return Ok(Traced { lines: Vec::new(), until: None }) };
    let until = state.trace.until().filter(|until| *until > world.clock.now());
    Ok(Traced { lines: state.trace.read(after), until })
}

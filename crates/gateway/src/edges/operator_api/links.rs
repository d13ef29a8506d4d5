//! How carriers and their links are doing, the alarms, and letting a stopped carrier send again.

use super::answer::{Answer, fine};
use super::asked::{Asked, Named};
use super::desk::Desk;
use crate::app::operator::{self, CarrierSeen};
use crate::board::{Alarm, LastError, LinkShown, Stopped, Traffic};
use axum::extract::State;
use hermod_domain::carrier::ErrorClass;
use hermod_domain::time::Timestamp;
use hermod_store::CarrierQueue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[schema(as = Links)]
pub(super) struct LinksShape {
    /// The gateway's time.
    at: String,
    /// Every carrier, by name.
    items: Vec<CarrierShape>,
}

/// A carrier at this moment.
#[derive(Serialize, ToSchema)]
#[schema(as = CarrierNow)]
struct CarrierShape {
    #[schema(examples("acme"))]
    carrier: String,
    /// `up`, `poor` (it refuses or loses much), `down` (no link that sends is bound), `stopped` or `disabled`.
    health: &'static str,
    /// Since when and why nothing is sent to it, if somebody must resume it.
    stopped: Option<StoppedShape>,
    queue: QueueShape,
    last_minute: TrafficShape,
    last_ten_minutes: TrafficShape,
    /// Its PDUs are traced until then.
    tracing_until: Option<String>,
    links: Vec<LinkShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Stopped)]
struct StoppedShape {
    since: String,
    why: String,
}

/// What waits for a carrier, in parts.
#[derive(Serialize, ToSchema)]
#[schema(as = CarrierQueue)]
struct QueueShape {
    /// Not handed over yet.
    waiting: u64,
    /// Of those, how many wait for a later time.
    deferred: u64,
    /// Given to a link, and not answered.
    in_flight: u64,
    /// When the oldest that waits was accepted, where that is known.
    oldest: Option<String>,
    /// How many seconds that is ago.
    oldest_for_s: Option<u64>,
}

/// What went over links and what came back.
#[derive(Serialize, ToSchema)]
#[schema(as = LinkTraffic)]
struct TrafficShape {
    submitted: u64,
    accepted: u64,
    /// How many of each class of errors; see docs/carriers.md.
    refused: BTreeMap<&'static str, u64>,
    /// Not answered in time.
    timed_out: u64,
    receipts: u64,
    /// Receipts that matched nothing when they came.
    unmatched: u64,
    /// Messages from handsets.
    inbound: u64,
    /// Failures of the carrier's, of all answers and silences; nothing without any.
    error_ratio: Option<f64>,
    /// Receipts of accepted parts. More than 1 where they come late, twice, or on the way.
    receipt_ratio: Option<f64>,
    /// Unmatched ones of receipts.
    unmatched_ratio: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Link)]
struct LinkShape {
    /// From 1; both binds of a pair have the same.
    number: u8,
    /// `both`, `sends` or `receives`.
    direction: &'static str,
    address: String,
    tls: bool,
    /// `waiting`, `connecting`, `binding`, `bound` or `draining`.
    state: &'static str,
    since: String,
    /// How many seconds that is ago.
    for_s: u64,
    /// When it tries again, if it waits for that.
    next_attempt_at: Option<String>,
    /// In how many seconds.
    next_attempt_in_s: Option<u64>,
    bind_attempts: u64,
    window: u32,
    /// Parts sent and not answered.
    out: u32,
    /// Parts per second it may send now: less than `full_rate` after the carrier asked it to slow down.
    rate: u32,
    full_rate: u32,
    /// What it sent, on average of the last ten seconds.
    parts_per_second: f64,
    /// Since the gateway started.
    totals: TrafficShape,
    last_error: Option<LastErrorShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = LastError)]
pub(super) struct LastErrorShape {
    at: String,
    text: String,
}

impl LastErrorShape {
    pub(super) fn of(LastError { at, text }: LastError) -> LastErrorShape {
        LastErrorShape { at: at.to_iso(), text }
    }
}

impl CarrierShape {
    fn of(CarrierSeen { shown, queue }: CarrierSeen, now: Timestamp) -> CarrierShape {
        let CarrierQueue { carrier: _, waiting, in_flight, deferred, oldest } = queue;
        CarrierShape {
            carrier: shown.name,
            health: shown.health.as_str(),
            stopped: shown
                .stopped_for
                .map(|Stopped { since, why }| StoppedShape { since: since.to_iso(), why }),
            queue: QueueShape {
                waiting,
                deferred: u64::try_from(deferred).unwrap_or(u64::MAX),
                in_flight,
                oldest: oldest.map(Timestamp::to_iso),
                oldest_for_s: oldest.map(|oldest| now.since(oldest).as_secs()),
            },
            last_minute: TrafficShape::of(&shown.recent.minute),
            last_ten_minutes: TrafficShape::of(&shown.recent.ten_minutes),
            tracing_until: shown.tracing_until.map(Timestamp::to_iso),
            links: shown.links.into_iter().map(|link| LinkShape::of(link, now)).collect(),
        }
    }
}

impl TrafficShape {
    fn of(traffic: &Traffic) -> TrafficShape {
        let classes = ErrorClass::ALL.into_iter();
        let refused = classes.map(|class| (class.as_str(), traffic.refused_as(class)));
        TrafficShape {
            submitted: traffic.submitted,
            accepted: traffic.accepted,
            refused: refused.filter(|(_, count)| *count > 0).collect(),
            timed_out: traffic.timed_out,
            receipts: traffic.receipts,
            unmatched: traffic.unmatched,
            inbound: traffic.inbound,
            error_ratio: ratio(traffic.failed_per_mille()),
            receipt_ratio: ratio(traffic.receipted_per_mille()),
            unmatched_ratio: ratio(traffic.unmatched_per_mille()),
        }
    }
}

fn ratio(per_mille: Option<u64>) -> Option<f64> {
    per_mille.map(|per_mille| f64::from(u32::try_from(per_mille).unwrap_or(u32::MAX)) / 1000.0)
}

impl LinkShape {
    fn of(link: LinkShown, now: Timestamp) -> LinkShape {
        let tenths = u32::try_from(link.submitted_per_10_s).unwrap_or(u32::MAX);
        LinkShape {
            number: link.number,
            direction: link.direction.as_str(),
            address: link.address,
            tls: link.tls,
            state: link.state.as_str(),
            since: link.since.to_iso(),
            for_s: now.since(link.since).as_secs(),
            next_attempt_in_s: link.next_attempt_at.map(|next| next.since(now).as_secs()),
            next_attempt_at: link.next_attempt_at.map(Timestamp::to_iso),
            bind_attempts: link.bind_attempts,
            window: link.window,
            out: link.out,
            rate: link.rate,
            full_rate: link.full_rate,
            parts_per_second: f64::from(tenths) / 10.0,
            totals: TrafficShape::of(&link.totals),
            last_error: link.last_error.map(LastErrorShape::of),
        }
    }
}

pub(super) async fn links(State(desk): State<Arc<Desk>>) -> Answer {
    desk.must_run()?;
    let seen = operator::carriers_seen(&desk.world).await?;
    let now = desk.world.clock.now();
    let items = seen.into_iter().map(|seen| CarrierShape::of(seen, now)).collect();
    fine(&LinksShape { at: now.to_iso(), items })
}

#[derive(Serialize, ToSchema)]
#[schema(as = Resumed)]
pub(super) struct ResumedShape {
    carrier: String,
    /// It had been stopped.
    resumed: bool,
}

pub(super) async fn resume(State(desk): State<Arc<Desk>>, Named(carrier): Named<String>) -> Answer {
    desk.must_run()?;
    let resumed = operator::resume_carrier(&desk.world, &carrier)?;
    fine(&ResumedShape { carrier, resumed })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlarmsAsked {
    carrier: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Alarms)]
pub(super) struct AlarmsShape {
    items: Vec<AlarmShape>,
}

/// Something that is wrong, once however often it happens.
#[derive(Serialize, ToSchema)]
#[schema(as = Alarm)]
struct AlarmShape {
    #[schema(examples("carrier-down"))]
    kind: &'static str,
    /// Empty where it is about this machine or a customer.
    #[schema(examples("acme"))]
    carrier: String,
    /// What tells it from others of its kind: a status code, an account's webhook, a certificate's file; mostly empty.
    about: String,
    /// The latest occurrence in words.
    detail: String,
    what_to_do: &'static str,
    first_at: String,
    last_at: String,
    count: u64,
}

pub(super) async fn alarms(
    State(desk): State<Arc<Desk>>,
    Asked(AlarmsAsked { carrier }): Asked<AlarmsAsked>,
) -> Answer {
    desk.must_run()?;
    let items = operator::alarms(&desk.world, carrier.as_deref()).into_iter().map(|alarm| {
        let Alarm { kind, carrier, about, detail, first_at, last_at, count } = alarm;
        let (first_at, last_at) = (first_at.to_iso(), last_at.to_iso());
        let what_to_do = operator::what_to_do(kind);
        AlarmShape { kind: kind.as_str(), carrier, about, detail, what_to_do, first_at, last_at, count }
    });
    fine(&AlarmsShape { items: items.collect() })
}

#[derive(Serialize, ToSchema)]
#[schema(as = Acknowledged)]
pub(super) struct AcknowledgedShape {
    acknowledged: u64,
}

pub(super) async fn acknowledge(
    State(desk): State<Arc<Desk>>,
    Asked(AlarmsAsked { carrier }): Asked<AlarmsAsked>,
) -> Answer {
    desk.must_run()?;
    let acknowledged = operator::acknowledge_alarms(&desk.world, carrier.as_deref());
    fine(&AcknowledgedShape { acknowledged: u64::try_from(acknowledged).unwrap_or(u64::MAX) })
}

//! Carriers and their links, alarms, resuming a stopped carrier.

use hermod_domain::carrier::ErrorClass;
use hermod_domain::time::Timestamp;
use hermod_gateway::live_status::{CarrierSnapshot, LastError, LinkSnapshot, Stopped, Traffic};
use hermod_store::CarrierQueue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The states of a carrier, the best first: a carrier is as well as its best node says.
const HEALTHS: [&str; 5] = ["up", "poor", "stopped", "down", "disabled"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CarriersView {
    /// The gateway's time.
    pub at: String,
    /// Every carrier, by name.
    pub items: Vec<CarrierView>,
    /// Nodes that did not answer: their links are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_nodes: Vec<String>,
}

/// The state of a carrier: health, queue, traffic, links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CarrierView {
    #[schema(examples("acme"))]
    pub carrier: String,
    /// `up`, `poor` (many rejects or timeouts), `down` (no link that sends is bound), `stopped` or `disabled`.
    pub health: String,
    /// Present while sending is stopped until the operator resumes it.
    pub stopped: Option<StoppedView>,
    pub queue: QueueView,
    pub last_minute: LinkTrafficView,
    pub last_ten_minutes: LinkTrafficView,
    /// The PDU trace runs until then.
    pub tracing_until: Option<String>,
    pub links: Vec<LinkView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoppedView {
    pub since: String,
    pub why: String,
}

/// A carrier's queue, in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueView {
    /// Not submitted yet.
    pub waiting: u64,
    /// Of those, parts that are due later.
    pub deferred: u64,
    /// Submitted, and the response is outstanding.
    pub in_flight: u64,
    /// When the oldest waiting part was accepted, those that are due later included.
    pub oldest: Option<String>,
    /// Seconds since then.
    pub oldest_for_s: Option<u64>,
}

/// Counts of one or more links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LinkTrafficView {
    pub submitted: u64,
    pub accepted: u64,
    /// Rejected parts by error class; docs/carriers.md explains the classes.
    pub refused: BTreeMap<String, u64>,
    /// No response in time.
    pub timed_out: u64,
    pub receipts: u64,
    /// Receipts that matched no part when they arrived.
    pub unmatched: u64,
    /// MO messages.
    pub inbound: u64,
    /// The carrier's failures among all responses and timeouts; null without any.
    pub error_ratio: Option<f64>,
    /// Receipts per accepted part. Above 1 with intermediate or duplicate receipts.
    pub receipt_ratio: Option<f64>,
    /// Unmatched receipts among all receipts.
    pub unmatched_ratio: Option<f64>,
}

/// One link, which is one bind to a carrier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LinkView {
    /// From 1; a transmitter and its receiver have the same number.
    pub number: u8,
    /// The node that has it, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// `both`, `sends` or `receives`.
    pub direction: String,
    pub address: String,
    pub tls: bool,
    /// `waiting`, `connecting`, `binding`, `bound` or `draining`.
    pub state: String,
    pub since: String,
    /// Seconds since then.
    pub for_s: u64,
    /// When the next bind attempt is due.
    pub next_attempt_at: Option<String>,
    /// Seconds until then.
    pub next_attempt_in_s: Option<u64>,
    pub bind_attempts: u64,
    pub window: u32,
    /// Parts submitted without a response so far.
    pub out: u32,
    /// Parts per second the link may send now: less than `full_rate` after the carrier throttled it.
    pub rate: u32,
    pub full_rate: u32,
    /// Average of the last ten seconds.
    pub parts_per_second: f64,
    /// Since the gateway started.
    pub totals: LinkTrafficView,
    pub last_error: Option<LastErrorView>,
}

/// A link as a row of a CSV file.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LinkRowView {
    pub carrier: String,
    pub health: String,
    #[serde(flatten)]
    pub link: LinkView,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LastErrorView {
    pub at: String,
    pub text: String,
}

impl From<LastError> for LastErrorView {
    fn from(LastError { at, text }: LastError) -> LastErrorView {
        LastErrorView { at: at.to_iso(), text }
    }
}

impl QueueView {
    pub fn new(queue: CarrierQueue, now: Timestamp) -> QueueView {
        let CarrierQueue { carrier: _, waiting, in_flight, deferred, oldest, oldest_for_slot: _ } = queue;
        QueueView {
            waiting,
            deferred: u64::try_from(deferred).unwrap_or(u64::MAX),
            in_flight,
            oldest: oldest.map(Timestamp::to_iso),
            oldest_for_s: oldest.map(|oldest| now.since(oldest).as_secs()),
        }
    }
}

impl CarrierView {
    pub fn new(carrier: CarrierSnapshot, queue: CarrierQueue, now: Timestamp) -> CarrierView {
        let stopped = |Stopped { since, why, .. }: Stopped| StoppedView { since: since.to_iso(), why };
        CarrierView {
            carrier: carrier.name,
            health: carrier.health.as_str().to_owned(),
            stopped: carrier.stopped_for.map(stopped),
            queue: QueueView::new(queue, now),
            last_minute: LinkTrafficView::from(&carrier.recent.minute),
            last_ten_minutes: LinkTrafficView::from(&carrier.recent.ten_minutes),
            tracing_until: carrier.tracing_until.map(Timestamp::to_iso),
            links: carrier.links.into_iter().map(|link| LinkView::new(link, now)).collect(),
        }
    }

    /// Adds the links and the traffic that another node has.
    pub fn add(&mut self, other: CarrierView) {
        let best =
            HEALTHS.iter().find(|health| [&self.health, &other.health].iter().any(|had| had == *health));
        if let Some(best) = best {
            self.health = (*best).to_owned();
        }
        self.stopped = self.stopped.take().or(other.stopped);
        self.tracing_until = self.tracing_until.take().or(other.tracing_until);
        self.last_minute.add(&other.last_minute);
        self.last_ten_minutes.add(&other.last_ten_minutes);
        self.links.extend(other.links);
        self.links.sort_by_key(|link| link.number);
    }
}

impl LinkTrafficView {
    fn add(&mut self, other: &LinkTrafficView) {
        *self = LinkTrafficView::from(&Traffic::from(&*self).plus(&Traffic::from(other)));
    }
}

impl From<&LinkTrafficView> for Traffic {
    fn from(view: &LinkTrafficView) -> Traffic {
        let refused = ErrorClass::ALL.map(|class| view.refused.get(class.as_str()).copied().unwrap_or(0));
        let LinkTrafficView { submitted, accepted, timed_out, receipts, unmatched, inbound, .. } = *view;
        Traffic { submitted, accepted, refused, timed_out, receipts, unmatched, inbound }
    }
}

impl From<&Traffic> for LinkTrafficView {
    fn from(traffic: &Traffic) -> LinkTrafficView {
        let refused = ErrorClass::ALL.into_iter().map(|class| (class, traffic.refused_as(class)));
        let refused = refused.filter(|(_, count)| *count > 0);
        LinkTrafficView {
            submitted: traffic.submitted,
            accepted: traffic.accepted,
            refused: refused.map(|(class, count)| (class.as_str().to_owned(), count)).collect(),
            timed_out: traffic.timed_out,
            receipts: traffic.receipts,
            unmatched: traffic.unmatched,
            inbound: traffic.inbound,
            error_ratio: traffic.failed_per_mille().map(ratio),
            receipt_ratio: traffic.receipted_per_mille().map(ratio),
            unmatched_ratio: traffic.unmatched_per_mille().map(ratio),
        }
    }
}

fn ratio(per_mille: u64) -> f64 {
    f64::from(u32::try_from(per_mille).unwrap_or(u32::MAX)) / 1000.0
}

/// Returns a number of tenths as a decimal.
pub(crate) fn tenths(tenths: u64) -> f64 {
    f64::from(u32::try_from(tenths).unwrap_or(u32::MAX)) / 10.0
}

impl LinkView {
    fn new(link: LinkSnapshot, now: Timestamp) -> LinkView {
        LinkView {
            number: link.number,
            node: None,
            direction: link.direction.as_str().to_owned(),
            address: link.address,
            tls: link.tls,
            state: link.state.as_str().to_owned(),
            since: link.since.to_iso(),
            for_s: now.since(link.since).as_secs(),
            next_attempt_in_s: link.next_attempt_at.map(|next| next.since(now).as_secs()),
            next_attempt_at: link.next_attempt_at.map(Timestamp::to_iso),
            bind_attempts: link.bind_attempts,
            window: link.window,
            out: link.out,
            rate: link.rate,
            full_rate: link.full_rate,
            parts_per_second: tenths(link.submitted_per_10_s),
            totals: LinkTrafficView::from(&link.totals),
            last_error: link.last_error.map(LastErrorView::from),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResumedView {
    pub carrier: String,
    /// Whether it was stopped before.
    pub resumed: bool,
    /// Nodes that did not answer: it may still be stopped there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_nodes: Vec<String>,
}

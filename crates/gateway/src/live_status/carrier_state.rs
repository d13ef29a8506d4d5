//! The live state of one carrier: health, stop reason, queue, links, recent traffic, and a PDU trace.

use super::history::{History, Recent};
use super::link_status::{Direction, LinkSettings, LinkStatus};
use super::trace::Trace;
use super::traffic::Traffic;
use crate::clock::Moment;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use metrics::gauge;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The carrier is stopped: its messages wait until the operator resumes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    pub since: Timestamp,
    pub why: String,
    /// The operator drains it: its entry says so.
    pub is_drained: bool,
}

/// A carrier whose links are all throttled is slow once messages have waited this long for it.
pub const SLOW_AFTER: Duration = Duration::from_secs(10);

/// The time over which a carrier's rate is averaged to estimate how long its queue takes.
pub const LATELY: Duration = Duration::from_secs(300);

/// A carrier's queue at the last check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueStatus {
    /// Parts that wait for a slot or for a retry.
    pub waiting: u64,
    /// Of those, parts that wait for a retry.
    pub deferred: u64,
    /// Parts that were sent and have no response yet.
    pub in_flight: u64,
    /// When the oldest waiting message was accepted, those that wait for a retry included.
    pub oldest: Option<Timestamp>,
    /// When the oldest message that waits for a slot was accepted.
    pub oldest_for_slot: Option<Timestamp>,
}

impl QueueStatus {
    /// Returns how long ago the oldest waiting message was accepted.
    pub fn age(&self, now: Timestamp) -> Duration {
        self.oldest.map_or(Duration::ZERO, |oldest| now.since(oldest))
    }
}

#[derive(Debug)]
pub struct CarrierState {
    id: CarrierId,
    name: String,
    health: Mutex<Health>,
    queue: Mutex<QueueStatus>,
    stopped: watch::Sender<Option<Stopped>>,
    /// All links since the start. Removed ones are kept for their counters.
    links: Mutex<Vec<Arc<LinkStatus>>>,
    history: Mutex<History>,
    pub trace: Arc<Trace>,
}

impl CarrierState {
    pub(super) fn new(id: CarrierId, name: &str) -> CarrierState {
        CarrierState {
            id,
            name: name.to_owned(),
            health: Mutex::default(),
            queue: Mutex::default(),
            stopped: watch::Sender::new(None),
            links: Mutex::default(),
            history: Mutex::default(),
            trace: Arc::default(),
        }
    }

    pub fn id(&self) -> CarrierId {
        self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn health(&self) -> Health {
        *self.health.lock()
    }

    pub fn set_health(&self, health: Health) {
        *self.health.lock() = health;
    }

    pub fn queue(&self) -> QueueStatus {
        *self.queue.lock()
    }

    pub fn set_queue(&self, queue: QueueStatus) {
        *self.queue.lock() = queue;
    }

    /// Whether the carrier throttles every sending link and messages have waited long for it.
    pub fn is_slow(&self, now: Timestamp) -> bool {
        let links = self.links.lock();
        let mut sending = links.iter().filter(|link| link.direction().sends() && link.is_bound()).peekable();
        sending.peek().is_some()
            && sending.all(|link| link.is_throttled())
            && self.queue().oldest_for_slot.is_some_and(|oldest| now.since(oldest) >= SLOW_AFTER)
    }

    /// Whether the carrier accepted a part in the last minute.
    pub fn accepts(&self, now: Moment) -> bool {
        self.recent(now).minute.accepted > 0
    }

    /// Returns the parts that the carrier accepted in [`LATELY`]; if its last minute was faster, as many as five such minutes.
    pub fn accepted_lately(&self, now: Moment) -> u64 {
        let Recent { minute, five_minutes, .. } = self.recent(now);
        five_minutes.accepted.max(minute.accepted.saturating_mul(5))
    }

    /// Returns the parts per second that its links may send now, in total.
    pub fn rate_now(&self) -> u64 {
        let links = self.links.lock();
        let sending = links.iter().filter(|link| link.direction().sends() && link.is_bound());
        sending.map(|link| u64::from(link.rate())).sum()
    }

    /// Stops sending. The links stay bound for receipts.
    pub fn stop(&self, why: String, now: Timestamp) {
        self.set_health(Health::Stopped);
        self.stopped.send_if_modified(|stopped| {
            let first = stopped.is_none();
            stopped.get_or_insert(Stopped { since: now, why, is_drained: false });
            first
        });
    }

    /// Stops sending while the operator drains the carrier, and ends such a stop. The links stay bound for receipts.
    pub fn set_drained(&self, is_drained: bool, now: Timestamp) {
        let changed = self.stopped.send_if_modified(|stopped| match stopped {
            None if is_drained => {
                let why = "the operator drains it".to_owned();
                *stopped = Some(Stopped { since: now, why, is_drained });
                true
            }
            Some(Stopped { is_drained: true, .. }) if !is_drained => stopped.take().is_some(),
            // The end of the drain also ends a stop because of errors.
            Some(earlier) if is_drained && !earlier.is_drained => {
                earlier.is_drained = true;
                true
            }
            Some(_) | None => false,
        });
        if changed {
            let bound = self.sending_links_bound() > 0;
            self.set_health(match (is_drained, bound) {
                (true, _) => Health::Stopped,
                (false, true) => Health::Up,
                (false, false) => Health::Down,
            });
        }
    }

    /// Resumes sending. Returns whether it was stopped. Earlier errors do not count any more. A drain is ended by the
    /// carrier's entry only.
    pub fn resume(&self, now: Moment) -> bool {
        self.history.lock().forget_minute(self.totals(), now);
        let is_resumable = |stopped: &mut Stopped| !stopped.is_drained;
        let resumed = self.stopped.send_if_modified(|stopped| stopped.take_if(is_resumable).is_some());
        if resumed && self.health() == Health::Stopped {
            let bound = self.sending_links_bound() > 0;
            self.set_health(if bound { Health::Up } else { Health::Down });
        }
        resumed
    }

    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped.borrow().clone()
    }

    /// Returns a receiver that is notified of stop and resume.
    pub fn watch_stopped(&self) -> watch::Receiver<Option<Stopped>> {
        self.stopped.subscribe()
    }

    /// Returns the link with this number and direction, with new settings. An existing one keeps its counters.
    pub fn link(
        &self,
        number: u8,
        direction: Direction,
        settings: LinkSettings,
        now: Timestamp,
    ) -> Arc<LinkStatus> {
        let mut links = self.links.lock();
        let known = links.iter().find(|link| (link.number(), link.direction()) == (number, direction));
        if let Some(known) = known {
            known.set_up(settings);
            return known.clone();
        }
        let link = Arc::new(LinkStatus::new(&self.name, number, direction, settings, now));
        links.push(link.clone());
        links.sort_by_key(|link| (link.number(), link.direction()));
        link
    }

    /// Marks all links as removed, until [`CarrierState::link`] returns them again.
    pub fn retire_links(&self, now: Timestamp) {
        self.links.lock().iter().for_each(|link| link.retire(now));
    }

    /// Retires the link of one number, which this node runs no more.
    pub fn retire_link(&self, number: u8, now: Timestamp) {
        self.links.lock().iter().filter(|link| link.number() == number).for_each(|link| link.retire(now));
    }

    pub fn links(&self) -> Vec<Arc<LinkStatus>> {
        self.links.lock().iter().filter(|link| link.is_wanted()).cloned().collect()
    }

    /// Returns the parts that this node's links have sent and that are not answered.
    pub fn out(&self) -> u32 {
        self.links.lock().iter().map(|link| link.out()).sum()
    }

    pub fn sending_links_bound(&self) -> usize {
        self.links.lock().iter().filter(|link| link.direction().sends() && link.is_bound()).count()
    }

    /// Returns the traffic since the start of the process.
    pub fn totals(&self) -> Traffic {
        self.links.lock().iter().fold(Traffic::default(), |sum, link| sum.plus(&link.totals()))
    }

    pub fn recent(&self, now: Moment) -> Recent {
        let totals = self.totals();
        self.history.lock().recent(&totals, now)
    }

    /// Samples the counters, updates the gauges, and ends an expired trace. To be called about every second.
    pub fn look(&self, now: Moment, wall: Timestamp) {
        self.trace.expire(wall);
        self.history.lock().note(self.totals(), now);
        self.links.lock().iter().for_each(|link| link.publish(now));
        let bound = u32::try_from(self.sending_links_bound()).unwrap_or(u32::MAX);
        gauge!("hermod_links_bound", "carrier" => self.name.clone()).set(bound);
        let health = self.health();
        for other in Health::ALL {
            gauge!("hermod_carrier_health", "carrier" => self.name.clone(), "health" => other.as_str())
                .set(u32::from(other == health));
        }
    }
}

//! One carrier at this moment: how it is doing, why it was stopped if it was, its links, and a trace of its PDUs.

use super::history::{History, Recent};
use super::link_figures::{Direction, LinkFigures, LinkSettings};
use super::trace::Trace;
use super::traffic::Traffic;
use crate::clock::Moment;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use metrics::gauge;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Nothing is sent to it until somebody says so; what is routed to it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    pub since: Timestamp,
    pub why: String,
}

/// A carrier whose links are all throttled is slow once messages have waited this long for it.
pub const SLOW_AFTER: Duration = Duration::from_secs(10);

/// What waits for a carrier, as it was when last looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSeen {
    /// Parts that no carrier has.
    pub waiting: u64,
    /// When the oldest message that waits for a slot was accepted.
    pub oldest: Option<Timestamp>,
}

impl QueueSeen {
    /// How long the oldest message has waited for a slot.
    pub fn age(&self, now: Timestamp) -> Duration {
        self.oldest.map_or(Duration::ZERO, |oldest| now.since(oldest))
    }
}

#[derive(Debug)]
pub struct CarrierState {
    id: CarrierId,
    name: String,
    health: Mutex<Health>,
    queue: Mutex<QueueSeen>,
    stopped: watch::Sender<Option<Stopped>>,
    /// All there ever were. Those that the entry has no more are kept for their counts.
    links: Mutex<Vec<Arc<LinkFigures>>>,
    history: Mutex<History>,
    pub trace: Trace,
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
            trace: Trace::default(),
        }
    }

    pub fn id(&self) -> CarrierId {
        self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn health(&self) -> Health {
        *lock(&self.health)
    }

    pub fn set_health(&self, health: Health) {
        *lock(&self.health) = health;
    }

    pub fn queue(&self) -> QueueSeen {
        *lock(&self.queue)
    }

    pub fn set_queue(&self, queue: QueueSeen) {
        *lock(&self.queue) = queue;
    }

    /// Whether it throttles every link that could send, and messages have waited long for it.
    pub fn is_slow(&self, now: Timestamp) -> bool {
        let links = lock(&self.links);
        let mut sending = links.iter().filter(|link| link.direction().sends() && link.is_bound()).peekable();
        sending.peek().is_some()
            && sending.all(|link| link.is_throttled())
            && self.queue().age(now) >= SLOW_AFTER
    }

    /// Parts per second that its links may send now, all together.
    pub fn rate_now(&self) -> u64 {
        let links = lock(&self.links);
        let sending = links.iter().filter(|link| link.direction().sends() && link.is_bound());
        sending.map(|link| u64::from(link.rate())).sum()
    }

    /// Sends nothing more. Its links stay bound, for receipts.
    pub fn stop(&self, why: String, now: Timestamp) {
        self.set_health(Health::Stopped);
        self.stopped.send_if_modified(|stopped| {
            let first = stopped.is_none();
            stopped.get_or_insert(Stopped { since: now, why });
            first
        });
    }

    /// Sends again, and says whether it had been stopped. What it did before is not held against it.
    pub fn resume(&self, now: Moment) -> bool {
        lock(&self.history).forget_minute(self.totals(), now);
        let resumed = self.stopped.send_if_modified(|stopped| stopped.take().is_some());
        if resumed && self.health() == Health::Stopped {
            let bound = self.sending_links_bound() > 0;
            self.set_health(if bound { Health::Up } else { Health::Down });
        }
        resumed
    }

    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped.borrow().clone()
    }

    /// ReportStatus whenever it is stopped or resumed.
    pub fn watch_stopped(&self) -> watch::Receiver<Option<Stopped>> {
        self.stopped.subscribe()
    }

    /// A link as its entry wants it; the one of that number and direction goes on counting.
    pub fn link(
        &self,
        number: u8,
        direction: Direction,
        settings: LinkSettings,
        now: Timestamp,
    ) -> Arc<LinkFigures> {
        let mut links = lock(&self.links);
        let known = links.iter().find(|link| (link.number(), link.direction()) == (number, direction));
        if let Some(known) = known {
            known.set_up(settings);
            return known.clone();
        }
        let link = Arc::new(LinkFigures::new(&self.name, number, direction, settings, now));
        links.push(link.clone());
        links.sort_by_key(|link| (link.number(), link.direction()));
        link
    }

    /// No link is wanted, until [`CarrierState::link`] says otherwise.
    pub fn retire_links(&self, now: Timestamp) {
        lock(&self.links).iter().for_each(|link| link.retire(now));
    }

    pub fn links(&self) -> Vec<Arc<LinkFigures>> {
        lock(&self.links).iter().filter(|link| link.is_wanted()).cloned().collect()
    }

    pub fn sending_links_bound(&self) -> usize {
        lock(&self.links).iter().filter(|link| link.direction().sends() && link.is_bound()).count()
    }

    /// Since the start of the process.
    pub fn totals(&self) -> Traffic {
        lock(&self.links).iter().fold(Traffic::default(), |sum, link| sum.plus(&link.totals()))
    }

    pub fn recent(&self, now: Moment) -> Recent {
        let totals = self.totals();
        lock(&self.history).recent(&totals, now)
    }

    /// Notes where the counts stand, tells the gauges, and ends a trace whose time is over. To be called about every
    /// second.
    pub fn look(&self, now: Moment, wall: Timestamp) {
        self.trace.expire(wall);
        lock(&self.history).note(self.totals(), now);
        lock(&self.links).iter().for_each(|link| link.publish(now));
        let bound = u32::try_from(self.sending_links_bound()).unwrap_or(u32::MAX);
        gauge!("hermod_links_bound", "carrier" => self.name.clone()).set(bound);
        let health = self.health();
        for other in [Health::Up, Health::Poor, Health::Down, Health::Stopped, Health::Disabled] {
            gauge!("hermod_carrier_health", "carrier" => self.name.clone(), "health" => other.as_str())
                .set(u32::from(other == health));
        }
    }
}

/// Figures are right even if somebody panicked while writing one.
fn lock<T>(counted: &Mutex<T>) -> MutexGuard<'_, T> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}

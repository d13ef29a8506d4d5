//! The lengths of the carriers' queues, counted as parts change, so that millions of parts need no scan.

use crate::ops::{CarrierQueue, DeferredParts};
use crate::state::deferred::Deferred;
use crate::state::lanes::{Lanes, Unread};
use crate::tables::TableError;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::{Part, PartState};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Parts of one carrier that it has not accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    waiting: u64,
    in_flight: u64,
}

impl Counts {
    fn of(&mut self, state: PartState) -> Option<&mut u64> {
        match state {
            PartState::Queued | PartState::InDoubt => Some(&mut self.waiting),
            PartState::Sending => Some(&mut self.in_flight),
            PartState::Sent
            | PartState::Presumed
            | PartState::Enroute
            | PartState::Overdue
            | PartState::Delivered
            | PartState::Undeliverable
            | PartState::Expired
            | PartState::Rejected => None,
        }
    }
}

/// The counts of all carriers. There are few: a linear search is faster than hashing.
#[derive(Default)]
pub struct Queues {
    carriers: Vec<(CarrierId, Counts)>,
}

impl Queues {
    pub fn clear(&mut self) {
        self.carriers.clear();
    }

    /// Returns the waiting and in-flight parts of each carrier that has some, in order.
    pub fn rows(&self) -> Vec<(CarrierId, u64, u64)> {
        let rows = self.carriers.iter().map(|(carrier, counts)| (*carrier, counts.waiting, counts.in_flight));
        let mut rows: Vec<_> =
            rows.filter(|(_, waiting, in_flight)| (*waiting, *in_flight) != (0, 0)).collect();
        rows.sort_unstable();
        rows
    }

    pub fn add(&mut self, carrier: CarrierId, state: PartState, parts: u64) {
        if let Some(count) = self.counts(carrier).of(state) {
            *count += parts;
        }
    }

    pub fn remove(&mut self, carrier: CarrierId, state: PartState) {
        if let Some(count) = self.counts(carrier).of(state) {
            *count = count.checked_sub(1).expect("a part is counted before it is gone");
        }
    }

    /// Stops counting a part that is set aside. Its row may differ from what was counted.
    pub fn forget(&mut self, carrier: CarrierId, state: PartState) {
        if let Some(count) = self.counts(carrier).of(state) {
            *count = count.saturating_sub(1);
        }
    }

    /// Counts a part under its new state.
    pub fn changed(&mut self, carrier: CarrierId, was: PartState, now: PartState) {
        self.remove(carrier, was);
        self.add(carrier, now, 1);
    }

    /// Stops counting the parts of a message that has ended.
    pub fn ended(&mut self, carrier: CarrierId, parts: &[Part]) {
        parts.iter().for_each(|part| self.remove(carrier, part.state));
    }

    /// Returns the queue of each carrier that ever had parts.
    pub fn snapshots(&self, lanes: &Lanes, deferred: &Deferred) -> Vec<QueueSnapshot> {
        let snapshot = |(carrier, counts): &(CarrierId, Counts)| {
            let (oldest, unread) = lanes.heads(*carrier);
            let oldest_for_slot = oldest.map(MessageId::accepted_at);
            let queue = CarrierQueue {
                carrier: *carrier,
                waiting: counts.waiting,
                in_flight: counts.in_flight,
                deferred: 0,
                oldest: oldest_for_slot,
                oldest_for_slot,
            };
            QueueSnapshot { queue, unread, has_deferred: deferred.has_parts(*carrier) }
        };
        self.carriers.iter().map(snapshot).collect()
    }

    fn counts(&mut self, carrier: CarrierId) -> &mut Counts {
        let place = self.carriers.iter().position(|(known, _)| *known == carrier).unwrap_or_else(|| {
            self.carriers.push((carrier, Counts::default()));
            self.carriers.len() - 1
        });
        &mut self.carriers[place].1
    }
}

/// A carrier's queue as the engine knows it, and what must be read from the tables to complete it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSnapshot {
    queue: CarrierQueue,
    unread: Vec<Unread>,
    /// Parts of the carrier may wait for a time.
    has_deferred: bool,
}

impl QueueSnapshot {
    /// Returns the complete queue. `look` finds the first waiting message of a lane behind the place that was read;
    /// `deferred` reads what waits for a time at a carrier.
    pub fn complete(
        self,
        look: &dyn Fn(CarrierId, Unread) -> Result<Option<MessageId>, TableError>,
        deferred: &dyn Fn(CarrierId) -> Result<DeferredParts, TableError>,
    ) -> Result<CarrierQueue, TableError> {
        let QueueSnapshot { mut queue, unread, has_deferred } = self;
        for lane in unread {
            queue.oldest_for_slot = older(queue.oldest_for_slot, look(queue.carrier, lane)?);
        }
        queue.oldest = queue.oldest_for_slot;
        if has_deferred {
            let DeferredParts { count, oldest } = deferred(queue.carrier)?;
            queue.deferred = count;
            queue.oldest = older(queue.oldest, oldest);
        }
        Ok(queue)
    }
}

fn older(known: Option<Timestamp>, message: Option<MessageId>) -> Option<Timestamp> {
    let accepted_at = message.map(MessageId::accepted_at);
    known.into_iter().chain(accepted_at).min()
}

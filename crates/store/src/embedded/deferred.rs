//! Parts that wait for a time rather than for a slot: retries after a temporary error, and resends of what is in
//! doubt. Each stands in the store with its due time; this is the clock face over them.

use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A carrier with this many parts waiting for a later time gets no new ones until some are through: a carrier that
/// answers everything with "later" costs disk, not memory.
pub(crate) const DEFERRED_PER_CARRIER_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub at: Timestamp,
    pub message: MessageId,
    pub part: PartNo,
    pub carrier: CarrierId,
    pub account: AccountId,
}

#[derive(Default)]
pub(crate) struct Deferred {
    heap: BinaryHeap<Reverse<Due>>,
    per_carrier: HashMap<CarrierId, usize>,
}

impl Deferred {
    pub(crate) fn push(&mut self, due: Due) {
        *self.per_carrier.entry(due.carrier).or_default() += 1;
        self.heap.push(Reverse(due));
    }

    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<Due> {
        if self.heap.peek()?.0.at > now {
            return None;
        }
        let due = self.heap.pop()?.0;
        if let Some(count) = self.per_carrier.get_mut(&due.carrier) {
            *count -= 1;
        }
        Some(due)
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.heap.peek().map(|due| due.0.at)
    }

    pub(crate) fn is_full(&self, carrier: CarrierId) -> bool {
        self.per_carrier.get(&carrier).is_some_and(|count| *count >= DEFERRED_PER_CARRIER_MAX)
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.per_carrier.clear();
    }
}

//! Parts that wait for a time rather than for a slot: retries after a temporary error, and resends of what is in
//! doubt. Each stands in the store with its due time; this is the clock face over them.

use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::time::Timestamp;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A carrier with this many parts waiting for a later time gets no new ones until some are through: a carrier that
/// answers everything with "later" costs disk, not memory.
pub const DEFERRED_PER_CARRIER_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub at: Timestamp,
    pub message: MessageId,
    pub part: PartNo,
    pub carrier: CarrierId,
    pub account: AccountId,
}

#[derive(Default)]
pub struct Deferred {
    heap: BinaryHeap<Reverse<Due>>,
    per_carrier: HashMap<CarrierId, usize>,
}

impl Deferred {
    pub fn push(&mut self, due: Due) {
        *self.per_carrier.entry(due.carrier).or_default() += 1;
        self.heap.push(Reverse(due));
    }

    pub fn pop_due(&mut self, now: Timestamp) -> Option<Due> {
        if self.heap.peek()?.0.at > now {
            return None;
        }
        let due = self.heap.pop()?.0;
        if let Some(count) = self.per_carrier.get_mut(&due.carrier) {
            *count -= 1;
        }
        Some(due)
    }

    pub fn next_at(&self) -> Option<Timestamp> {
        self.heap.peek().map(|due| due.0.at)
    }

    pub fn is_full(&self, carrier: CarrierId) -> bool {
        self.per_carrier.get(&carrier).is_some_and(|count| *count >= DEFERRED_PER_CARRIER_MAX)
    }

    /// With those whose message has ended or gone elsewhere meanwhile: they are found out when their time comes.
    pub fn count(&self, carrier: CarrierId) -> usize {
        self.per_carrier.get(&carrier).copied().unwrap_or(0)
    }

    pub fn clear(&mut self) {
        self.heap.clear();
        self.per_carrier.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(at: i64, carrier: u32, message: i64) -> Due {
        Due {
            at: Timestamp::from_millis(at),
            message: MessageId::from_i64(message).unwrap(),
            part: PartNo::FIRST,
            carrier: CarrierId::new(carrier),
            account: AccountId::new(1),
        }
    }

    #[test]
    fn parts_come_out_when_due_and_in_order() {
        let mut deferred = Deferred::default();
        for (at, message) in [(30, 1), (10, 3), (20, 2), (10, 2)] {
            deferred.push(due(at, 1, message));
        }
        assert_eq!(deferred.next_at(), Some(Timestamp::from_millis(10)));
        assert_eq!(deferred.pop_due(Timestamp::from_millis(9)), None);
        let mut released = Vec::new();
        while let Some(due) = deferred.pop_due(Timestamp::from_millis(20)) {
            released.push((due.at.as_millis(), due.message.as_i64()));
        }
        assert_eq!(released, [(10, 2), (10, 3), (20, 2)]);
        assert_eq!(deferred.next_at(), Some(Timestamp::from_millis(30)));
        deferred.clear();
        assert_eq!(deferred.next_at(), None);
    }

    #[test]
    fn a_carrier_with_ten_thousand_deferred_parts_is_full_until_some_are_through() {
        let mut deferred = Deferred::default();
        for message in 1..=i64::try_from(DEFERRED_PER_CARRIER_MAX).unwrap() {
            assert!(!deferred.is_full(CarrierId::new(1)));
            deferred.push(due(5, 1, message));
        }
        assert!(deferred.is_full(CarrierId::new(1)));
        assert!(!deferred.is_full(CarrierId::new(2)), "another carrier is not concerned");
        deferred.pop_due(Timestamp::from_millis(5)).unwrap();
        assert!(!deferred.is_full(CarrierId::new(1)));
    }
}

//! A queue of items ordered by due time. One timer serves any number of delayed responses and receipts: a timer for each
//! of a hundred thousand would cost more than the work itself.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Instant;

/// A queue ordered by due time, then by arrival.
#[derive(Debug)]
pub(super) struct DelayQueue<T> {
    /// Items that arrived in due order: nearly all, because delays are mostly constant.
    in_order: VecDeque<Entry<T>>,
    /// Items due before one that arrived earlier.
    early: BinaryHeap<Entry<T>>,
    arrivals: u64,
}

#[derive(Debug)]
struct Entry<T> {
    due: Instant,
    arrival: u64,
    item: T,
}

impl<T> DelayQueue<T> {
    pub(super) fn new() -> DelayQueue<T> {
        DelayQueue { in_order: VecDeque::new(), early: BinaryHeap::new(), arrivals: 0 }
    }

    pub(super) fn push(&mut self, due: Instant, item: T) {
        let entry = Entry { due, arrival: self.arrivals, item };
        self.arrivals += 1;
        match self.in_order.back() {
            Some(last) if due < last.due => self.early.push(entry),
            _ => self.in_order.push_back(entry),
        }
    }

    /// When the first item is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let first = self.in_order.front().map(|entry| entry.due);
        let early = self.early.peek().map(|entry| entry.due);
        match (first, early) {
            (Some(first), Some(early)) => Some(first.min(early)),
            (one, other) => one.or(other),
        }
    }

    /// Takes the first item if it is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<T> {
        if self.next_due()? > now {
            return None;
        }
        let early_is_first = match (self.in_order.front(), self.early.peek()) {
            (Some(first), Some(early)) => early > first,
            (first, _) => first.is_none(),
        };
        let entry = if early_is_first { self.early.pop() } else { self.in_order.pop_front() };
        entry.map(|entry| entry.item)
    }

    /// Takes all items, in no particular order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Instant, T)> {
        self.in_order.drain(..).chain(self.early.drain()).map(|entry| (entry.due, entry.item))
    }

    pub(super) fn len(&self) -> usize {
        self.in_order.len() + self.early.len()
    }
}

/// The greatest entry leaves first: earliest due, then earliest arrival.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.arrival).cmp(&(self.due, self.arrival))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
#[path = "delay_queue_tests.rs"]
mod tests;

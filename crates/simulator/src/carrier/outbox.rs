//! Receipts that wait for their time, for room in a window, or for a link to come back. They belong to the carrier
//! and not to a link: a gateway that was restarted gets what its predecessor missed.

use std::time::Instant;

use super::due::DueQueue;
use super::receipt::Receipt;

#[derive(Debug)]
pub(super) struct Outbox {
    waiting: DueQueue<Receipt>,
    in_flight: usize,
    receipts_max: usize,
}

impl Outbox {
    pub(super) fn new(receipts_max: usize) -> Outbox {
        Outbox { waiting: DueQueue::new(), in_flight: 0, receipts_max }
    }

    /// No more receipts should be promised. (A message may still bring the few that its script lists.)
    pub(super) fn is_full(&self) -> bool {
        self.unsettled() >= self.receipts_max
    }

    /// Receipts not taken yet: waiting or in flight.
    pub(super) fn unsettled(&self) -> usize {
        self.waiting.len() + self.in_flight
    }

    pub(super) fn push(&mut self, due: Instant, receipt: Receipt) {
        self.waiting.push(due, receipt);
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.waiting.next_due()
    }

    /// The next receipt to send; it is in flight until settled or put back.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Receipt> {
        let receipt = self.waiting.pop_due(now)?;
        self.in_flight += 1;
        Some(receipt)
    }

    /// A receipt taken out by other means than `take_due` is in flight as well.
    pub(super) fn note_in_flight(&mut self) {
        self.in_flight += 1;
    }

    /// The gateway has it, or will not have it.
    pub(super) fn settle(&mut self) {
        self.in_flight -= 1;
    }

    /// It must be sent again.
    pub(super) fn put_back(&mut self, due: Instant, receipt: Receipt) {
        self.in_flight -= 1;
        self.waiting.push(due, receipt);
    }
}

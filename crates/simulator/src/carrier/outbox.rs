//! Receipts and MO messages that wait for their due time, for room in a window, or for a link. They belong to the carrier
//! and not to a link: a gateway that was restarted gets those that its predecessor missed.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use super::delay_queue::DelayQueue;
use super::mo::{MO_WAITING_MAX, MoPart};
use super::outcome::ReceiptLink;
use super::receipt::PendingReceipt;

#[derive(Debug)]
pub(super) struct DeliveryQueue {
    any_link: DelayQueue<PendingReceipt>,
    /// For every link except the one of the submit, which is the key.
    other_link: BTreeMap<u64, DelayQueue<PendingReceipt>>,
    /// Held until the link of the submit, which is the key, has ended.
    after_link: BTreeMap<u64, DelayQueue<PendingReceipt>>,
    in_flight: usize,
    receipts_max: usize,
    /// MO parts, and when each is due.
    mo: VecDeque<(Instant, MoPart)>,
}

impl DeliveryQueue {
    pub(super) fn new(receipts_max: usize) -> DeliveryQueue {
        DeliveryQueue {
            any_link: DelayQueue::new(),
            other_link: BTreeMap::new(),
            after_link: BTreeMap::new(),
            in_flight: 0,
            receipts_max,
            mo: VecDeque::new(),
        }
    }

    /// Whether submits that ask for receipts are to be rejected. (One message may still add several receipts.)
    pub(super) fn is_full(&self) -> bool {
        self.receipts_pending() >= self.receipts_max
    }

    /// Receipts without a final response of the gateway: waiting or in flight.
    pub(super) fn receipts_pending(&self) -> usize {
        let count = |queues: &BTreeMap<u64, DelayQueue<PendingReceipt>>| {
            queues.values().map(DelayQueue::len).sum::<usize>()
        };
        self.any_link.len() + count(&self.other_link) + count(&self.after_link) + self.in_flight
    }

    pub(super) fn push(&mut self, due: Instant, receipt: PendingReceipt) {
        let queue = match receipt.via {
            ReceiptLink::Any => &mut self.any_link,
            ReceiptLink::OtherLink => self.other_link.entry(receipt.link).or_insert_with(DelayQueue::new),
            ReceiptLink::AfterLinkEnds => self.after_link.entry(receipt.link).or_insert_with(DelayQueue::new),
        };
        queue.push(due, receipt);
    }

    /// When the first delivery for this link is due.
    pub(super) fn next_due(&self, link: u64) -> Option<Instant> {
        let other_link = self.other_link.iter().filter(|(origin, _)| **origin != link);
        let other_link = other_link.filter_map(|(_, queue)| queue.next_due()).min();
        let mo = self.mo.iter().filter(|(_, part)| part.link.is_none_or(|only| only == link));
        let mo = mo.map(|(due, _)| *due).min();
        [self.any_link.next_due(), other_link, mo].into_iter().flatten().min()
    }

    /// Takes the next due receipt for a link; it is in flight until `complete` or `put_back`.
    pub(super) fn take_due(&mut self, link: u64, now: Instant) -> Option<PendingReceipt> {
        let receipt = match self.any_link.pop_due(now) {
            Some(receipt) => receipt,
            None => self.take_of_other_link(link, now)?,
        };
        self.in_flight += 1;
        Some(receipt)
    }

    fn take_of_other_link(&mut self, link: u64, now: Instant) -> Option<PendingReceipt> {
        let mut others = self.other_link.iter_mut().filter(|(origin, _)| **origin != link);
        let (origin, receipt) =
            others.find_map(|(origin, queue)| queue.pop_due(now).map(|receipt| (*origin, receipt)))?;
        if self.other_link.get(&origin).is_some_and(|queue| queue.len() == 0) {
            self.other_link.remove(&origin);
        }
        Some(receipt)
    }

    /// Makes the receipts that were held for the end of this link available to all links.
    pub(super) fn release(&mut self, link: u64) {
        let Some(mut held) = self.after_link.remove(&link) else { return };
        for (due, mut receipt) in held.drain() {
            receipt.via = ReceiptLink::Any;
            self.any_link.push(due, receipt);
        }
    }

    /// Counts a receipt that was not taken by `take_due` as in flight.
    pub(super) fn note_in_flight(&mut self) {
        self.in_flight += 1;
    }

    /// Ends a receipt in flight: the gateway has accepted it, or rejected it for good.
    pub(super) fn complete(&mut self) {
        self.in_flight -= 1;
    }

    /// Queues a receipt in flight again.
    pub(super) fn put_back(&mut self, due: Instant, receipt: PendingReceipt) {
        self.in_flight -= 1;
        self.push(due, receipt);
    }

    /// Queues an MO part. Returns false when the queue is full.
    pub(super) fn push_mo(&mut self, due: Instant, part: MoPart) -> bool {
        let has_room = self.mo.len() < MO_WAITING_MAX;
        if has_room {
            self.mo.push_back((due, part));
        }
        has_room
    }

    /// Queues an MO part again, before newer ones.
    pub(super) fn put_back_mo(&mut self, due: Instant, part: MoPart) {
        self.mo.push_front((due, part));
    }

    pub(super) fn take_due_mo(&mut self, link: u64, now: Instant) -> Option<MoPart> {
        let fits = |(due, part): &(Instant, MoPart)| *due <= now && part.link.is_none_or(|only| only == link);
        let at = self.mo.iter().position(fits)?;
        self.mo.remove(at).map(|(_, part)| part)
    }
}

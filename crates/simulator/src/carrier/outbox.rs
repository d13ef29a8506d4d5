//! Receipts and messages from handsets that wait for their time, for room in a window, or for a link to come back.
//! They belong to the carrier and not to a link: a gateway that was restarted gets what its predecessor missed.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use super::delay_queue::DelayQueue;
use super::mo::{MO_WAITING_MAX, MoPart};
use super::outcome::ReceiptLink;
use super::receipt::Receipt;

#[derive(Debug)]
pub(super) struct Outbox {
    waiting: DelayQueue<Receipt>,
    /// Those that not every link may bring, by the link their messages came on.
    elsewhere: BTreeMap<u64, DelayQueue<Receipt>>,
    held: BTreeMap<u64, DelayQueue<Receipt>>,
    in_flight: usize,
    receipts_max: usize,
    /// From handsets, and when each may go out.
    said: VecDeque<(Instant, MoPart)>,
}

impl Outbox {
    pub(super) fn new(receipts_max: usize) -> Outbox {
        Outbox {
            waiting: DelayQueue::new(),
            elsewhere: BTreeMap::new(),
            held: BTreeMap::new(),
            in_flight: 0,
            receipts_max,
            said: VecDeque::new(),
        }
    }

    /// No more receipts should be promised. (A message may still bring the few that its script lists.)
    pub(super) fn is_full(&self) -> bool {
        self.unsettled() >= self.receipts_max
    }

    /// Receipts not taken yet: waiting or in flight.
    pub(super) fn unsettled(&self) -> usize {
        let count =
            |queues: &BTreeMap<u64, DelayQueue<Receipt>>| queues.values().map(DelayQueue::len).sum::<usize>();
        self.waiting.len() + count(&self.elsewhere) + count(&self.held) + self.in_flight
    }

    pub(super) fn push(&mut self, due: Instant, receipt: Receipt) {
        match receipt.way {
            ReceiptLink::Any => self.waiting.push(due, receipt),
            ReceiptLink::OtherLink => {
                self.elsewhere.entry(receipt.link).or_insert_with(DelayQueue::new).push(due, receipt)
            }
            ReceiptLink::AfterLinkEnds => {
                self.held.entry(receipt.link).or_insert_with(DelayQueue::new).push(due, receipt)
            }
        }
    }

    /// When a link has something to bring.
    pub(super) fn next_due(&self, link: u64) -> Option<Instant> {
        let elsewhere = self.elsewhere.iter().filter(|(origin, _)| **origin != link);
        let elsewhere = elsewhere.filter_map(|(_, queue)| queue.next_due()).min();
        let said = self.said.iter().filter(|(_, part)| part.link.is_none_or(|only| only == link));
        let said = said.map(|(due, _)| *due).min();
        [self.waiting.next_due(), elsewhere, said].into_iter().flatten().min()
    }

    /// The next receipt for a link to bring; it is in flight until settled or put back.
    pub(super) fn take_due(&mut self, link: u64, now: Instant) -> Option<Receipt> {
        let receipt = match self.waiting.pop_due(now) {
            Some(receipt) => receipt,
            None => self.take_from_elsewhere(link, now)?,
        };
        self.in_flight += 1;
        Some(receipt)
    }

    fn take_from_elsewhere(&mut self, link: u64, now: Instant) -> Option<Receipt> {
        let mut others = self.elsewhere.iter_mut().filter(|(origin, _)| **origin != link);
        let (origin, receipt) =
            others.find_map(|(origin, queue)| queue.pop_due(now).map(|receipt| (*origin, receipt)))?;
        if self.elsewhere.get(&origin).is_some_and(|queue| queue.len() == 0) {
            self.elsewhere.remove(&origin);
        }
        Some(receipt)
    }

    /// A link has ended: what waited for that may go over any other.
    pub(super) fn release(&mut self, link: u64) {
        let Some(mut held) = self.held.remove(&link) else { return };
        for (due, mut receipt) in held.drain() {
            receipt.way = ReceiptLink::Any;
            self.waiting.push(due, receipt);
        }
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
        self.push(due, receipt);
    }

    /// A handset has said something. Says whether there was room for it.
    pub(super) fn say(&mut self, now: Instant, part: MoPart) -> bool {
        let room = self.said.len() < MO_WAITING_MAX;
        if room {
            self.said.push_back((now, part));
        }
        room
    }

    /// It must be said again, before anything newer.
    pub(super) fn say_again(&mut self, due: Instant, part: MoPart) {
        self.said.push_front((due, part));
    }

    /// What a link is to bring from handsets next.
    pub(super) fn take_said(&mut self, link: u64, now: Instant) -> Option<MoPart> {
        let fits = |(due, part): &(Instant, MoPart)| *due <= now && part.link.is_none_or(|only| only == link);
        let at = self.said.iter().position(fits)?;
        self.said.remove(at).map(|(_, part)| part)
    }
}

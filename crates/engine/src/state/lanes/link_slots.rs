//! The free slots of a carrier's links, and the messages that each link must continue. All parts of a message are sent
//! over one link, back to back and in order, because carriers join long messages per link, if at all.

use hermod_domain::ids::{AccountId, CarrierId, MessageId};

use crate::ops::{Job, LinkId, LinkNumber};
use crate::state::lanes::{CarrierLanes, Lanes};

/// Messages that a link keeps after parts of them came back. Beyond that the newest may be sent over any link.
const RETURNED_MAX: usize = 1_000;

/// The free slots of a link, and the messages that it must continue.
#[derive(Clone, Debug)]
pub struct LinkSlots {
    link: LinkId,
    number: LinkNumber,
    free: u32,
    /// The message that it is sending: it takes nothing else before that message's last part.
    current: Option<(MessageId, AccountId)>,
    /// Long messages of which parts came back to the queue, in order. If there are other links, these are sent over
    /// this one, before anything else.
    returned: Vec<(MessageId, AccountId)>,
}

impl LinkSlots {
    /// Notes that a part came back to the queue. Nothing that was accepted later is sent before it, not even the rest
    /// of the link's current message.
    fn note_returned(&mut self, job: &Job) {
        if self.current.is_some_and(|(message, _)| message == job.message) {
            return;
        }
        let long = (job.parts > 1).then_some((job.message, job.account));
        for entry in self.current.take().into_iter().chain(long) {
            if let Err(place) = self.returned.binary_search(&entry) {
                self.returned.insert(place, entry);
            }
        }
        self.returned.truncate(RETURNED_MAX);
    }

    /// Whether the message must be sent over this link.
    fn owns(&self, message: MessageId) -> bool {
        self.current.is_some_and(|(held, _)| held == message)
            || self.returned.binary_search_by_key(&message, |(returned, _)| *returned).is_ok()
    }

    fn release(&mut self, message: MessageId) {
        self.current.take_if(|(held, _)| *held == message);
        self.returned.retain(|(returned, _)| *returned != message);
    }
}

/// The links of one carrier.
#[derive(Default)]
pub(super) struct CarrierLinks {
    pub(super) all: Vec<LinkSlots>,
}

impl CarrierLinks {
    fn find(&mut self, link: LinkId) -> Option<&mut LinkSlots> {
        self.all.iter_mut().find(|entry| entry.link == link)
    }

    pub(super) fn has_free_slot(&self) -> bool {
        self.all.iter().any(|entry| entry.free > 0)
    }

    /// Returns the link with the most free slots, of those that may start a message.
    pub(super) fn link_with_most_slots(&self) -> Option<LinkId> {
        let open = self.all.iter().filter(|entry| entry.free > 0 && entry.current.is_none());
        open.max_by_key(|entry| entry.free).map(|entry| entry.link)
    }

    /// Returns a link with a free slot, and the message that it must continue: its current one, or one that came back.
    pub(super) fn message_in_progress(&self) -> Option<(LinkId, AccountId, MessageId)> {
        // A single link takes what came back in its turn: there is no other link.
        let alone = self.all.len() == 1;
        let next_of = |entry: &LinkSlots| {
            let returned = || entry.returned.first().copied().filter(|_| !alone);
            entry.current.or_else(returned).map(|(message, account)| (entry.link, account, message))
        };
        self.all.iter().filter(|entry| entry.free > 0).find_map(next_of)
    }

    /// Notes that a link was given a part of a long message.
    pub(super) fn note_given(&mut self, link: LinkId, job: &Job) {
        if let Some(entry) = self.find(link) {
            entry.release(job.message);
            let more = job.part.get() < job.parts;
            entry.current = more.then_some((job.message, job.account));
        }
    }

    /// Notes that there are no more parts of this message for the link.
    pub(super) fn release(&mut self, link: LinkId, message: MessageId) {
        if let Some(entry) = self.find(link) {
            entry.release(message);
        }
    }

    /// Whether this part must be sent over another link.
    pub(super) fn belongs_elsewhere(&self, job: &Job, link: LinkId) -> bool {
        job.parts > 1 && self.all.iter().any(|entry| entry.link != link && entry.owns(job.message))
    }
}

impl Lanes {
    /// Adds a link without free slots.
    pub fn link_opened(&mut self, carrier: CarrierId, link: LinkId, number: LinkNumber) {
        self.carriers.entry(carrier).or_default().links.all.push(LinkSlots {
            link,
            number,
            free: 0,
            current: None,
            returned: Vec::new(),
        });
    }

    /// Removes a link. Its messages continue over any other link.
    pub fn link_closed(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(lanes) = self.carriers.get_mut(&carrier) {
            lanes.links.all.retain(|entry| entry.link != link);
        }
    }

    /// Adds free slots to a link.
    pub fn grant(&mut self, carrier: CarrierId, link: LinkId, slots: u32) {
        if let Some(entry) = self.slots_of(carrier, link) {
            entry.free = entry.free.saturating_add(slots);
        }
    }

    /// Removes all free slots of a link.
    pub fn revoke(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(entry) = self.slots_of(carrier, link) {
            entry.free = 0;
        }
    }

    /// Takes one free slot. Returns the number of the link. Panics if it has no free slot.
    pub fn use_slot(&mut self, carrier: CarrierId, link: LinkId) -> LinkNumber {
        let entry =
            self.slots_of(carrier, link).expect("a slot is used on the link that was just found to have one");
        entry.free = entry.free.checked_sub(1).expect("no slot is used twice");
        entry.number
    }

    /// Puts a part back that a link did not send, or that the carrier throttled. It returns to its old place. A part of
    /// a long message is sent over the same link again, as long as that is open.
    pub fn requeue_from(&mut self, link: Option<LinkId>, job: Job) {
        if let Some(entry) = link.and_then(|link| self.slots_of(job.carrier, link)) {
            entry.note_returned(&job);
        }
        self.requeue(job);
    }

    /// Returns the slots of all links, to restore them after a rollback.
    pub fn link_slots(&self) -> Vec<(CarrierId, LinkSlots)> {
        let links = |(carrier, lanes): (&CarrierId, &CarrierLanes)| {
            let carrier = *carrier;
            lanes.links.all.iter().map(move |entry| (carrier, entry.clone())).collect::<Vec<_>>()
        };
        self.carriers.iter().flat_map(links).collect()
    }

    /// Restores what [`Lanes::link_slots`] returned.
    pub fn restore_link_slots(&mut self, links: Vec<(CarrierId, LinkSlots)>) {
        self.carriers.values_mut().for_each(|lanes| lanes.links.all.clear());
        for (carrier, entry) in links {
            self.carriers.entry(carrier).or_default().links.all.push(entry);
        }
    }

    fn slots_of(&mut self, carrier: CarrierId, link: LinkId) -> Option<&mut LinkSlots> {
        self.carriers.get_mut(&carrier)?.links.find(link)
    }
}

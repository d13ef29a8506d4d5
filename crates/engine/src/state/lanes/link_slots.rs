//! What each link of a carrier has entry for, and which messages it must go on with: all parts of a message leave over one
//! link, back to back and in order, because carriers put a long message together per link if at all.

use hermod_domain::ids::{AccountId, CarrierId, MessageId};

use crate::ops::{Job, LinkId};
use crate::state::lanes::{CarrierLanes, Lanes};

/// Messages a link keeps to itself after parts of them came back. Beyond it the newest may go out over any link.
const RETURNED_MAX: usize = 1_000;

/// How many parts a link can take, and of what.
#[derive(Clone, Debug)]
pub struct LinkSlots {
    link: LinkId,
    free: u32,
    /// The message it is in the middle of: it takes nothing else before that one's last part.
    current: Option<(MessageId, AccountId)>,
    /// Long messages of which parts came back to the queue, in order. Where there are other links these leave over this
    /// one, before anything else.
    returned: Vec<(MessageId, AccountId)>,
}

impl LinkSlots {
    /// A part came back to the queue, where order counts again: nothing that was accepted later goes before it, not even
    /// the rest of what the link is in the middle of.
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

    /// Of the links that may begin with something, the one with the most link_slots.
    pub(super) fn link_with_most_slots(&self) -> Option<LinkId> {
        let open = self.all.iter().filter(|entry| entry.free > 0 && entry.current.is_none());
        open.max_by_key(|entry| entry.free).map(|entry| entry.link)
    }

    /// A link that has link_slots for more of the message it is in the middle of, or of one that came back from it.
    pub(super) fn message_in_progress(&self) -> Option<(LinkId, AccountId, MessageId)> {
        // A lone link takes what came back in its turn: nobody else could.
        let alone = self.all.len() == 1;
        let next_of = |entry: &LinkSlots| {
            let returned = || entry.returned.first().copied().filter(|_| !alone);
            entry.current.or_else(returned).map(|(message, account)| (entry.link, account, message))
        };
        self.all.iter().filter(|entry| entry.free > 0).find_map(next_of)
    }

    /// A link was given a part of a long message.
    pub(super) fn note_given(&mut self, link: LinkId, job: &Job) {
        if let Some(entry) = self.find(link) {
            entry.release(job.message);
            let more = job.part.get() < job.parts;
            entry.current = more.then_some((job.message, job.account));
        }
    }

    /// There is no more of this message for the link.
    pub(super) fn release(&mut self, link: LinkId, message: MessageId) {
        if let Some(entry) = self.find(link) {
            entry.release(message);
        }
    }

    /// Must this part leave over another link than this one?
    pub(super) fn belongs_elsewhere(&self, job: &Job, link: LinkId) -> bool {
        job.parts > 1 && self.all.iter().any(|entry| entry.link != link && entry.owns(job.message))
    }
}

impl Lanes {
    pub fn link_opened(&mut self, carrier: CarrierId, link: LinkId) {
        self.carriers.entry(carrier).or_default().links.all.push(LinkSlots {
            link,
            free: 0,
            current: None,
            returned: Vec::new(),
        });
    }

    /// What it held goes on over any other.
    pub fn link_closed(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(lanes) = self.carriers.get_mut(&carrier) {
            lanes.links.all.retain(|entry| entry.link != link);
        }
    }

    /// A link can take this many parts more than it was last known to.
    pub fn grant(&mut self, carrier: CarrierId, link: LinkId, slots: u32) {
        if let Some(entry) = self.slots_of(carrier, link) {
            entry.free = entry.free.saturating_add(slots);
        }
    }

    /// A link takes nothing more until it grants link_slots again.
    pub fn revoke(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(entry) = self.slots_of(carrier, link) {
            entry.free = 0;
        }
    }

    pub fn use_slot(&mut self, carrier: CarrierId, link: LinkId) {
        let entry =
            self.slots_of(carrier, link).expect("a slot is used on the link that was just found to have one");
        entry.free = entry.free.checked_sub(1).expect("no slot is used twice");
    }

    /// A part comes back from a link that did not send it or was told to slow down. It takes up its old place; if it is
    /// one of several it goes out over the same link again, for as long as that is open.
    pub fn requeue_from(&mut self, link: Option<LinkId>, job: Job) {
        if let Some(entry) = link.and_then(|link| self.slots_of(job.carrier, link)) {
            entry.note_returned(&job);
        }
        self.requeue(job);
    }

    /// Every link's link_slots, to go back to if the batch comes to nothing.
    pub fn link_slots(&self) -> Vec<(CarrierId, LinkSlots)> {
        let links = |(carrier, lanes): (&CarrierId, &CarrierLanes)| {
            let carrier = *carrier;
            lanes.links.all.iter().map(move |entry| (carrier, entry.clone())).collect::<Vec<_>>()
        };
        self.carriers.iter().flat_map(links).collect()
    }

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

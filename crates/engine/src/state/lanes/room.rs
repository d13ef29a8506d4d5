//! What each link of a carrier has room for, and which messages it must go on with: all parts of a message leave over one
//! link, back to back and in order, because carriers put a long message together per link if at all.

use hermod_domain::ids::{AccountId, CarrierId, MessageId};

use crate::ops::{Job, LinkId};
use crate::state::lanes::{CarrierLanes, Lanes};

/// Messages a link keeps to itself after parts of them came back. Beyond it the newest may go out over any link.
const KEPT_MAX: usize = 1_000;

/// How many parts a link can take, and of what.
#[derive(Clone, Debug)]
pub struct LinkRoom {
    link: LinkId,
    free: u32,
    /// The message it is in the middle of: it takes nothing else before that one's last part.
    holding: Option<(MessageId, AccountId)>,
    /// Long messages of which parts came back to the queue, in order. Where there are other links these leave over this
    /// one, before anything else.
    kept: Vec<(MessageId, AccountId)>,
}

impl LinkRoom {
    /// A part came back to the queue, where order counts again: nothing that was accepted later goes before it, not even
    /// the rest of what the link is in the middle of.
    fn came_back(&mut self, job: &Job) {
        if self.holding.is_some_and(|(message, _)| message == job.message) {
            return;
        }
        let long = (job.parts > 1).then_some((job.message, job.account));
        for entry in self.holding.take().into_iter().chain(long) {
            if let Err(place) = self.kept.binary_search(&entry) {
                self.kept.insert(place, entry);
            }
        }
        self.kept.truncate(KEPT_MAX);
    }

    fn claims(&self, message: MessageId) -> bool {
        self.holding.is_some_and(|(held, _)| held == message)
            || self.kept.binary_search_by_key(&message, |(kept, _)| *kept).is_ok()
    }

    fn let_go(&mut self, message: MessageId) {
        self.holding.take_if(|(held, _)| *held == message);
        self.kept.retain(|(kept, _)| *kept != message);
    }
}

/// The links of one carrier.
#[derive(Default)]
pub(super) struct Rooms {
    pub(super) links: Vec<LinkRoom>,
}

impl Rooms {
    fn find(&mut self, link: LinkId) -> Option<&mut LinkRoom> {
        self.links.iter_mut().find(|room| room.link == link)
    }

    pub(super) fn any_free(&self) -> bool {
        self.links.iter().any(|room| room.free > 0)
    }

    /// Of the links that may begin with something, the one with the most room.
    pub(super) fn roomiest(&self) -> Option<LinkId> {
        let open = self.links.iter().filter(|room| room.free > 0 && room.holding.is_none());
        open.max_by_key(|room| room.free).map(|room| room.link)
    }

    /// A link that has room for more of the message it is in the middle of, or of one that came back from it.
    pub(super) fn amid(&self) -> Option<(LinkId, AccountId, MessageId)> {
        // A lone link takes what came back in its turn: nobody else could.
        let alone = self.links.len() == 1;
        let next_of = |room: &LinkRoom| {
            let kept = || room.kept.first().copied().filter(|_| !alone);
            room.holding.or_else(kept).map(|(message, account)| (room.link, account, message))
        };
        self.links.iter().filter(|room| room.free > 0).find_map(next_of)
    }

    /// A link was given a part of a long message.
    pub(super) fn gave(&mut self, link: LinkId, job: &Job) {
        if let Some(room) = self.find(link) {
            room.let_go(job.message);
            let more = job.part.get() < job.parts;
            room.holding = more.then_some((job.message, job.account));
        }
    }

    /// There is no more of this message for the link.
    pub(super) fn let_go(&mut self, link: LinkId, message: MessageId) {
        if let Some(room) = self.find(link) {
            room.let_go(message);
        }
    }

    /// Must this part leave over another link than this one?
    pub(super) fn belongs_elsewhere(&self, job: &Job, link: LinkId) -> bool {
        job.parts > 1 && self.links.iter().any(|room| room.link != link && room.claims(job.message))
    }
}

impl Lanes {
    pub fn link_opened(&mut self, carrier: CarrierId, link: LinkId) {
        self.carriers.entry(carrier).or_default().rooms.links.push(LinkRoom {
            link,
            free: 0,
            holding: None,
            kept: Vec::new(),
        });
    }

    /// What it held goes on over any other.
    pub fn link_closed(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(lanes) = self.carriers.get_mut(&carrier) {
            lanes.rooms.links.retain(|room| room.link != link);
        }
    }

    /// A link can take this many parts more than it was last known to.
    pub fn grant(&mut self, carrier: CarrierId, link: LinkId, slots: u32) {
        if let Some(room) = self.room(carrier, link) {
            room.free = room.free.saturating_add(slots);
        }
    }

    /// A link takes nothing more until it grants room again.
    pub fn revoke(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(room) = self.room(carrier, link) {
            room.free = 0;
        }
    }

    pub fn use_slot(&mut self, carrier: CarrierId, link: LinkId) {
        let room =
            self.room(carrier, link).expect("a slot is used on the link that was just found to have one");
        room.free = room.free.checked_sub(1).expect("no slot is used twice");
    }

    /// A part comes back from a link that did not send it or was told to slow down. It takes up its old place; if it is
    /// one of several it goes out over the same link again, for as long as that is open.
    pub fn put_back_from(&mut self, link: Option<LinkId>, job: Job) {
        if let Some(room) = link.and_then(|link| self.room(job.carrier, link)) {
            room.came_back(&job);
        }
        self.put_back(job);
    }

    /// Every link's room, to go back to if the batch comes to nothing.
    pub fn rooms(&self) -> Vec<(CarrierId, LinkRoom)> {
        let rooms = |(carrier, lanes): (&CarrierId, &CarrierLanes)| {
            let carrier = *carrier;
            lanes.rooms.links.iter().map(move |room| (carrier, room.clone())).collect::<Vec<_>>()
        };
        self.carriers.iter().flat_map(rooms).collect()
    }

    pub fn restore_rooms(&mut self, rooms: Vec<(CarrierId, LinkRoom)>) {
        self.carriers.values_mut().for_each(|lanes| lanes.rooms.links.clear());
        for (carrier, room) in rooms {
            self.carriers.entry(carrier).or_default().rooms.links.push(room);
        }
    }

    fn room(&mut self, carrier: CarrierId, link: LinkId) -> Option<&mut LinkRoom> {
        self.carriers.get_mut(&carrier)?.rooms.find(link)
    }
}

//! Who sends next. For each carrier, one lane per account in order of acceptance; accounts take turns, so that a
//! customer with a million messages waiting does not hold up one with a single message. Pure: the writer tells it what
//! was accepted and which links have room, and it says which part goes to which link.
//!
//! Memory is bounded: a lane holds its head only, and none at all for a carrier without links. What does not fit is
//! *spilled*: it stands in the store and is read back in order. While a lane is spilled nothing new enters its memory,
//! so nothing overtakes.

use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use std::collections::{HashMap, VecDeque};

use crate::ops::{Job, LinkId};

/// Jobs that all lanes of the process together may hold in memory.
pub const JOBS_IN_MEMORY_MAX: usize = 20_000;
/// Parts one account may send before it is the next account's turn.
const TURN_PARTS: u32 = 16;
/// Read back at least a whole turn at once, however many lanes share the memory.
const REFILL_MIN: usize = TURN_PARTS as usize;

/// Where an accepted part was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Memory,
    /// Not held: it must stand in the store as queued, and will be read back.
    Spilled,
}

/// The place in a lane up to which the store has been read: (message, part).
pub(crate) type Cursor = (MessageId, PartNo);

/// What there is to send for a carrier.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    Job(Box<Job>),
    /// This lane's memory is used up: read on from the store, then ask again.
    Refill(Refill),
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refill {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub after: Option<Cursor>,
    pub limit: usize,
}

#[derive(Default)]
struct Lane {
    /// In order of acceptance.
    jobs: VecDeque<Job>,
    /// Set while the store holds more than memory does: everything that waits behind this place.
    spilled: Option<Option<Cursor>>,
}

/// How many parts a link can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkRoom {
    link: LinkId,
    free: u32,
}

#[derive(Default)]
struct CarrierLanes {
    lanes: HashMap<AccountId, Lane>,
    /// Accounts with something waiting, the one whose turn it is in front.
    turns: VecDeque<AccountId>,
    turn_left: u32,
    links: Vec<LinkRoom>,
}

#[derive(Default)]
pub(crate) struct Lanes {
    carriers: HashMap<CarrierId, CarrierLanes>,
    lanes: usize,
    in_memory: usize,
}

impl Lanes {
    /// Forgets every lane, not the links' room. What waits must then be announced again with [`Lanes::spill`].
    pub(crate) fn forget_waiting(&mut self) {
        for carrier in self.carriers.values_mut() {
            carrier.lanes.clear();
            carrier.turns.clear();
        }
        self.lanes = 0;
        self.in_memory = 0;
    }

    /// Says that the store holds queued parts of this lane from its beginning on.
    pub(crate) fn spill(&mut self, carrier: CarrierId, account: AccountId) {
        self.lane(carrier, account).spilled = Some(None);
    }

    /// A freshly accepted part takes its place at the end of its lane.
    pub(crate) fn offer(&mut self, job: Job) -> Placed {
        let lane_max = self.lane_max();
        let linked = self.carriers.get(&job.carrier).is_some_and(|carrier| !carrier.links.is_empty());
        let lane = self.lane(job.carrier, job.account);
        if lane.spilled.is_some() {
            return Placed::Spilled;
        }
        if !linked || lane.jobs.len() >= lane_max {
            lane.spilled = Some(lane.jobs.back().map(cursor));
            return Placed::Spilled;
        }
        lane.jobs.push_back(job);
        self.in_memory += 1;
        Placed::Memory
    }

    /// A part that had its slot and did not use it, or whose waiting time is over, takes up its old place: before
    /// everything that was accepted after it.
    pub(crate) fn put_back(&mut self, job: Job) {
        let lane = self.lane(job.carrier, job.account);
        if lane.spilled.is_some_and(|read_to| read_to < Some(cursor(&job))) {
            // It stands in the store behind the place up to which the lane has been read, and will be read in order.
            return;
        }
        let place = lane.jobs.partition_point(|waiting| cursor(waiting) < cursor(&job));
        lane.jobs.insert(place, job);
        self.in_memory += 1;
    }

    /// Gives memory back once the lanes hold more than they may: the tail of the longest ones is read from the store
    /// again when its time comes. Only between batches, when every job has its row.
    pub(crate) fn trim(&mut self) {
        if self.in_memory <= JOBS_IN_MEMORY_MAX {
            return;
        }
        let lane_max = self.lane_max();
        for lane in self.carriers.values_mut().flat_map(|carrier| carrier.lanes.values_mut()) {
            let Some(dropped) = lane.jobs.len().checked_sub(lane_max).filter(|dropped| *dropped > 0) else {
                continue;
            };
            lane.jobs.truncate(lane_max);
            let kept = lane.jobs.back().map(cursor);
            lane.spilled = Some(lane.spilled.map_or(kept, |before| before.min(kept)));
            self.in_memory -= dropped;
        }
    }

    /// Takes the next part for a carrier, turn by turn.
    pub(crate) fn next(&mut self, carrier: CarrierId) -> Next {
        let lane_max = self.lane_max();
        let Some(lanes) = self.carriers.get_mut(&carrier) else { return Next::Nothing };
        while let Some(&account) = lanes.turns.front() {
            let lane = lanes.lanes.get_mut(&account).expect("an account in turn has a lane");
            if let Some(job) = lane.jobs.pop_front() {
                self.in_memory -= 1;
                lanes.turn_left = lanes.turn_left.saturating_sub(1);
                if lanes.turn_left == 0 {
                    lanes.turns.rotate_left(1);
                    lanes.turn_left = TURN_PARTS;
                }
                return Next::Job(Box::new(job));
            }
            if let Some(after) = lane.spilled {
                return Next::Refill(Refill { carrier, account, after, limit: lane_max.max(REFILL_MIN) });
            }
            lanes.turns.pop_front();
            lanes.turn_left = TURN_PARTS;
            lanes.lanes.remove(&account);
            self.lanes -= 1;
        }
        Next::Nothing
    }

    /// Gives a lane what was read from the store for it. Fewer than asked for means the store has no more.
    pub(crate) fn refill(&mut self, request: Refill, jobs: Vec<Job>) {
        let lane = self.lane(request.carrier, request.account);
        lane.spilled = if jobs.len() < request.limit { None } else { Some(jobs.last().map(cursor)) };
        let read = jobs.len();
        lane.jobs.extend(jobs);
        self.in_memory += read;
    }

    pub(crate) fn link_opened(&mut self, carrier: CarrierId, link: LinkId) {
        self.carriers.entry(carrier).or_default().links.push(LinkRoom { link, free: 0 });
    }

    pub(crate) fn link_closed(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(lanes) = self.carriers.get_mut(&carrier) {
            lanes.links.retain(|room| room.link != link);
        }
    }

    /// A link takes nothing more until it grants room again.
    pub(crate) fn revoke(&mut self, carrier: CarrierId, link: LinkId) {
        if let Some(lanes) = self.carriers.get_mut(&carrier)
            && let Some(room) = lanes.links.iter_mut().find(|room| room.link == link)
        {
            room.free = 0;
        }
    }

    /// A link can take this many parts more than it was last known to.
    pub(crate) fn grant(&mut self, carrier: CarrierId, link: LinkId, slots: u32) {
        if let Some(lanes) = self.carriers.get_mut(&carrier)
            && let Some(room) = lanes.links.iter_mut().find(|room| room.link == link)
        {
            room.free += slots;
        }
    }

    /// The carrier's link with the most room, if one has any.
    pub(crate) fn roomiest(&self, carrier: CarrierId) -> Option<LinkId> {
        let links = &self.carriers.get(&carrier)?.links;
        links.iter().filter(|room| room.free > 0).max_by_key(|room| room.free).map(|room| room.link)
    }

    pub(crate) fn use_slot(&mut self, carrier: CarrierId, link: LinkId) {
        let room = self
            .carriers
            .get_mut(&carrier)
            .and_then(|lanes| lanes.links.iter_mut().find(|room| room.link == link))
            .expect("a slot is used on the link that was just found to have one");
        room.free = room.free.checked_sub(1).expect("no slot is used twice");
    }

    /// Every link's room, to go back to if the batch comes to nothing.
    pub(crate) fn rooms(&self) -> Vec<(CarrierId, LinkRoom)> {
        let rooms = |(carrier, lanes): (&CarrierId, &CarrierLanes)| {
            let carrier = *carrier;
            lanes.links.iter().map(move |room| (carrier, *room)).collect::<Vec<_>>()
        };
        self.carriers.iter().flat_map(rooms).collect()
    }

    pub(crate) fn restore_rooms(&mut self, rooms: Vec<(CarrierId, LinkRoom)>) {
        self.carriers.values_mut().for_each(|lanes| lanes.links.clear());
        for (carrier, room) in rooms {
            self.carriers.entry(carrier).or_default().links.push(room);
        }
    }

    /// Carriers that have both a link with room and something waiting.
    pub(crate) fn sendable(&self) -> Vec<CarrierId> {
        let ready =
            |lanes: &CarrierLanes| !lanes.turns.is_empty() && lanes.links.iter().any(|room| room.free > 0);
        self.carriers.iter().filter(|(_, lanes)| ready(lanes)).map(|(carrier, _)| *carrier).collect()
    }

    pub(crate) fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// Memory is shared out evenly between the lanes there are.
    fn lane_max(&self) -> usize {
        (JOBS_IN_MEMORY_MAX / self.lanes.max(1)).max(1)
    }

    /// The lane, made if need be. A lane exists exactly while its account is in turn.
    fn lane(&mut self, carrier: CarrierId, account: AccountId) -> &mut Lane {
        let CarrierLanes { lanes, turns, turn_left, .. } = self.carriers.entry(carrier).or_default();
        lanes.entry(account).or_insert_with(|| {
            if turns.is_empty() {
                *turn_left = TURN_PARTS;
            }
            turns.push_back(account);
            self.lanes += 1;
            Lane::default()
        })
    }
}

fn cursor(job: &Job) -> Cursor {
    (job.message, job.part)
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;

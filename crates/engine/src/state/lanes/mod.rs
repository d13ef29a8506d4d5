//! Who sends next. For each carrier, one lane per account in order of acceptance; accounts take turns, so that a
//! customer with a million messages waiting does not hold up one with a single message. The parts of one message go to
//! one link, back to back. Pure: the writer tells it what was accepted and which links have link_slots, and it says which part
//! goes to which link.
//!
//! Memory is bounded: a lane holds its head only, and none at all for a carrier without links. What does not fit is
//! *spilled*: it stands in the store and is read back in order. While a lane is spilled nothing new enters its memory,
//! so nothing overtakes.

mod link_slots;

use crate::maps::HashMap;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use link_slots::CarrierLinks;
use std::collections::VecDeque;

use crate::ops::{Job, LinkId};
use crate::tables::{Cursor, Refill};

/// Jobs that all lanes of the process together may hold in memory.
pub const JOBS_IN_MEMORY_MAX: usize = 20_000;
/// Parts one account may send before it is the next account's turn.
const TURN_PARTS: u32 = 16;
/// Read back at least a whole turn at once, however many lanes share the memory.
const REFILL_MIN: usize = TURN_PARTS as usize;

/// Where an accepted part was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    Memory,
    /// Not held: it must stand in the store as queued, and will be read back.
    Spilled,
}

/// What there is to send for a carrier.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// To be given to this link.
    Job(LinkId, Box<Job>),
    /// This lane's memory is used up: read on from the store, then ask again.
    Refill(Refill),
    Nothing,
}

/// A lane of which nothing is in memory: it is read on from the store behind this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    pub account: AccountId,
    pub after: Option<Cursor>,
}

#[derive(Default)]
struct Lane {
    /// In order of acceptance.
    jobs: VecDeque<Job>,
    /// Set while the store holds more than memory does: everything that waits behind this place.
    spilled: Option<Option<Cursor>>,
}

/// A part looked for in a lane.
enum Sought {
    /// At this place in its memory.
    At(usize),
    /// Perhaps in the store, behind this place.
    Stored(Option<Cursor>),
    Nowhere,
}

impl Lane {
    /// The first part that does not belong to another link.
    fn first(&self, belongs_elsewhere: impl Fn(&Job) -> bool) -> Sought {
        let mut place = 0;
        while let Some(job) = self.jobs.get(place) {
            if !belongs_elsewhere(job) {
                return Sought::At(place);
            }
            place += self.jobs.range(place..).take_while(|other| other.message == job.message).count();
        }
        self.spilled.map_or(Sought::Nowhere, Sought::Stored)
    }

    /// The first part of this message.
    fn part_of(&self, message: MessageId) -> Sought {
        let place = self.jobs.partition_point(|job| job.message < message);
        if self.jobs.get(place).is_some_and(|job| job.message == message) {
            return Sought::At(place);
        }
        match self.spilled {
            Some(after) if after.is_none_or(|(read_to, _)| read_to <= message) => Sought::Stored(after),
            Some(_) | None => Sought::Nowhere,
        }
    }
}

#[derive(Default)]
struct CarrierLanes {
    lanes: HashMap<AccountId, Lane>,
    /// Accounts with something waiting, the one whose turn it is in front.
    turns: VecDeque<AccountId>,
    turn_left: u32,
    links: CarrierLinks,
}

/// What a carrier's lanes come up with.
enum Picked {
    Job(LinkId, Box<Job>),
    Stored(AccountId, Option<Cursor>),
    Nothing,
}

impl CarrierLanes {
    /// More of what a link has begun with.
    fn continue_message(&mut self) -> Picked {
        while let Some((link, account, message)) = self.links.message_in_progress() {
            if let Some(lane) = self.lanes.get_mut(&account) {
                match lane.part_of(message) {
                    Sought::At(place) => {
                        let job = lane.jobs.remove(place).expect("the place it was found at");
                        return self.give(link, account, job);
                    }
                    Sought::Stored(after) => return Picked::Stored(account, after),
                    Sought::Nowhere => {}
                }
            }
            // The rest has ended, waits for a time or went to another carrier.
            self.links.release(link, message);
        }
        Picked::Nothing
    }

    /// The next part of the account whose turn it is, for the link with the most link_slots.
    fn start_message(&mut self) -> Picked {
        let Some(link) = self.links.link_with_most_slots() else { return Picked::Nothing };
        for _ in 0..self.turns.len() {
            let Some(&account) = self.turns.front() else { break };
            let lane = self.lanes.get_mut(&account).expect("an account in turn has a lane");
            match lane.first(|job| self.links.belongs_elsewhere(job, link)) {
                Sought::At(place) => {
                    let job = lane.jobs.remove(place).expect("the place it was found at");
                    return self.give(link, account, job);
                }
                Sought::Stored(after) => return Picked::Stored(account, after),
                Sought::Nowhere => {
                    self.turns.pop_front();
                    self.turn_left = TURN_PARTS;
                    if lane.jobs.is_empty() {
                        self.lanes.remove(&account);
                    } else {
                        // All it has is for links without link_slots. It has its turn again when the others had theirs.
                        self.turns.push_back(account);
                    }
                }
            }
        }
        Picked::Nothing
    }

    fn give(&mut self, link: LinkId, account: AccountId, job: Job) -> Picked {
        if job.submits() > 1 {
            self.links.note_given(link, &job);
        }
        // A message that is longer than its account's turn goes on without one.
        if self.turns.front() == Some(&account) {
            self.turn_left = self.turn_left.saturating_sub(1);
            if self.turn_left == 0 {
                self.turns.rotate_left(1);
                self.turn_left = TURN_PARTS;
            }
        }
        Picked::Job(link, Box::new(job))
    }
}

pub struct Lanes {
    carriers: HashMap<CarrierId, CarrierLanes>,
    lanes: usize,
    in_memory: usize,
    limit: usize,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes::with_limit(JOBS_IN_MEMORY_MAX)
    }
}

impl Lanes {
    /// Makes lanes that hold so many jobs in memory together.
    pub fn with_limit(limit: usize) -> Lanes {
        Lanes { carriers: HashMap::default(), lanes: 0, in_memory: 0, limit }
    }

    /// Forgets every lane, not the links' link_slots. What waits must then be announced again with [`Lanes::spill`].
    pub fn clear_lanes(&mut self) {
        for carrier in self.carriers.values_mut() {
            carrier.lanes.clear();
            carrier.turns.clear();
        }
        self.lanes = 0;
        self.in_memory = 0;
    }

    /// Says that the store holds queued parts of this lane from its beginning on.
    pub fn spill(&mut self, carrier: CarrierId, account: AccountId) {
        self.lane(carrier, account).spilled = Some(None);
    }

    /// A freshly accepted part takes its place at the end of its lane.
    pub fn enqueue(&mut self, job: Job) -> Placed {
        let lane_max = self.lane_max();
        let linked = self.has_links(job.carrier);
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
    pub fn requeue(&mut self, job: Job) {
        let lane = self.lane(job.carrier, job.account);
        if lane.spilled.is_some_and(|read_to| read_to < Some(cursor(&job))) {
            // It stands in the store behind the place up to which the lane has been read, and will be read in order.
            return;
        }
        let place = lane.jobs.partition_point(|waiting| cursor(waiting) < cursor(&job));
        if lane.jobs.get(place).is_some_and(|waiting| cursor(waiting) == cursor(&job)) {
            return;
        }
        lane.jobs.insert(place, job);
        self.in_memory += 1;
    }

    /// A part of a message that comes from another carrier takes its place by the time it was accepted. A carrier without
    /// links holds nothing in memory: then it is read back like the rest.
    pub fn insert_moved(&mut self, job: Job) {
        let linked = self.has_links(job.carrier);
        let lane = self.lane(job.carrier, job.account);
        if !linked && lane.jobs.is_empty() {
            lane.spilled = Some(None);
            return;
        }
        self.requeue(job);
    }

    /// A message is not this carrier's any more.
    pub fn remove_message(&mut self, carrier: CarrierId, account: AccountId, message: MessageId) {
        if let Some(lane) = self.carriers.get_mut(&carrier).and_then(|lanes| lanes.lanes.get_mut(&account)) {
            let first = lane.jobs.partition_point(|job| job.message < message);
            let end = lane.jobs.partition_point(|job| job.message <= message);
            lane.jobs.drain(first..end);
            self.in_memory -= end - first;
        }
    }

    /// The oldest message that a carrier's lanes hold, and the lanes that hold nothing and have to be read first.
    pub fn heads(&self, carrier: CarrierId) -> (Option<MessageId>, Vec<Unread>) {
        let mut oldest: Option<MessageId> = None;
        let mut unread = Vec::new();
        for (account, lane) in self.carriers.get(&carrier).into_iter().flat_map(|lanes| &lanes.lanes) {
            match (lane.jobs.front(), lane.spilled) {
                (Some(job), _) => oldest = Some(oldest.map_or(job.message, |known| known.min(job.message))),
                (None, Some(after)) => unread.push(Unread { account: *account, after }),
                (None, None) => {}
            }
        }
        (oldest, unread)
    }

    /// Gives memory back once the lanes hold more than they may: the tail of the longest ones is read from the store
    /// again when its time comes. Only between batches, when every job has its row.
    pub fn trim(&mut self) {
        if self.in_memory <= self.limit {
            return;
        }
        let lane_max = self.lane_max();
        for lane in self.carriers.values_mut().flat_map(|carrier| carrier.lanes.values_mut()) {
            let Some(dropped) = lane.jobs.len().checked_sub(lane_max).filter(|dropped| *dropped > 0) else {
                continue;
            };
            lane.jobs.truncate(lane_max);
            let returned = lane.jobs.back().map(cursor);
            lane.spilled = Some(lane.spilled.map_or(returned, |before| before.min(returned)));
            self.in_memory -= dropped;
        }
    }

    /// Takes the next part for a carrier's links: first for those in the middle of a message, then turn by turn.
    pub fn next(&mut self, carrier: CarrierId) -> Next {
        let limit = self.lane_max().max(REFILL_MIN);
        let Some(lanes) = self.carriers.get_mut(&carrier) else { return Next::Nothing };
        let before = lanes.lanes.len();
        let next = match lanes.continue_message() {
            Picked::Nothing => lanes.start_message(),
            picked => picked,
        };
        self.lanes -= before - lanes.lanes.len();
        match next {
            Picked::Job(link, job) => {
                self.in_memory -= 1;
                Next::Job(link, job)
            }
            Picked::Stored(account, after) => Next::Refill(Refill { carrier, account, after, limit }),
            Picked::Nothing => Next::Nothing,
        }
    }

    /// Gives a lane what was read from the store for it. Fewer than asked for means the store has no more.
    pub fn refill(&mut self, request: Refill, jobs: Vec<Job>) {
        let lane = self.lane(request.carrier, request.account);
        lane.spilled = if jobs.len() < request.limit { None } else { Some(jobs.last().map(cursor)) };
        let read = jobs.len();
        lane.jobs.extend(jobs);
        self.in_memory += read;
    }

    /// Returns the carriers that have both a link with link_slots and something waiting, in order.
    pub fn sendable(&self) -> Vec<CarrierId> {
        let ready = |lanes: &CarrierLanes| !lanes.turns.is_empty() && lanes.links.has_free_slot();
        let carriers = self.carriers.iter().filter(|(_, lanes)| ready(lanes));
        let mut carriers: Vec<CarrierId> = carriers.map(|(carrier, _)| *carrier).collect();
        carriers.sort_unstable();
        carriers
    }

    pub fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// Returns how many lanes and jobs are counted, and how many there are: the same, unless there is a defect.
    pub fn counted_and_held(&self) -> [(usize, usize); 2] {
        let lanes = || self.carriers.values().flat_map(|carrier| carrier.lanes.values());
        let jobs = lanes().map(|lane| lane.jobs.len()).sum();
        [(self.lanes, self.in_memory), (lanes().count(), jobs)]
    }

    /// Returns whether a part that waits for a slot will have its turn: it is in memory, or will be read from the store.
    pub fn reaches(&self, carrier: CarrierId, account: AccountId, part: Cursor) -> bool {
        let Some(carrier) = self.carriers.get(&carrier) else { return false };
        let is_there = |lane: &Lane| {
            lane.spilled.is_some_and(|read_to| read_to < Some(part))
                || lane.jobs.binary_search_by_key(&part, cursor).is_ok()
        };
        carrier.turns.contains(&account) && carrier.lanes.get(&account).is_some_and(is_there)
    }

    fn has_links(&self, carrier: CarrierId) -> bool {
        self.carriers.get(&carrier).is_some_and(|lanes| !lanes.links.all.is_empty())
    }

    /// Memory is shared out evenly between the lanes there are.
    fn lane_max(&self) -> usize {
        (self.limit / self.lanes.max(1)).max(1)
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
mod tests;

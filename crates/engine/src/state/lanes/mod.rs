//! Lanes decide which part is sent next. Each carrier has one lane per account, in the order of acceptance, and
//! accounts take turns: a customer with a million waiting messages does not delay one with a single message. All parts
//! of a message go to one link, back to back. Lanes are pure: the engine adds parts and free slots, and takes the next
//! part for a link.
//!
//! Memory is bounded: a lane holds only its first parts, and none for a carrier without links. The rest is *spilled*:
//! it is in the table of parts and is read back in order. While a lane is spilled, no new part enters its memory, so no
//! part overtakes another.

mod link_slots;
mod upcoming;

use crate::maps::HashMap;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use link_slots::CarrierLinks;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::ops::{Job, LinkId};
use crate::tables::{Cursor, LaneRead};

/// Jobs that all lanes together hold in memory.
pub const JOBS_IN_MEMORY_MAX: usize = 20_000;
/// Parts that one account sends before the next account's turn.
const TURN_PARTS: u32 = 16;
/// The fewest jobs that are read back at once: a whole turn, however many lanes share the memory.
pub const REFILL_MIN: usize = TURN_PARTS as usize;
/// The most jobs that are read back at once: other commands wait meanwhile.
const REFILL_MAX: usize = 250;

/// Where an accepted part was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    Memory,
    /// Not in memory: its row must be written as queued, and it will be read back.
    Spilled,
}

/// What a carrier can send next.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// Send this job over this link.
    Job(LinkId, Box<Job>),
    /// Read the lane's next jobs from the tables, then call again.
    Refill(LaneRead),
    Nothing,
}

/// A lane of which nothing is in memory, and the place up to which it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    pub account: AccountId,
    pub after: Option<Cursor>,
}

#[derive(Default)]
struct Lane {
    /// In the order of acceptance.
    jobs: VecDeque<Job>,
    /// Set while the tables have more parts than memory: all that wait behind this place.
    spilled: Option<Option<Cursor>>,
}

/// The result of looking for a part in a lane.
enum Sought {
    /// At this index in memory.
    At(usize),
    /// Perhaps in the tables, behind this place.
    Stored(Option<Cursor>),
    Nowhere,
}

impl Lane {
    /// Finds the first part that does not belong to another link.
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

    /// Finds the first part of this message.
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
    /// Accounts that have a lane; the first one has the turn.
    turns: VecDeque<AccountId>,
    turn_left: u32,
    links: CarrierLinks,
}

/// What the lanes of a carrier can send.
enum Picked {
    Job(LinkId, Box<Job>),
    Stored(AccountId, Option<Cursor>),
    Nothing,
}

impl CarrierLanes {
    /// Takes the next part of a message that a link must continue.
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
            // The rest has ended, waits for a time, or moved to another carrier.
            self.links.release(link, message);
        }
        Picked::Nothing
    }

    /// Takes the next part of the account that has the turn, for the link with the most free slots.
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
                        // All its parts are for links without slots. It has its next turn after the others.
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
        // A message that is longer than its account's turn is sent to its end.
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
    /// Creates lanes that together hold at most `limit` jobs in memory.
    pub fn with_limit(limit: usize) -> Lanes {
        Lanes { carriers: HashMap::default(), lanes: 0, in_memory: 0, limit }
    }

    /// Empties every lane, and keeps the slots of the links. Lanes with waiting parts must be announced by
    /// [`Lanes::spill`].
    pub fn clear_lanes(&mut self) {
        for carrier in self.carriers.values_mut() {
            carrier.lanes.clear();
            carrier.turns.clear();
        }
        self.lanes = 0;
        self.in_memory = 0;
    }

    /// Notes that the tables have waiting parts of this lane from its beginning on.
    pub fn spill(&mut self, carrier: CarrierId, account: AccountId) {
        self.lane(carrier, account).spilled = Some(None);
    }

    /// Adds an accepted part at the end of its lane.
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

    /// Puts a part back that was not sent, or whose due time has come, at its old place: before everything accepted
    /// later.
    pub fn requeue(&mut self, job: Job) {
        let lane = self.lane(job.carrier, job.account);
        if lane.spilled.is_some_and(|read_to| read_to < Some(cursor(&job))) {
            // Its row is behind the place up to which the lane was read: it will be read in order.
            return;
        }
        let place = lane.jobs.partition_point(|waiting| cursor(waiting) < cursor(&job));
        if lane.jobs.get(place).is_some_and(|waiting| cursor(waiting) == cursor(&job)) {
            return;
        }
        lane.jobs.insert(place, job);
        self.in_memory += 1;
    }

    /// Adds a part of a message that moved here from another carrier, by the time of its acceptance. A carrier without
    /// links holds nothing in memory: then the part is read back from the tables.
    pub fn insert_moved(&mut self, job: Job) {
        let linked = self.has_links(job.carrier);
        let lane = self.lane(job.carrier, job.account);
        if !linked && lane.jobs.is_empty() {
            lane.spilled = Some(None);
            return;
        }
        self.requeue(job);
    }

    /// Removes a message from its lane.
    pub fn remove_message(&mut self, carrier: CarrierId, account: AccountId, message: MessageId) {
        if let Some(lane) = self.carriers.get_mut(&carrier).and_then(|lanes| lanes.lanes.get_mut(&account)) {
            let first = lane.jobs.partition_point(|job| job.message < message);
            let end = lane.jobs.partition_point(|job| job.message <= message);
            lane.jobs.drain(first..end);
            self.in_memory -= end - first;
        }
    }

    /// Returns the oldest message in memory of a carrier's lanes, and the lanes that must be read to know theirs.
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

    /// Drops jobs from memory beyond the limit, from the ends of the longest lanes. They are read back in time. Only
    /// between batches, when every job has its row.
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

    /// Takes the next part for a carrier's links: first of messages that a link must continue, then by turns.
    pub fn next(&mut self, carrier: CarrierId) -> Next {
        let limit = self.lane_max().clamp(REFILL_MIN, REFILL_MAX);
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
            Picked::Stored(account, after) => Next::Refill(LaneRead { carrier, account, after, limit }),
            Picked::Nothing => Next::Nothing,
        }
    }

    /// Adds the jobs that were read for a lane. Fewer than the limit mean that the tables have no more.
    pub fn refill(&mut self, request: LaneRead, jobs: Vec<Job>) {
        let lane = self.lane(request.carrier, request.account);
        lane.spilled = if jobs.len() < request.limit { None } else { Some(jobs.last().map(cursor)) };
        let read = jobs.len();
        lane.jobs.extend(jobs);
        self.in_memory += read;
    }

    /// Returns the carriers that have both a free slot and a waiting part, in order.
    pub fn sendable(&self) -> Vec<CarrierId> {
        let ready = |lanes: &CarrierLanes| !lanes.turns.is_empty() && lanes.links.has_free_slot();
        let carriers = self.carriers.iter().filter(|(_, lanes)| ready(lanes));
        let mut carriers: Vec<CarrierId> = carriers.map(|(carrier, _)| *carrier).collect();
        carriers.sort_unstable();
        carriers
    }

    /// Returns the carriers that have links and waiting parts, in order. After a dispatch their links have no free slot.
    pub fn short_of_slots(&self) -> Vec<CarrierId> {
        let waiting = |lanes: &CarrierLanes| !lanes.turns.is_empty() && !lanes.links.all.is_empty();
        let carriers = self.carriers.iter().filter(|(_, lanes)| waiting(lanes));
        let mut carriers: Vec<CarrierId> = carriers.map(|(carrier, _)| *carrier).collect();
        carriers.sort_unstable();
        carriers
    }

    pub fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// Returns how many lanes and jobs are counted, and how many there are. Equal unless there is a defect.
    pub fn counted_and_held(&self) -> [(usize, usize); 2] {
        let lanes = || self.carriers.values().flat_map(|carrier| carrier.lanes.values());
        let jobs = lanes().map(|lane| lane.jobs.len()).sum();
        [(self.lanes, self.in_memory), (lanes().count(), jobs)]
    }

    /// Whether a part that waits for a slot will have its turn: it is in memory, or will be read.
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

    /// Returns how many jobs a lane may hold: all lanes share the memory evenly.
    fn lane_max(&self) -> usize {
        (self.limit / self.lanes.max(1)).max(1)
    }

    /// Returns a lane. Creates it if needed: a lane exists exactly as long as its account takes turns.
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

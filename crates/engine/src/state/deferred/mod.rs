//! Parts that wait for a time instead of a slot: retries after a temporary error, and resends of parts in doubt. Each
//! has its due time in the table of parts. The soonest parts of each lane are in memory; the others are read when their
//! time comes. So any number of them costs disk, not memory, and lanes do not delay each other.

use crate::maps::HashMap;
use crate::tables::{DueKey, DueRead, MessageKey};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::time::Timestamp;
use std::collections::{BTreeSet, VecDeque};

/// Deferred parts in memory between batches. Lanes share it evenly; each has at least one.
pub const DEFERRED_IN_MEMORY_MAX: usize = 10_000;

/// A part and its due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuePart {
    pub at: Timestamp,
    pub message: MessageId,
    pub part: PartNo,
    pub carrier: CarrierId,
    pub account: AccountId,
}

impl DuePart {
    pub fn new(key: MessageKey, part: PartNo, at: Timestamp) -> DuePart {
        let MessageKey { carrier, account, message } = key;
        DuePart { at, message, part, carrier, account }
    }
}

/// The deferred parts of one account at one carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeferredLane {
    pub carrier: CarrierId,
    pub account: AccountId,
}

/// The result of a lane's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextDue {
    Part(DuePart),
    /// The next parts must be read from the tables first.
    Read(DueRead),
    Nothing,
}

#[derive(Default)]
struct Waiting {
    /// The soonest parts. May include parts whose message has ended or moved since; that is noticed when they are due.
    soonest: BTreeSet<DueKey>,
    /// The tables may have more parts behind this key.
    stored_after: Option<Option<DueKey>>,
}

impl Waiting {
    /// Returns when the lane must have a turn: a part is due, or the tables must be read.
    fn next_at(&self) -> Option<Timestamp> {
        let read_at = || self.stored_after.map(|after| after.map_or(Timestamp::EPOCH, |after| after.at));
        self.soonest.first().map(|first| first.at).or_else(read_at)
    }
}

pub struct Deferred {
    lanes: HashMap<DeferredLane, Waiting>,
    /// Every lane by [`Waiting::next_at`].
    clock: BTreeSet<(Timestamp, DeferredLane)>,
    in_memory: usize,
    /// The lane that had the last turn.
    last_turn: Option<DeferredLane>,
    limit: usize,
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred::with_limit(DEFERRED_IN_MEMORY_MAX)
    }
}

impl Deferred {
    /// Creates empty lanes that hold at most `limit` parts in memory.
    pub fn with_limit(limit: usize) -> Deferred {
        let (lanes, clock) = (HashMap::default(), BTreeSet::new());
        Deferred { lanes, clock, in_memory: 0, last_turn: None, limit }
    }

    /// Adds a deferred part. Its row must have the same due time.
    pub fn push(&mut self, due: DuePart) {
        let DuePart { at, message, part, carrier, account } = due;
        let key = DueKey { at, message, part };
        self.change(DeferredLane { carrier, account }, |waiting| {
            if waiting.stored_after.is_none_or(|after| Some(key) <= after) {
                waiting.soonest.insert(key);
            }
        });
    }

    /// Notes that the tables may have deferred parts of this lane, and that none is in memory.
    pub fn spill(&mut self, lane: DeferredLane) {
        self.change(lane, |waiting| *waiting = Waiting { stored_after: Some(None), ..Waiting::default() });
    }

    /// Returns the lanes that have a part due, in the order of their turns.
    pub fn due_lanes(&self, now: Timestamp) -> VecDeque<DeferredLane> {
        let mut lanes: Vec<_> =
            self.clock.iter().take_while(|(at, _)| *at <= now).map(|(_, lane)| *lane).collect();
        lanes.sort_unstable();
        let had_turn = self.last_turn.map_or(0, |last| lanes.partition_point(|lane| *lane <= last));
        lanes.rotate_left(had_turn);
        lanes.into()
    }

    /// Takes the next due part of a lane.
    pub fn next(&mut self, lane: DeferredLane, now: Timestamp) -> NextDue {
        self.last_turn = Some(lane);
        let Some(waiting) = self.lanes.get(&lane) else { return NextDue::Nothing };
        let DeferredLane { carrier, account } = lane;
        match (waiting.soonest.first(), waiting.stored_after) {
            (Some(&first), _) if first.at <= now => {
                self.change(lane, |waiting| {
                    waiting.soonest.pop_first();
                });
                let DueKey { at, message, part } = first;
                NextDue::Part(DuePart { at, message, part, carrier, account })
            }
            (None, Some(after)) => NextDue::Read(DueRead { carrier, account, after, limit: self.lane_max() }),
            (Some(_), _) | (None, None) => NextDue::Nothing,
        }
    }

    /// Adds what was read for a lane. Fewer parts than the limit mean that the tables have no more.
    pub fn refill(&mut self, read: DueRead, found: Vec<DueKey>) {
        let DueRead { carrier, account, limit, .. } = read;
        self.change(DeferredLane { carrier, account }, |waiting| {
            waiting.stored_after = (found.len() >= limit).then(|| found.last().copied());
            waiting.soonest.extend(found);
        });
    }

    /// Drops parts from memory beyond the limit. Only between batches.
    pub fn trim(&mut self) {
        if self.in_memory <= self.limit {
            return;
        }
        let lane_max = self.lane_max();
        for waiting in self.lanes.values_mut().filter(|waiting| waiting.soonest.len() > lane_max) {
            while waiting.soonest.len() > lane_max {
                waiting.soonest.pop_last();
                self.in_memory -= 1;
            }
            waiting.stored_after = Some(waiting.soonest.last().copied());
        }
    }

    /// Returns when the next part is due, or the tables must be read.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.clock.first().map(|(at, _)| *at)
    }

    /// Whether parts of a carrier may be deferred. The messages of all of them may have ended or moved since.
    pub fn has_parts(&self, carrier: CarrierId) -> bool {
        self.lanes.keys().any(|lane| lane.carrier == carrier)
    }

    pub fn clear(&mut self) {
        *self = Deferred { last_turn: self.last_turn, ..Deferred::with_limit(self.limit) };
    }

    /// Returns how many parts in memory are counted, and how many there are. Equal unless there is a defect.
    pub fn counted_and_held(&self) -> (usize, usize) {
        (self.in_memory, self.lanes.values().map(|waiting| waiting.soonest.len()).sum())
    }

    /// Whether a deferred part will be found when it is due: it is in memory, or will be read.
    pub fn reaches(&self, lane: DeferredLane, key: DueKey) -> bool {
        let is_there = |waiting: &Waiting| {
            waiting.soonest.contains(&key) || waiting.stored_after.is_some_and(|after| Some(key) > after)
        };
        let is_timed =
            |waiting: &Waiting| waiting.next_at().is_some_and(|at| self.clock.contains(&(at, lane)));
        self.lanes.get(&lane).is_some_and(|waiting| is_there(waiting) && is_timed(waiting))
    }

    /// Returns how many parts a lane may hold: all lanes share the memory evenly.
    fn lane_max(&self) -> usize {
        (self.limit / self.lanes.len().max(1)).max(1)
    }

    /// Changes a lane. Creates it first if needed, and removes it if it is empty afterwards.
    fn change(&mut self, lane: DeferredLane, change: impl FnOnce(&mut Waiting)) {
        let waiting = self.lanes.entry(lane).or_default();
        let (before_at, before) = (waiting.next_at(), waiting.soonest.len());
        change(waiting);
        let (next_at, now) = (waiting.next_at(), waiting.soonest.len());
        self.in_memory = self.in_memory - before + now;
        if next_at != before_at {
            before_at.map(|at| self.clock.remove(&(at, lane)));
            next_at.map(|at| self.clock.insert((at, lane)));
        }
        if next_at.is_none() {
            self.lanes.remove(&lane);
        }
    }
}

#[cfg(test)]
mod tests;

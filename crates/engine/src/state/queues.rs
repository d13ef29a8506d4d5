//! The lengths of the carriers' queues and what waits of each account, counted as parts change, so that millions of parts need no
//! scan.

use crate::maps::HashMap;
use crate::ops::{CarrierQueue, DeferredParts};
use crate::state::deferred::Deferred;
use crate::state::lanes::{Lanes, Unread};
use crate::tables::{MessageKey, TableError};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::lifecycle::{Part, PartState};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;

/// Parts of one carrier that it has not accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    waiting: u64,
    in_flight: u64,
}

impl Counts {
    fn of(&mut self, state: PartState) -> Option<&mut u64> {
        match state {
            PartState::Queued | PartState::InDoubt => Some(&mut self.waiting),
            PartState::Sending => Some(&mut self.in_flight),
            PartState::Sent
            | PartState::Presumed
            | PartState::Enroute
            | PartState::Overdue
            | PartState::Delivered
            | PartState::Undeliverable
            | PartState::Expired
            | PartState::Rejected => None,
        }
    }
}

/// Whose queue a part is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOwner {
    pub carrier: CarrierId,
    pub account: AccountId,
}

impl From<MessageKey> for QueueOwner {
    fn from(MessageKey { carrier, account, .. }: MessageKey) -> QueueOwner {
        QueueOwner { carrier, account }
    }
}

#[derive(Default)]
pub struct Queues {
    /// The counts of all carriers. There are few: a linear search is faster than hashing.
    carriers: Vec<(CarrierId, Counts)>,
    /// The parts that wait of each account that has some, at all carriers together.
    waiting: HashMap<AccountId, u64>,
}

impl Queues {
    pub fn clear(&mut self) {
        self.carriers.clear();
        self.waiting.clear();
    }

    /// Returns the waiting and in-flight parts of each carrier that has some, in order.
    pub fn rows(&self) -> Vec<(CarrierId, u64, u64)> {
        let rows = self.carriers.iter().map(|(carrier, counts)| (*carrier, counts.waiting, counts.in_flight));
        let mut rows: Vec<_> =
            rows.filter(|(_, waiting, in_flight)| (*waiting, *in_flight) != (0, 0)).collect();
        rows.sort_unstable();
        rows
    }

    /// Returns the waiting parts of each account that has some, in order.
    pub fn waiting_rows(&self) -> Vec<(AccountId, u64)> {
        let mut rows: Vec<_> = self.waiting.iter().map(|(account, parts)| (*account, *parts)).collect();
        rows.sort_unstable();
        rows
    }

    /// Returns how many parts of an account wait.
    pub fn waiting_of(&self, account: AccountId) -> u64 {
        self.waiting.get(&account).copied().unwrap_or(0)
    }

    pub fn add(&mut self, owner: QueueOwner, state: PartState, parts: u64) {
        if let Some(count) = self.counts(owner.carrier).of(state) {
            *count += parts;
        }
        if is_waiting(state) && parts > 0 {
            *self.waiting.entry(owner.account).or_default() += parts;
        }
    }

    pub fn remove(&mut self, owner: QueueOwner, state: PartState) {
        if let Some(count) = self.counts(owner.carrier).of(state) {
            *count = count.checked_sub(1).expect("a part is counted before it is gone");
        }
        if is_waiting(state) {
            self.remove_waiting(owner.account);
        }
    }

    /// Stops counting a part that is set aside. Its row may differ from what was counted.
    pub fn forget(&mut self, owner: QueueOwner, state: PartState) {
        if let Some(count) = self.counts(owner.carrier).of(state) {
            *count = count.saturating_sub(1);
        }
        if is_waiting(state) {
            self.remove_waiting(owner.account);
        }
    }

    /// Counts a part under its new state.
    pub fn changed(&mut self, owner: QueueOwner, was: PartState, now: PartState) {
        self.remove(owner, was);
        self.add(owner, now, 1);
    }

    /// Stops counting the parts of a message that has ended.
    pub fn ended(&mut self, owner: QueueOwner, parts: &[Part]) {
        parts.iter().for_each(|part| self.remove(owner, part.state));
    }

    fn remove_waiting(&mut self, account: AccountId) {
        if let Entry::Occupied(mut parts) = self.waiting.entry(account) {
            *parts.get_mut() -= 1;
            if *parts.get() == 0 {
                parts.remove();
            }
        }
    }

    /// Returns the queue of each carrier that ever had parts.
    pub fn snapshots(&self, lanes: &Lanes, deferred: &Deferred) -> Vec<QueueSnapshot> {
        let snapshot = |(carrier, counts): &(CarrierId, Counts)| {
            let (oldest, unread) = lanes.heads(*carrier);
            let oldest_for_slot = oldest.map(MessageId::accepted_at);
            let queue = CarrierQueue {
                carrier: *carrier,
                waiting: counts.waiting,
                in_flight: counts.in_flight,
                deferred: 0,
                oldest: oldest_for_slot,
                oldest_for_slot,
            };
            QueueSnapshot { queue, unread, has_deferred: deferred.has_parts(*carrier) }
        };
        self.carriers.iter().map(snapshot).collect()
    }

    fn counts(&mut self, carrier: CarrierId) -> &mut Counts {
        let place = self.carriers.iter().position(|(known, _)| *known == carrier).unwrap_or_else(|| {
            self.carriers.push((carrier, Counts::default()));
            self.carriers.len() - 1
        });
        &mut self.carriers[place].1
    }
}

fn is_waiting(state: PartState) -> bool {
    matches!(state, PartState::Queued | PartState::InDoubt)
}

/// A carrier's queue as the engine knows it, and what must be read from the tables to complete it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSnapshot {
    queue: CarrierQueue,
    unread: Vec<Unread>,
    /// Parts of the carrier may wait for a time.
    has_deferred: bool,
}

impl QueueSnapshot {
    /// Returns the complete queue. `look` finds the first waiting message of a lane behind the place that was read;
    /// `deferred` reads what waits for a time at a carrier.
    pub fn complete(
        self,
        look: &dyn Fn(CarrierId, Unread) -> Result<Option<MessageId>, TableError>,
        deferred: &dyn Fn(CarrierId) -> Result<DeferredParts, TableError>,
    ) -> Result<CarrierQueue, TableError> {
        let QueueSnapshot { mut queue, unread, has_deferred } = self;
        for lane in unread {
            queue.oldest_for_slot = older(queue.oldest_for_slot, look(queue.carrier, lane)?);
        }
        queue.oldest = queue.oldest_for_slot;
        if has_deferred {
            let DeferredParts { count, oldest } = deferred(queue.carrier)?;
            queue.deferred = count;
            queue.oldest = older(queue.oldest, oldest);
        }
        Ok(queue)
    }
}

fn older(known: Option<Timestamp>, message: Option<MessageId>) -> Option<Timestamp> {
    let accepted_at = message.map(MessageId::accepted_at);
    known.into_iter().chain(accepted_at).min()
}

//! The window of our own outstanding requests (the peer's is enforced by `must_wait` in `receive.rs`). All have the same timeout, so they expire in the order of sending and the next
//! deadline is at the front. A slot is freed once: by its response, a nack, its deadline or the end of the session.

use std::collections::VecDeque;

use super::Moment;
use crate::CommandId;

/// Sequence numbers run from 1 to this and start again (§5.1.4).
pub(super) const SEQUENCE_MAX: u32 = 0x7FFF_FFFF;

/// Free slots that may remain between used ones before they are removed.
const FREE_SLACK: usize = 16;

pub(super) struct Window<T> {
    /// In order of sequence numbers. The front is always in use; free slots behind it are removed later.
    slots: VecDeque<Slot<T>>,
    used: u32,
}

struct Slot<T> {
    sequence: u32,
    response: CommandId,
    deadline: Moment,
    token: Option<T>,
}

/// A timed-out request, and the response that was expected.
pub(super) struct Expired<T> {
    pub(super) sequence: u32,
    pub(super) response: CommandId,
    pub(super) token: T,
}

impl<T> Window<T> {
    pub(super) const fn new() -> Self {
        Window { slots: VecDeque::new(), used: 0 }
    }

    pub(super) const fn used(&self) -> u32 {
        self.used
    }

    /// Returns the earliest deadline.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.slots.front().map(|slot| slot.deadline)
    }

    /// Uses a slot. Sequence numbers and deadlines must ascend.
    pub(super) fn insert(&mut self, sequence: u32, response: CommandId, deadline: Moment, token: T) {
        self.slots.push_back(Slot { sequence, response, deadline, token: Some(token) });
        self.used = self.used.saturating_add(1);
    }

    /// Frees the slot of a response and returns its token. A nack matches any request.
    pub(super) fn free(&mut self, sequence: u32, response: CommandId) -> Option<T> {
        let oldest = self.slots.front()?.sequence;
        let age = |sequence: u32| sequence.wrapping_sub(oldest) & SEQUENCE_MAX;
        let wanted = age(sequence);
        let at = if wanted == 0 { 0 } else { self.slots.partition_point(|slot| age(slot.sequence) < wanted) };
        let slot = self.slots.get_mut(at).filter(|slot| slot.sequence == sequence)?;
        if slot.response != response && response != CommandId::GENERIC_NACK {
            return None;
        }
        let token = slot.token.take()?;
        self.used = self.used.saturating_sub(1);
        self.remove_free();
        Some(token)
    }

    /// Frees the oldest slot if its deadline has passed.
    pub(super) fn expire(&mut self, now: Moment) -> Option<Expired<T>> {
        if self.deadline()? > now {
            return None;
        }
        let slot = self.slots.front_mut()?;
        let (sequence, response) = (slot.sequence, slot.response);
        let token = slot.token.take()?;
        self.used = self.used.saturating_sub(1);
        self.remove_free();
        Some(Expired { sequence, response, token })
    }

    /// Frees all slots and returns their tokens, oldest first.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        self.used = 0;
        std::mem::take(&mut self.slots).into_iter().filter_map(|slot| slot.token).collect()
    }

    /// Removes free slots from the front, and all of them when they outnumber the used ones: a constant cost per slot.
    fn remove_free(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.token.is_none()) {
            self.slots.pop_front();
        }
        let used = usize::try_from(self.used).unwrap_or(usize::MAX);
        if self.slots.len() > used.saturating_mul(2).saturating_add(FREE_SLACK) {
            self.slots.retain(|slot| slot.token.is_some());
        }
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;

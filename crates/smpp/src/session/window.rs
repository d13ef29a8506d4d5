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
mod tests {
    use super::*;

    const RESPONSE: CommandId = CommandId::SUBMIT_SM_RESP;

    fn filled(sequences: &[u32]) -> Window<u32> {
        let mut window = Window::new();
        for (sent_at, sequence) in sequences.iter().enumerate() {
            window.insert(*sequence, RESPONSE, Moment(sent_at as u64), *sequence);
        }
        window
    }

    #[test]
    fn each_slot_is_freed_exactly_once_in_any_order() {
        let mut window = filled(&[1, 2, 4, 7, 8]);
        assert_eq!(window.free(7, RESPONSE), Some(7));
        assert_eq!(window.free(7, RESPONSE), None);
        assert_eq!(window.free(3, RESPONSE), None);
        assert_eq!(window.free(9, RESPONSE), None);
        assert_eq!(window.free(0, RESPONSE), None);
        assert_eq!(window.free(0x8000_0001, RESPONSE), None);
        assert_eq!(window.free(1, RESPONSE), Some(1));
        let expired = |window: &mut Window<u32>| {
            window.expire(Moment(1)).map(|expired| (expired.sequence, expired.token))
        };
        assert_eq!(expired(&mut window), Some((2, 2)));
        assert_eq!(expired(&mut window), None);
        assert_eq!(window.free(2, RESPONSE), None);
        assert_eq!(window.used(), 2);
        assert_eq!(window.take_all(), [4, 8]);
        assert_eq!((window.used(), window.deadline()), (0, None));
    }

    #[test]
    fn only_the_matching_response_or_a_nack_frees_a_slot() {
        let mut window = filled(&[1, 2]);
        assert_eq!(window.free(1, CommandId::DATA_SM_RESP), None);
        assert_eq!(window.free(1, CommandId::GENERIC_NACK), Some(1));
        assert_eq!(window.free(2, RESPONSE), Some(2));
    }

    #[test]
    fn sequences_wrap_around_without_losing_order() {
        let mut window = filled(&[SEQUENCE_MAX - 1, SEQUENCE_MAX, 1, 2]);
        for sequence in [2, SEQUENCE_MAX, 1, SEQUENCE_MAX - 1] {
            assert_eq!(window.free(sequence, RESPONSE), Some(sequence));
        }
        assert_eq!(window.used(), 0);
    }

    #[test]
    fn one_unanswered_request_does_not_make_the_window_grow() {
        let mut window = filled(&[1]);
        for sequence in 2..10_000 {
            window.insert(sequence, RESPONSE, Moment(1), sequence);
            assert_eq!(window.free(sequence, RESPONSE), Some(sequence));
            assert!(window.slots.len() <= 2 + FREE_SLACK);
        }
        assert_eq!(window.free(1, RESPONSE), Some(1));
        assert!(window.slots.is_empty());
    }
}

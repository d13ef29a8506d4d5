//! Requests of ours that wait for an answer. All wait equally long, so they expire in the order they were
//! sent and the next deadline is always at the front. A slot is freed once: by its answer, a nack, its
//! deadline or the end of the session.

use std::collections::VecDeque;

use super::Moment;
use crate::CommandId;

/// Sequence numbers run from 1 to this and start again (§5.1.4).
pub(super) const SEQUENCE_MAX: u32 = 0x7FFF_FFFF;

/// Settled slots that may linger between live ones before they are swept.
const SETTLED_SLACK: usize = 16;

pub(super) struct Window<T> {
    /// In order of sequence. The front is always live; settled slots behind it wait to be swept.
    slots: VecDeque<Slot<T>>,
    live: u32,
}

struct Slot<T> {
    sequence: u32,
    answer: CommandId,
    deadline: Moment,
    token: Option<T>,
}

/// A request whose time was up, and the answer that did not come.
pub(super) struct Expired<T> {
    pub(super) sequence: u32,
    pub(super) answer: CommandId,
    pub(super) token: T,
}

impl<T> Window<T> {
    pub(super) const fn new() -> Self {
        Window { slots: VecDeque::new(), live: 0 }
    }

    pub(super) const fn live(&self) -> u32 {
        self.live
    }

    /// The earliest deadline.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.slots.front().map(|slot| slot.deadline)
    }

    /// Takes a slot. Sequences and deadlines come in order.
    pub(super) fn insert(&mut self, sequence: u32, answer: CommandId, deadline: Moment, token: T) {
        self.slots.push_back(Slot { sequence, answer, deadline, token: Some(token) });
        self.live = self.live.saturating_add(1);
    }

    /// Frees the slot this answer belongs to; a nack answers any request.
    pub(super) fn settle(&mut self, sequence: u32, answer: CommandId) -> Option<T> {
        let oldest = self.slots.front()?.sequence;
        let age = |sequence: u32| sequence.wrapping_sub(oldest) & SEQUENCE_MAX;
        let wanted = age(sequence);
        let at = if wanted == 0 { 0 } else { self.slots.partition_point(|slot| age(slot.sequence) < wanted) };
        let slot = self.slots.get_mut(at).filter(|slot| slot.sequence == sequence)?;
        if slot.answer != answer && answer != CommandId::GENERIC_NACK {
            return None;
        }
        let token = slot.token.take()?;
        self.live = self.live.saturating_sub(1);
        self.sweep();
        Some(token)
    }

    /// Frees the oldest slot if its time has come.
    pub(super) fn expire(&mut self, now: Moment) -> Option<Expired<T>> {
        if self.deadline()? > now {
            return None;
        }
        let slot = self.slots.front_mut()?;
        let (sequence, answer) = (slot.sequence, slot.answer);
        let token = slot.token.take()?;
        self.live = self.live.saturating_sub(1);
        self.sweep();
        Some(Expired { sequence, answer, token })
    }

    /// Frees every slot, oldest first.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        self.live = 0;
        std::mem::take(&mut self.slots).into_iter().filter_map(|slot| slot.token).collect()
    }

    /// Keeps the front live and the settled fewer than the live, at a constant cost per settled slot.
    fn sweep(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.token.is_none()) {
            self.slots.pop_front();
        }
        let live = usize::try_from(self.live).unwrap_or(usize::MAX);
        if self.slots.len() > live.saturating_mul(2).saturating_add(SETTLED_SLACK) {
            self.slots.retain(|slot| slot.token.is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: CommandId = CommandId::SUBMIT_SM_RESP;

    fn filled(sequences: &[u32]) -> Window<u32> {
        let mut window = Window::new();
        for (sent_at, sequence) in sequences.iter().enumerate() {
            window.insert(*sequence, ANSWER, Moment(sent_at as u64), *sequence);
        }
        window
    }

    #[test]
    fn each_slot_is_freed_exactly_once_in_any_order() {
        let mut window = filled(&[1, 2, 4, 7, 8]);
        assert_eq!(window.settle(7, ANSWER), Some(7));
        assert_eq!(window.settle(7, ANSWER), None);
        assert_eq!(window.settle(3, ANSWER), None);
        assert_eq!(window.settle(9, ANSWER), None);
        assert_eq!(window.settle(0, ANSWER), None);
        assert_eq!(window.settle(0x8000_0001, ANSWER), None);
        assert_eq!(window.settle(1, ANSWER), Some(1));
        let expired = |window: &mut Window<u32>| window.expire(Moment(1)).map(|it| (it.sequence, it.token));
        assert_eq!(expired(&mut window), Some((2, 2)));
        assert_eq!(expired(&mut window), None);
        assert_eq!(window.settle(2, ANSWER), None);
        assert_eq!(window.live(), 2);
        assert_eq!(window.take_all(), [4, 8]);
        assert_eq!((window.live(), window.deadline()), (0, None));
    }

    #[test]
    fn only_the_matching_answer_or_a_nack_frees_a_slot() {
        let mut window = filled(&[1, 2]);
        assert_eq!(window.settle(1, CommandId::DATA_SM_RESP), None);
        assert_eq!(window.settle(1, CommandId::GENERIC_NACK), Some(1));
        assert_eq!(window.settle(2, ANSWER), Some(2));
    }

    #[test]
    fn sequences_wrap_around_without_losing_order() {
        let mut window = filled(&[SEQUENCE_MAX - 1, SEQUENCE_MAX, 1, 2]);
        for sequence in [2, SEQUENCE_MAX, 1, SEQUENCE_MAX - 1] {
            assert_eq!(window.settle(sequence, ANSWER), Some(sequence));
        }
        assert_eq!(window.live(), 0);
    }

    #[test]
    fn one_silent_request_does_not_make_the_window_grow() {
        let mut window = filled(&[1]);
        for sequence in 2..10_000 {
            window.insert(sequence, ANSWER, Moment(1), sequence);
            assert_eq!(window.settle(sequence, ANSWER), Some(sequence));
            assert!(window.slots.len() <= 2 + SETTLED_SLACK);
        }
        assert_eq!(window.settle(1, ANSWER), Some(1));
        assert!(window.slots.is_empty());
    }
}

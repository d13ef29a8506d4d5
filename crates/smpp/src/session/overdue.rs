//! Requests of ours whose time was up. Their slots are free and their tokens are with the driver; what is kept
//! is the sequence, so that an answer that comes after all is known for what it is. Only the most recent ones are
//! kept, as many as the window is wide: a session that loses more than that has nothing left worth waiting for.

use std::collections::VecDeque;

use crate::CommandId;

#[derive(Default)]
pub(super) struct Overdue {
    /// Oldest first.
    requests: VecDeque<Request>,
}

#[derive(Clone, Copy)]
struct Request {
    sequence: u32,
    answer: CommandId,
}

impl Overdue {
    /// Keeps this one, and lets go of the oldest beyond `max`.
    pub(super) fn remember(&mut self, sequence: u32, answer: CommandId, max: u32) {
        self.requests.push_back(Request { sequence, answer });
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        while self.requests.len() > max {
            self.requests.pop_front();
        }
    }

    /// Whether this is the late answer to one of them, which it can be once; a nack answers any request.
    pub(super) fn settle(&mut self, sequence: u32, answer: CommandId) -> bool {
        let is_it = |request: &Request| {
            request.sequence == sequence && (request.answer == answer || answer == CommandId::GENERIC_NACK)
        };
        match self.requests.iter().position(is_it) {
            Some(at) => self.requests.remove(at).is_some(),
            None => false,
        }
    }

    /// The sequence is in use again, so an answer under it is not for the old request any more.
    pub(super) fn forget(&mut self, sequence: u32) {
        if !self.requests.is_empty() {
            self.requests.retain(|request| request.sequence != sequence);
        }
    }

    pub(super) fn clear(&mut self) {
        self.requests = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: CommandId = CommandId::SUBMIT_SM_RESP;

    fn with(sequences: &[u32]) -> Overdue {
        let mut overdue = Overdue::default();
        sequences.iter().for_each(|sequence| overdue.remember(*sequence, ANSWER, 3));
        overdue
    }

    #[test]
    fn each_is_answered_late_once_and_by_its_own_answer() {
        let cases = [
            (2, ANSWER, true),
            (2, ANSWER, false),
            (3, CommandId::DATA_SM_RESP, false),
            (3, CommandId::GENERIC_NACK, true),
            (3, ANSWER, false),
            (9, ANSWER, false),
        ];
        let mut overdue = with(&[1, 2, 3]);
        for (sequence, answer, expect) in cases {
            assert_eq!(overdue.settle(sequence, answer), expect, "{answer} {sequence}");
        }
        assert_eq!(overdue.requests.len(), 1);
    }

    #[test]
    fn the_oldest_are_let_go_beyond_the_limit() {
        let mut overdue = with(&[1, 2, 3, 4, 5]);
        let found = [1, 2, 3, 4, 5].map(|sequence| overdue.settle(sequence, ANSWER));
        assert_eq!(found, [false, false, true, true, true]);
        let mut none = Overdue::default();
        none.remember(1, ANSWER, 0);
        assert!(!none.settle(1, ANSWER));
    }

    #[test]
    fn a_sequence_in_use_again_is_not_the_old_requests_any_more() {
        let mut overdue = with(&[1, 2]);
        overdue.forget(1);
        assert!(!overdue.settle(1, ANSWER));
        assert!(overdue.settle(2, ANSWER));
    }
}

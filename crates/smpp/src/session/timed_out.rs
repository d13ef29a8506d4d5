//! Timed-out requests. Their window slots are free and their tokens returned; their sequence numbers are kept, so that
//! a late response is recognised. Only the most recent ones are kept, as many as the window has slots.

use std::collections::VecDeque;

use crate::CommandId;

#[derive(Default)]
pub(super) struct TimedOutRequests {
    /// Oldest first.
    requests: VecDeque<Request>,
}

#[derive(Clone, Copy)]
struct Request {
    sequence: u32,
    response: CommandId,
}

impl TimedOutRequests {
    /// Adds a request, and drops the oldest above `max`.
    pub(super) fn add(&mut self, sequence: u32, response: CommandId, max: u32) {
        self.requests.push_back(Request { sequence, response });
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        while self.requests.len() > max {
            self.requests.pop_front();
        }
    }

    /// Removes the request of a late response. Returns false if there is none. A nack matches any request.
    pub(super) fn remove(&mut self, sequence: u32, response: CommandId) -> bool {
        let matches = |request: &Request| {
            request.sequence == sequence
                && (request.response == response || response == CommandId::GENERIC_NACK)
        };
        match self.requests.iter().position(matches) {
            Some(at) => self.requests.remove(at).is_some(),
            None => false,
        }
    }

    /// Removes a request whose sequence number is used again, so that responses match the new request.
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

    const RESPONSE: CommandId = CommandId::SUBMIT_SM_RESP;

    fn with(sequences: &[u32]) -> TimedOutRequests {
        let mut overdue = TimedOutRequests::default();
        sequences.iter().for_each(|sequence| overdue.add(*sequence, RESPONSE, 3));
        overdue
    }

    #[test]
    fn late_response_matches_its_request_once() {
        let cases = [
            (2, RESPONSE, true),
            (2, RESPONSE, false),
            (3, CommandId::DATA_SM_RESP, false),
            (3, CommandId::GENERIC_NACK, true),
            (3, RESPONSE, false),
            (9, RESPONSE, false),
        ];
        let mut overdue = with(&[1, 2, 3]);
        for (sequence, response, expect) in cases {
            assert_eq!(overdue.remove(sequence, response), expect, "{response} {sequence}");
        }
        assert_eq!(overdue.requests.len(), 1);
    }

    #[test]
    fn oldest_requests_are_dropped_above_the_limit() {
        let mut overdue = with(&[1, 2, 3, 4, 5]);
        let found = [1, 2, 3, 4, 5].map(|sequence| overdue.remove(sequence, RESPONSE));
        assert_eq!(found, [false, false, true, true, true]);
        let mut none = TimedOutRequests::default();
        none.add(1, RESPONSE, 0);
        assert!(!none.remove(1, RESPONSE));
    }

    #[test]
    fn reused_sequence_no_longer_matches_the_old_request() {
        let mut overdue = with(&[1, 2]);
        overdue.forget(1);
        assert!(!overdue.remove(1, RESPONSE));
        assert!(overdue.remove(2, RESPONSE));
    }
}

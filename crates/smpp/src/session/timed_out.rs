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
#[path = "timed_out_tests.rs"]
mod tests;

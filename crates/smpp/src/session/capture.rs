//! Captures received PDUs for a trace, including those that the session handles by itself. Sent PDUs need no capture:
//! the output holds them.

use std::collections::VecDeque;

use super::Session;
use crate::Frame;

/// The maximum of captured PDUs that were not fetched; further ones are dropped.
const CAPTURED_MAX: usize = 1_000;

/// The PDUs received since the last fetch, while capturing is on.
#[derive(Default)]
pub(super) struct CapturedPdus {
    frames: Option<VecDeque<Frame>>,
}

impl CapturedPdus {
    /// Keeps a PDU if capturing is on; the frame shares its octets.
    #[inline]
    pub(super) fn add(&mut self, frame: &Frame) {
        if let Some(frames) = &mut self.frames
            && frames.len() < CAPTURED_MAX
        {
            frames.push_back(frame.clone());
        }
    }
}

impl<T> Session<T> {
    /// Starts or stops capturing, without any other effect on the session.
    pub fn capture(&mut self, is_captured: bool) {
        match (is_captured, &self.captured.frames) {
            (true, None) => self.captured.frames = Some(VecDeque::new()),
            (false, Some(_)) => self.captured.frames = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Returns the next captured PDU, oldest first. Fetch them after every event, and once more when `next_event`
    /// returns `None`.
    pub fn next_captured(&mut self) -> Option<Frame> {
        self.captured.frames.as_mut()?.pop_front()
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;

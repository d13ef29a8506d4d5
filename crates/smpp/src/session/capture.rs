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
mod tests {
    use super::*;
    use crate::session::tests::*;
    use crate::*;

    fn captured(session: &mut Session<u32>) -> Vec<String> {
        let describe = |frame| trace::describe(&frame, ReceiptDialect::Standard).to_string();
        std::iter::from_fn(|| session.next_captured()).map(describe).collect()
    }

    #[test]
    fn every_received_pdu_is_captured_while_capturing_is_on() {
        let mut client = bound_client();
        let enquiry = |sequence| raw(CommandId::ENQUIRE_LINK, 0, sequence, b"");
        client.receive(&enquiry(1), START);
        assert_eq!(events_of(&mut client, START), [""; 0]);
        assert_eq!(captured(&mut client), [""; 0]);

        client.capture(true);
        client.capture(true);
        let both = [enquiry(2), octets(&deliver(), 3), raw(CommandId(0x999), 0, 4, b"?")].concat();
        client.receive(&both, START);
        assert_eq!(events_of(&mut client, START), ["request deliver_sm ok 3"]);
        let expect = [
            "enquire_link seq=2",
            "deliver_sm seq=3 source=1/1 491701234567 dest=5/0 Hermod esm_class=0x00 data_coding=0x00 text=(2 octets)",
            "0x00000999 seq=4 body=(1 octets)",
        ];
        assert_eq!(captured(&mut client), expect);

        client.receive(&enquiry(5), START);
        assert_eq!(events_of(&mut client, START), [""; 0]);
        client.capture(false);
        client.capture(true);
        assert_eq!(captured(&mut client), [""; 0], "unfetched PDUs are dropped");
    }

    #[test]
    fn captured_pdus_are_limited() {
        let mut client = bound_client();
        client.capture(true);
        for sequence in 1..=2_000 {
            client.receive(&raw(CommandId::ENQUIRE_LINK, 0, sequence, b""), START);
            assert_eq!(client.next_event(START), None);
            client.output().clear();
        }
        assert_eq!(captured(&mut client).len(), CAPTURED_MAX);
    }
}

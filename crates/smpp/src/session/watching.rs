//! Watching a session for a trace: every whole PDU that is read is kept for a moment, also those the session settles
//! by itself. What is written needs no help: the output holds whole PDUs.

use std::collections::VecDeque;

use super::Session;
use crate::Frame;

/// PDUs kept for a watcher that does not fetch them; further ones are not shown to it.
const SEEN_MAX: usize = 1_000;

/// The PDUs read since they were last fetched, while somebody watches.
#[derive(Default)]
pub(super) struct Seen {
    frames: Option<VecDeque<Frame>>,
}

impl Seen {
    /// Costs one look when nobody watches; keeping a frame shares its octets.
    #[inline]
    pub(super) fn note(&mut self, frame: &Frame) {
        if let Some(frames) = &mut self.frames
            && frames.len() < SEEN_MAX
        {
            frames.push_back(frame.clone());
        }
    }
}

impl<T> Session<T> {
    /// Begins or ends watching. It changes nothing else about the session.
    pub fn watch(&mut self, is_watched: bool) {
        match (is_watched, &self.seen.frames) {
            (true, None) => self.seen.frames = Some(VecDeque::new()),
            (false, Some(_)) => self.seen.frames = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// The next PDU that was read, oldest first. Fetch them after every event, and once more when `next_event`
    /// gives `None`.
    pub fn next_seen(&mut self) -> Option<Frame> {
        self.seen.frames.as_mut()?.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::*;

    fn seen(session: &mut Session<u32>) -> Vec<String> {
        let told = |frame| trace::describe(&frame, ReceiptDialect::Standard).to_string();
        std::iter::from_fn(|| session.next_seen()).map(told).collect()
    }

    #[test]
    fn a_watcher_sees_every_pdu_read_and_only_while_it_watches() {
        let mut client = bound_client();
        let enquiry = |sequence| raw(CommandId::ENQUIRE_LINK, 0, sequence, b"");
        client.receive(&enquiry(1), START);
        assert_eq!(told(&mut client, START), [""; 0]);
        assert_eq!(seen(&mut client), [""; 0]);

        client.watch(true);
        client.watch(true);
        let both = [enquiry(2), octets(&deliver(), 3), raw(CommandId(0x999), 0, 4, b"?")].concat();
        client.receive(&both, START);
        assert_eq!(told(&mut client, START), ["request deliver_sm ok 3"]);
        let expect = [
            "enquire_link seq=2",
            "deliver_sm seq=3 source=1/1 491701234567 dest=5/0 Hermod esm_class=0x00 data_coding=0x00 text=(2 octets)",
            "0x00000999 seq=4 body=(1 octets)",
        ];
        assert_eq!(seen(&mut client), expect);

        client.receive(&enquiry(5), START);
        assert_eq!(told(&mut client, START), [""; 0]);
        client.watch(false);
        client.watch(true);
        assert_eq!(seen(&mut client), [""; 0], "what nobody fetched is gone");
    }

    #[test]
    fn a_watcher_that_does_not_look_costs_no_more_than_its_limit() {
        let mut client = bound_client();
        client.watch(true);
        for sequence in 1..=2_000 {
            client.receive(&raw(CommandId::ENQUIRE_LINK, 0, sequence, b""), START);
            assert_eq!(client.next_event(START), None);
            client.output().clear();
        }
        assert_eq!(seen(&mut client).len(), SEEN_MAX);
    }
}

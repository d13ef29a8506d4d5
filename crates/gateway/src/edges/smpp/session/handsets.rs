//! Bringing messages from handsets. A long one is several requests; it is done when all of them are answered, and one that
//! fails has the whole brought again.

use crate::edges::smpp::handset::Drafted;
use hermod_smpp::TlvBuffer;
use hermod_store::{MoMessage, Report, ReportId, ReportOutcome, StoreError};
use std::collections::{HashMap, VecDeque};

/// What the store gave a bind to bring.
pub(super) struct Taken {
    pub(super) reports: Vec<Report>,
    /// The messages from handsets among them.
    pub(super) inbound: Result<Vec<(ReportId, MoMessage)>, StoreError>,
}

/// Messages under way.
#[derive(Default)]
pub(super) struct Handsets {
    pub(super) under_way: HashMap<ReportId, UnderWay>,
    /// Those of which something is still to be sent, in order.
    pub(super) unsent: VecDeque<ReportId>,
    pub(super) tlvs: TlvBuffer,
}

pub(super) struct UnderWay {
    pub(super) drafted: Drafted,
    pub(super) sent: usize,
    pub(super) unanswered: usize,
    /// The worst of its answers.
    result: ReportOutcome,
}

impl UnderWay {
    fn is_over(&self) -> bool {
        let all_is_sent = self.sent == self.drafted.pdus();
        self.unanswered == 0 && (all_is_sent || self.result != ReportOutcome::Accepted)
    }
}

impl Handsets {
    /// Something waits for room in the window.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Does it take more than one request?
    pub(super) fn is_in_parts(&self, report: ReportId) -> bool {
        self.under_way.get(&report).is_some_and(|message| message.drafted.pdus() > 1)
    }

    pub(super) fn begin(&mut self, report: ReportId, drafted: Drafted) {
        let begun = UnderWay { drafted, sent: 0, unanswered: 0, result: ReportOutcome::Accepted };
        self.under_way.insert(report, begun);
        self.unsent.push_back(report);
    }

    /// One request was answered so. What the report came to by that, if that is known now; for anything that is not a
    /// message under way, the answer itself.
    pub(super) fn answered(&mut self, report: ReportId, answer: ReportOutcome) -> Option<ReportOutcome> {
        // Most clients get receipts and nothing else.
        if self.under_way.is_empty() {
            return Some(answer);
        }
        let Some(message) = self.under_way.get_mut(&report) else { return Some(answer) };
        message.unanswered = message.unanswered.saturating_sub(1);
        message.result = worse(message.result, answer);
        self.settled(report)
    }

    /// No more of it is sent. The rest of its answers is waited for.
    pub(super) fn fails(&mut self, report: ReportId, why: ReportOutcome) -> Option<ReportOutcome> {
        let message = self.under_way.get_mut(&report)?;
        message.result = worse(message.result, why);
        self.settled(report)
    }

    fn settled(&mut self, report: ReportId) -> Option<ReportOutcome> {
        let message = self.under_way.get(&report)?;
        if message.result != ReportOutcome::Accepted {
            self.unsent.retain(|unsent| *unsent != report);
        }
        if !message.is_over() {
            return None;
        }
        self.under_way.remove(&report).map(|message| message.result)
    }
}

/// A refusal is for good, whatever else was said; and what was not taken now is brought again.
fn worse(one: ReportOutcome, other: ReportOutcome) -> ReportOutcome {
    match (one, other) {
        (ReportOutcome::Refused(status), _) | (_, ReportOutcome::Refused(status)) => {
            ReportOutcome::Refused(status)
        }
        (ReportOutcome::RetryLater, _) | (_, ReportOutcome::RetryLater) => ReportOutcome::RetryLater,
        (ReportOutcome::NotSent, _) | (_, ReportOutcome::NotSent) => ReportOutcome::NotSent,
        (ReportOutcome::Accepted, ReportOutcome::Accepted) => ReportOutcome::Accepted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::catalogue::SmppAccess;
    use hermod_domain::inbound::{Form, Whole};
    use hermod_domain::origin::WrittenAddress;

    const REPORT: ReportId = ReportId(1);

    /// A message of three parts of which so many were sent.
    fn sent(count: usize) -> Handsets {
        let message = MoMessage {
            id: 1,
            source: WrittenAddress::default(),
            destination: WrittenAddress::default(),
            whole: Whole { text: "x".repeat(400), form: Form::Narrow, header: Box::default() },
        };
        let mut handsets = Handsets::default();
        handsets.begin(REPORT, Drafted::of(&message, &SmppAccess::new("shop", ""), true).unwrap());
        let message = handsets.under_way.get_mut(&REPORT).unwrap();
        (message.sent, message.unanswered) = (count, count);
        if count == 3 {
            handsets.unsent.clear();
        }
        handsets
    }

    #[test]
    fn a_message_is_done_when_all_of_its_parts_are_answered() {
        use ReportOutcome::{Accepted, Refused, RetryLater};
        for (sent_parts, answers, expect) in [
            (3, &[Accepted, Accepted, Accepted][..], Some(Accepted)),
            (3, &[Accepted, Accepted], None),
            (3, &[Accepted, RetryLater, Accepted], Some(RetryLater)),
            (3, &[RetryLater, Accepted, Refused(8)], Some(Refused(8))),
            (3, &[Refused(8), RetryLater, Accepted], Some(Refused(8))),
            // The rest is not sent any more.
            (2, &[RetryLater, Accepted], Some(RetryLater)),
            (2, &[Accepted, Accepted], None),
            (1, &[Refused(8)], Some(Refused(8))),
        ] {
            let mut handsets = sent(sent_parts);
            let result = answers.iter().filter_map(|answer| handsets.answered(REPORT, *answer)).last();
            assert_eq!(result, expect, "{sent_parts} {answers:?}");
            assert_eq!(handsets.under_way.is_empty(), expect.is_some());
            let waits = expect.is_none() && sent_parts < 3;
            assert_eq!(handsets.has_unsent(), waits, "{sent_parts} {answers:?}");
        }
    }

    #[test]
    fn anything_else_is_answered_as_it_is() {
        let mut handsets = sent(1);
        assert_eq!(
            handsets.answered(ReportId(2), ReportOutcome::RetryLater),
            Some(ReportOutcome::RetryLater)
        );
        assert_eq!(
            Handsets::default().answered(REPORT, ReportOutcome::Accepted),
            Some(ReportOutcome::Accepted)
        );
        assert_eq!(sent(0).fails(REPORT, ReportOutcome::NotSent), Some(ReportOutcome::NotSent));
        assert_eq!(sent(1).fails(REPORT, ReportOutcome::RetryLater), None, "one is still to be answered");
    }
}

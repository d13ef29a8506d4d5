//! Unit tests of `mo_delivery.rs`.

use super::*;
use hermod_domain::catalogue::SmppAccess;
use hermod_domain::inbound::{MoContent, MoEncoding};
use hermod_domain::origin::SmppAddress;

const REPORT: ReportId = ReportId(1);

/// A message of three parts of which `count` were sent.
fn sent(count: usize) -> MoDeliveries {
    let message = MoMessage {
        id: 1,
        source: SmppAddress::default(),
        destination: SmppAddress::default(),
        whole: MoContent { text: "x".repeat(400), form: MoEncoding::SingleByte, header: Box::default() },
    };
    let mut mo_deliveries = MoDeliveries::default();
    mo_deliveries.begin(REPORT, MoDraft::of(&message, &SmppAccess::new("shop", ""), true).unwrap());
    let message = mo_deliveries.in_progress.get_mut(&REPORT).unwrap();
    (message.sent, message.unanswered) = (count, count);
    if count == 3 {
        mo_deliveries.unsent.clear();
    }
    mo_deliveries
}

#[test]
fn message_is_settled_when_all_sent_parts_are_answered() {
    use ReportOutcome::{Accepted, Refused, RetryLater};
    for (sent_parts, answers, expect) in [
        (3, &[Accepted, Accepted, Accepted][..], Some(Accepted)),
        (3, &[Accepted, Accepted], None),
        (3, &[Accepted, RetryLater, Accepted], Some(RetryLater)),
        (3, &[RetryLater, Accepted, Refused(8)], Some(Refused(8))),
        (3, &[Refused(8), RetryLater, Accepted], Some(Refused(8))),
        // The remaining parts are not sent any more.
        (2, &[RetryLater, Accepted], Some(RetryLater)),
        (2, &[Accepted, Accepted], None),
        (1, &[Refused(8)], Some(Refused(8))),
    ] {
        let mut mo_deliveries = sent(sent_parts);
        let result = answers.iter().filter_map(|answer| mo_deliveries.answered(REPORT, *answer)).last();
        assert_eq!(result, expect, "{sent_parts} {answers:?}");
        assert_eq!(mo_deliveries.in_progress.is_empty(), expect.is_some());
        let waits = expect.is_none() && sent_parts < 3;
        assert_eq!(mo_deliveries.has_unsent(), waits, "{sent_parts} {answers:?}");
    }
}

#[test]
fn single_pdu_report_returns_its_own_response() {
    let mut mo_deliveries = sent(1);
    assert_eq!(
        mo_deliveries.answered(ReportId(2), ReportOutcome::RetryLater),
        Some(ReportOutcome::RetryLater)
    );
    assert_eq!(
        MoDeliveries::default().answered(REPORT, ReportOutcome::Accepted),
        Some(ReportOutcome::Accepted)
    );
    assert_eq!(sent(0).fails(REPORT, ReportOutcome::NotSent), Some(ReportOutcome::NotSent));
    assert_eq!(sent(1).fails(REPORT, ReportOutcome::RetryLater), None, "one response is outstanding");
}

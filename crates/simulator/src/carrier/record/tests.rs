//! Queries of the record.

use hermod_smpp::CommandStatus;

use super::*;
use crate::carrier::text::PartNumber;

/// An accepted submit with this text.
pub(super) fn submit(text: &str, part: Option<PartNumber>) -> ReceivedSubmit {
    ReceivedSubmit {
        order: 0,
        at: Duration::ZERO,
        link: 1,
        sequence: 1,
        service_type: String::new(),
        source: "Hermod".to_owned(),
        source_kind: (5, 0),
        destination: "4915112345678".to_owned(),
        destination_kind: (1, 1),
        text: text.to_owned(),
        part,
        data_coding: 0,
        esm_class: 0,
        protocol_id: 0,
        priority: 0,
        registered_delivery: 1,
        validity_period: String::new(),
        schedule_delivery_time: String::new(),
        header: Vec::new(),
        octets: text.as_bytes().to_vec(),
        in_payload: false,
        tlvs: Vec::new(),
        pdu: Vec::new(),
        response: RecordedResponse::Accepted { id: "1".to_owned() },
    }
}

fn note(record: &CarrierRecord, text: &str, response: RecordedResponse) {
    record.write(|log| {
        let kind = match response {
            RecordedResponse::Accepted { .. } | RecordedResponse::Withheld { .. } => ResponseKind::Accepted,
            RecordedResponse::Rejected(_) | RecordedResponse::Nacked(_) => ResponseKind::Rejected,
            RecordedResponse::None => ResponseKind::None,
        };
        log.count_submit(kind, fingerprint(b"4915112345678", None, text.as_bytes()));
        if log.keeps_submits() {
            log.keep_submit(ReceivedSubmit { response, ..submit(text, None) });
        }
    });
}

fn accepted() -> RecordedResponse {
    RecordedResponse::Accepted { id: "1".to_owned() }
}

#[test]
fn rejected_copies_are_no_duplicates_but_ignored_ones_are() {
    for mode in [RecordMode::Full, RecordMode::Compact] {
        let record = CarrierRecord::new(mode);
        note(&record, "a", RecordedResponse::Rejected(CommandStatus::THROTTLED));
        note(&record, "a", accepted());
        assert_eq!(record.duplicates(), 0, "{mode:?}");
        assert_eq!(record.copies_max(), 1);
        note(&record, "b", RecordedResponse::None);
        note(&record, "b", accepted());
        assert_eq!((record.duplicates(), record.copies_max()), (1, 2), "{mode:?}");
        let counts = record.counts();
        assert_eq!((counts.submits, counts.accepted, counts.rejected, counts.ignored), (4, 2, 1, 1));
    }
}

#[test]
fn full_record_has_texts_and_compact_record_only_counts() {
    let texts = |mode| {
        let record = CarrierRecord::new(mode);
        note(&record, "a", accepted());
        note(&record, "b", RecordedResponse::Rejected(CommandStatus::SYSERR));
        note(&record, "a", accepted());
        assert_eq!(record.count_text("b"), 0);
        (record.received_texts(), record.count_text("a"), record.submits().len())
    };
    assert_eq!(texts(RecordMode::Full), (vec!["a".to_owned(), "a".to_owned()], 2, 3));
    assert_eq!(texts(RecordMode::Compact), (vec![], 0, 0));
}

#[tokio::test]
async fn wait_ends_when_the_condition_is_met() {
    let record = CarrierRecord::new(RecordMode::Compact);
    let writer = record.clone();
    let write = async move {
        tokio::task::yield_now().await;
        note(&writer, "a", accepted());
        tokio::task::yield_now().await;
        note(&writer, "b", accepted());
    };
    let wait = record.wait_until(|record| record.counts().accepted == 2, Duration::from_secs(10));
    let (waited, ()) = tokio::join!(wait, write);
    assert_eq!(waited, Ok(()));
}

#[tokio::test]
async fn wait_timeout_reports_the_counts() {
    let record = CarrierRecord::new(RecordMode::Compact);
    note(&record, "a", accepted());
    let vain = record.wait_until(|record| record.counts().accepted == 2, Duration::from_millis(5)).await;
    let sentence = vain.expect_err("nothing more comes").to_string();
    assert!(sentence.starts_with("not met within 5ms; the carrier has RecordCounts {"), "{sentence}");
    assert!(sentence.contains("accepted: 1,"), "{sentence}");
}

#[test]
fn most_within_counts_across_clock_seconds() {
    let times = |ms: &[u64]| ms.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
    let most = |ms: &[u64]| most_within(times(ms).into_iter(), Duration::from_secs(1));
    assert_eq!(most(&[]), 0);
    assert_eq!(most(&[0, 500, 1000, 1500]), 2);
    assert_eq!(most(&[0, 900, 950, 1000, 1100, 3000]), 4);
}

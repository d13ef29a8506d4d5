//! Unit tests of `receipt_matcher.rs`.

use std::time::Duration;

use hermod_smpp::{DeliverSm, Hidden, ReceiptDialect, read_receipt};

use super::super::report::ReceiptCounts;
use super::*;
use crate::runtime;

/// Plays `a7` (message 7 is accepted), `r7` (its receipt) and `n7` (an intermediate one); checks the numbers of matched,
/// duplicated, unknown and missing receipts, and of repeated ids.
#[track_caller]
fn check(events: &str, expect: [u64; 5]) {
    let mut now = runtime::now();
    let mut matcher = ReceiptMatcher::new(now, true);
    for word in events.split(' ') {
        now += Duration::from_millis(1);
        let (kind, id) = word.split_at(1);
        let text = format!("id:{id} stat:DELIVRD");
        let esm_class = if kind == "n" { 0x20 } else { 0x04 };
        let pdu = DeliverSm { esm_class, short_message: Hidden(text.as_bytes()), ..DeliverSm::default() };
        match kind {
            "a" => matcher.accepted(id.as_bytes(), Some(now), now),
            _ => matcher.receipt(&read_receipt(&pdu, ReceiptDialect::Standard).expect("a receipt"), now),
        }
    }
    let tally = matcher.close();
    let ReceiptCounts { duplicated, unknown, missing, .. } = tally.report.receipts;
    let got = [tally.receipt.len(), duplicated, unknown, missing, tally.ids_repeated];
    assert_eq!(got, expect, "{events}");
}

#[test]
fn receipts_match_their_messages_in_any_order() {
    check("a1 r1", [1, 0, 0, 0, 0]);
    check("a1 a2 r2 r1", [2, 0, 0, 0, 0]);
    check("r1 a1", [1, 0, 0, 0, 0]);
    check("a1f r1f a01 a1 r1 r01", [3, 0, 0, 0, 0]);
    check("a1 n1 r1", [1, 0, 0, 0, 0]);
}

#[test]
fn missing_duplicated_and_unknown_receipts_are_counted() {
    check("a1 a2 r1", [1, 0, 0, 1, 0]);
    check("a1 r1 r1 r1", [1, 2, 0, 0, 0]);
    check("r1 r1 a1 r1", [1, 2, 0, 0, 0]);
    check("a1 r1 r9 r9", [1, 0, 2, 0, 0]);
    check("a1 a1 r1", [1, 0, 0, 0, 1]);
    check("a1 r1 a1 r1", [2, 0, 0, 0, 1]);
}

#[test]
fn no_receipt_is_missing_when_none_was_requested() {
    let now = runtime::now();
    let mut matcher = ReceiptMatcher::new(now, false);
    matcher.accepted(b"1", Some(now), now);
    matcher.accepted(b"", Some(now), now);
    assert_eq!(matcher.missing_receipts(), 0);
    let tally = matcher.close();
    assert_eq!((tally.report.receipts.missing, tally.without_id), (0, 1));
}

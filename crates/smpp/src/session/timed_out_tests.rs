//! Unit tests of `timed_out.rs`.

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

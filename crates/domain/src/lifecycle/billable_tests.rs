//! What a carrier can bill, as tables of events.

use super::*;
use crate::ids::PartNo;
use crate::lifecycle::{DeliveryOutcome, DoubtPolicy, RejectionCause, StateChange, Transition, apply};

const CLAIMED: PartEvent = PartEvent::Claimed;
const ACCEPTED: PartEvent = PartEvent::Accepted;
const REJECTED: PartEvent = PartEvent::Rejected(RejectionCause::Other);
const DEFERRED: PartEvent = PartEvent::Deferred;
const SILENT: PartEvent = PartEvent::NoResponse(DoubtPolicy::ResendOnce);
const ENROUTE: PartEvent = PartEvent::Receipt(DeliveryOutcome::Enroute);
const DELIVERED: PartEvent = PartEvent::Receipt(DeliveryOutcome::Delivered);
const FAILED: PartEvent = PartEvent::Receipt(DeliveryOutcome::Undeliverable);
const EXPIRED: PartEvent = PartEvent::ValidityEnded;
const OVERDUE: PartEvent = PartEvent::ReceiptOverdue;

/// Applies events (part, event) to a message, of which the last one ends it, and compares what can be billed.
#[track_caller]
fn check(parts: u8, events: &[(u8, PartEvent)], expect: (u16, u16)) {
    let mut progress = Progress::queued(parts);
    for (no, event) in events {
        let part = PartNo::new(*no).unwrap();
        let Transition::Changed(StateChange { after, .. }) = apply(&progress, part, *event) else {
            panic!("{event:?} changes nothing");
        };
        if after.state.is_final() {
            let billed = billable(&progress, *event, &after);
            assert_eq!((billed.submitted, billed.delivered), expect, "{events:?}");
        }
        progress = after;
    }
    assert!(progress.state.is_final(), "{events:?}: {progress:?}");
}

#[test]
fn message_of_one_part_is_billed_for_each_submission_that_was_accepted_or_had_no_response() {
    let one = |events: &[PartEvent], expect| {
        let events: Vec<_> = events.iter().map(|event| (1, *event)).collect();
        check(1, &events, expect);
    };
    one(&[CLAIMED, ACCEPTED, DELIVERED], (1, 1));
    one(&[CLAIMED, ACCEPTED, ENROUTE, FAILED], (1, 0));
    one(&[CLAIMED, REJECTED], (0, 0));
    one(&[CLAIMED, DEFERRED, EXPIRED], (0, 0));
    one(&[EXPIRED], (0, 0));
    one(&[PartEvent::Withdrawn], (0, 0));
    // Temporary errors are not billed, submissions without a response are.
    one(&[CLAIMED, DEFERRED, CLAIMED, ACCEPTED, DELIVERED], (1, 1));
    one(&[CLAIMED, SILENT, CLAIMED, ACCEPTED, DELIVERED], (2, 1));
    one(&[CLAIMED, SILENT, CLAIMED, REJECTED], (1, 0));
    // Presumed sent: the receipt is of one of the submissions without a response.
    one(&[CLAIMED, SILENT, CLAIMED, SILENT, DELIVERED], (2, 1));
    one(&[CLAIMED, SILENT, CLAIMED, SILENT, ENROUTE, FAILED], (2, 0));
    one(&[CLAIMED, SILENT, EXPIRED, OVERDUE, DELIVERED], (1, 1));
}

#[test]
fn end_of_one_part_bills_the_others_as_far_as_they_came() {
    let sent = [(1, CLAIMED), (1, ACCEPTED), (2, CLAIMED), (2, ACCEPTED)];
    let with = |events: &[(u8, PartEvent)]| [&sent[..], events].concat();
    check(2, &with(&[(1, DELIVERED), (2, DELIVERED)]), (2, 2));
    check(2, &with(&[(1, DELIVERED), (2, FAILED)]), (2, 1));
    // The third was never sent, is rejected, is on its way, or had no response.
    check(3, &with(&[(1, FAILED)]), (2, 0));
    check(3, &with(&[(3, CLAIMED), (3, REJECTED)]), (2, 0));
    check(3, &with(&[(3, CLAIMED), (2, FAILED)]), (3, 0));
    check(3, &with(&[(3, CLAIMED), (3, SILENT), (1, FAILED)]), (3, 0));
}

#[test]
fn part_that_moved_is_billed_by_the_earlier_carrier_for_its_doubts() {
    let in_doubt = Part { state: PartState::InDoubt, doubts: 2 };
    assert_eq!(submissions(&[in_doubt, Part::QUEUED]), 2);
    let billed = Billable { submitted: 3, delivered: 1 };
    assert_eq!(billed.without(2), Billable { submitted: 1, delivered: 1 });
    assert_eq!(
        billed.without(9),
        Billable { submitted: 1, delivered: 1 },
        "what was delivered was submitted"
    );
}

#[test]
fn stored_number_is_small_for_what_is_usual_and_is_read_back() {
    for (submitted, delivered, stored) in
        [(0, 0, Some(0)), (1, 1, Some(1)), (3, 3, Some(3)), (1, 0, Some(65_537)), (65_535, 255, None)]
    {
        let billed = Billable { submitted, delivered };
        let number = billed.to_stored();
        assert!(stored.is_none_or(|stored| stored == number), "{number}");
        assert_eq!(Billable::from_stored(number), Ok(billed));
    }
    for number in [-1, 2 << 16 | 1, 1 << 40] {
        assert_eq!(Billable::from_stored(number), Err(UnknownBillable(number)));
    }
}

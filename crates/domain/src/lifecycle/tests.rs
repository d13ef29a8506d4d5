//! Compares all transitions with `golden/lifecycle.txt` (run with `UPDATE=1` to accept a change), and checks properties
//! that hold for every sequence of events.

use super::*;
use proptest::prelude::*;
use std::fmt::Write;

const EVENTS: [(&str, PartEvent); 17] = [
    ("claimed", PartEvent::Claimed),
    ("released", PartEvent::Released),
    ("accepted", PartEvent::Accepted),
    ("deferred", PartEvent::Deferred),
    ("refused_destination", PartEvent::Rejected(RejectionCause::Destination)),
    ("refused", PartEvent::Rejected(RejectionCause::Other)),
    ("no_answer_resend", PartEvent::NoResponse(DoubtPolicy::Resend)),
    ("no_answer_resend_once", PartEvent::NoResponse(DoubtPolicy::ResendOnce)),
    ("no_answer_never_resend", PartEvent::NoResponse(DoubtPolicy::NeverResend)),
    ("receipt_enroute", PartEvent::Receipt(DeliveryOutcome::Enroute)),
    ("receipt_delivered", PartEvent::Receipt(DeliveryOutcome::Delivered)),
    ("receipt_undeliverable", PartEvent::Receipt(DeliveryOutcome::Undeliverable)),
    ("receipt_rejected", PartEvent::Receipt(DeliveryOutcome::Rejected)),
    ("receipt_expired", PartEvent::Receipt(DeliveryOutcome::Expired)),
    ("receipt_no_news", PartEvent::Receipt(DeliveryOutcome::NoChange)),
    ("validity_ended", PartEvent::ValidityEnded),
    ("receipt_overdue", PartEvent::ReceiptOverdue),
];
const WITHDRAWN: (&str, PartEvent) = ("withdrawn", PartEvent::Withdrawn);

fn all_events() -> impl Iterator<Item = (&'static str, PartEvent)> {
    EVENTS.into_iter().chain([WITHDRAWN])
}

fn one_part(state: PartState, doubts: u8) -> Progress {
    let parts: Parts = SmallVec::from_elem(Part { state, doubts }, 1);
    let before = if state == PartState::Enroute { MessageState::Enroute } else { MessageState::Submitted };
    Progress { state: message_state(before, &parts), parts }
}

#[test]
fn part_that_a_carrier_has_changes_only_to_states_that_follow_the_handover() {
    use PartState::{Delivered, Enroute, Overdue, Presumed, Sent};
    for state in [Presumed, Sent, Enroute, Overdue, Delivered] {
        for (event, happens) in all_events() {
            let step = apply(&one_part(state, 0), PartNo::FIRST, happens);
            let Transition::Changed(StateChange { after, .. }) = step else { continue };
            assert!(after.parts[0].state.follows_handover(), "{state:?} after {event}");
        }
    }
}

fn print_step(step: &Transition) -> String {
    match step {
        Transition::Ignored => "ignored".to_owned(),
        Transition::Illegal => "illegal".to_owned(),
        Transition::Changed(StateChange { after, dlr, refund }) => {
            let part = after.parts[0];
            let mut line = format!("{} (message {})", part.state.as_str(), after.state);
            if let Some(code) = dlr {
                write!(line, " dlr {}", code.as_str()).unwrap();
            }
            if *refund {
                line.push_str(" refunded");
            }
            line
        }
    }
}

fn grid() -> String {
    let mut text = String::from(
        "# One part: state before, event -> state after. Printed by lifecycle::tests; UPDATE=1 accepts.\n",
    );
    for state in PartState::ALL {
        for doubts in [0, 1, 3u8] {
            let before = one_part(state, doubts);
            writeln!(text, "\n{} doubts={doubts} (message {})", state.as_str(), before.state).unwrap();
            for (name, event) in all_events() {
                let step = apply(&before, PartNo::FIRST, event);
                writeln!(text, "  {name:<24} -> {}", print_step(&step)).unwrap();
            }
        }
    }
    text
}

#[test]
fn transitions_match_the_golden_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/lifecycle.txt");
    let printed = grid();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &printed).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        golden == printed,
        "the lifecycle changed; look at the difference after `UPDATE=1 cargo test -p hermod-domain`"
    );
}

/// Applies events `(part index from 0, event)` and compares the final state of the message.
#[track_caller]
fn check(parts: u8, events: &[(u8, PartEvent)], expect: &str) {
    let mut progress = Progress::queued(parts);
    let mut refunds = 0;
    for (index, event) in events {
        if let Transition::Changed(moved) = apply(&progress, PartNo::new(index + 1).unwrap(), *event) {
            progress = moved.after;
            refunds += u8::from(moved.refund);
        }
    }
    assert_eq!(format!("{} refunds={refunds}", progress.state), expect);
}

#[test]
fn message_of_two_parts_is_queued_until_its_last_part_is_sent() {
    check(2, &[(0, PartEvent::Claimed), (0, PartEvent::Accepted)], "queued refunds=0");
}

#[test]
fn message_of_two_parts_is_submitted_when_both_are_sent() {
    check(
        2,
        &[
            (0, PartEvent::Claimed),
            (0, PartEvent::Accepted),
            (1, PartEvent::Claimed),
            (1, PartEvent::Accepted),
        ],
        "submitted refunds=0",
    );
}

#[test]
fn first_final_failure_decides_without_refund() {
    check(
        2,
        &[
            (0, PartEvent::Claimed),
            (0, PartEvent::Accepted),
            (0, PartEvent::Receipt(DeliveryOutcome::Undeliverable)),
            (1, PartEvent::ValidityEnded),
        ],
        "undeliverable refunds=0",
    );
}

#[test]
fn message_expired_in_the_queue_is_refunded_once() {
    check(2, &[(0, PartEvent::ValidityEnded), (1, PartEvent::ValidityEnded)], "expired refunds=1");
}

#[test]
fn message_expired_after_deferred_attempts_is_refunded() {
    check(
        1,
        &[(0, PartEvent::Claimed), (0, PartEvent::Deferred), (0, PartEvent::ValidityEnded)],
        "expired refunds=1",
    );
}

#[test]
fn message_that_was_in_doubt_is_never_refunded() {
    check(
        1,
        &[
            (0, PartEvent::Claimed),
            (0, PartEvent::NoResponse(DoubtPolicy::ResendOnce)),
            (0, PartEvent::Claimed),
            (0, PartEvent::Deferred),
            (0, PartEvent::ValidityEnded),
        ],
        "submitted refunds=0",
    );
}

#[test]
fn partly_sent_message_that_expires_is_not_refunded() {
    check(
        2,
        &[(0, PartEvent::Claimed), (0, PartEvent::Accepted), (1, PartEvent::ValidityEnded)],
        "expired refunds=0",
    );
}

#[test]
fn message_expired_by_receipt_is_not_refunded() {
    check(
        1,
        &[
            (0, PartEvent::Claimed),
            (0, PartEvent::Accepted),
            (0, PartEvent::Receipt(DeliveryOutcome::Expired)),
        ],
        "expired refunds=0",
    );
}

#[test]
fn stored_states_round_trip() {
    for state in MessageState::ALL {
        assert_eq!(MessageState::from_stored(state.to_stored()), Ok(state));
    }
    for state in PartState::ALL {
        assert_eq!(PartState::from_stored(state.to_stored()), Ok(state));
    }
    assert_eq!(MessageState::from_stored(77), Err(UnknownState(77)));
}

proptest! {
    #[test]
    fn final_stays_final_and_money_moves_at_most_once(
        parts in 1u8..6,
        events in proptest::collection::vec((0u8..6, 0usize..18), 0..60),
    ) {
        let mut progress = Progress::queued(parts);
        let mut refunds = 0;
        let mut left = false;
        for (index, event) in events {
            let (_, event) = all_events().nth(event).unwrap();
            let step = apply(&progress, PartNo::new(index + 1).unwrap(), event);
            if progress.state.is_final() {
                prop_assert!(!matches!(step, Transition::Changed(_)));
            }
            if let Transition::Changed(moved) = step {
                left |= matches!(event, PartEvent::Accepted | PartEvent::NoResponse(_));
                refunds += u8::from(moved.refund);
                prop_assert_eq!(moved.after.state, message_state(progress.state, &moved.after.parts));
                progress = moved.after;
            }
        }
        prop_assert!(refunds <= 1);
        prop_assert!(refunds == 0 || !left, "refunded although a carrier may have it");
    }
}

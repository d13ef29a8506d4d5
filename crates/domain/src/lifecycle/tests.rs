//! The grid, printed and compared with `golden/lifecycle.txt` (run with `UPDATE=1` to accept a change), and the laws
//! that hold for every sequence of events.

use super::*;
use proptest::prelude::*;
use std::fmt::Write;

const EVENTS: [(&str, Event); 17] = [
    ("claimed", Event::Claimed),
    ("released", Event::Released),
    ("accepted", Event::Accepted),
    ("deferred", Event::Deferred),
    ("refused_destination", Event::Refused(RefusedFor::Destination)),
    ("refused", Event::Refused(RefusedFor::Anything)),
    ("no_answer_resend", Event::NoAnswer(DoubtPolicy::Resend)),
    ("no_answer_resend_once", Event::NoAnswer(DoubtPolicy::ResendOnce)),
    ("no_answer_never_resend", Event::NoAnswer(DoubtPolicy::NeverResend)),
    ("receipt_enroute", Event::Receipt(Verdict::Enroute)),
    ("receipt_delivered", Event::Receipt(Verdict::Delivered)),
    ("receipt_undeliverable", Event::Receipt(Verdict::Undeliverable)),
    ("receipt_rejected", Event::Receipt(Verdict::Rejected)),
    ("receipt_expired", Event::Receipt(Verdict::Expired)),
    ("receipt_no_news", Event::Receipt(Verdict::NoNews)),
    ("validity_ended", Event::ValidityEnded),
    ("receipt_overdue", Event::ReceiptOverdue),
];
const WITHDRAWN: (&str, Event) = ("withdrawn", Event::Withdrawn);

fn all_events() -> impl Iterator<Item = (&'static str, Event)> {
    EVENTS.into_iter().chain([WITHDRAWN])
}

fn one_part(state: PartState, doubts: u8) -> Progress {
    let parts: Parts = SmallVec::from_elem(Part { state, doubts }, 1);
    let before = if state == PartState::Enroute { MessageState::Enroute } else { MessageState::Submitted };
    Progress { state: summary(before, &parts), parts }
}

fn print_step(step: &Step) -> String {
    match step {
        Step::Ignored => "ignored".to_owned(),
        Step::Illegal => "illegal".to_owned(),
        Step::Moved(Moved { after, dlr, refund }) => {
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
fn the_grid_is_what_the_golden_file_says() {
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

/// Plays events on parts `(part index from 0, event)` and says how the message ended up.
#[track_caller]
fn check(parts: u8, events: &[(u8, Event)], expect: &str) {
    let mut progress = Progress::queued(parts);
    let mut refunds = 0;
    for (index, event) in events {
        if let Step::Moved(moved) = apply(&progress, PartNo::new(index + 1).unwrap(), *event) {
            progress = moved.after;
            refunds += u8::from(moved.refund);
        }
    }
    assert_eq!(format!("{} refunds={refunds}", progress.state), expect);
}

#[test]
fn a_message_of_two_is_queued_until_its_last_part_left() {
    check(2, &[(0, Event::Claimed), (0, Event::Accepted)], "queued refunds=0");
}

#[test]
fn a_message_of_two_is_submitted_when_both_left() {
    check(
        2,
        &[(0, Event::Claimed), (0, Event::Accepted), (1, Event::Claimed), (1, Event::Accepted)],
        "submitted refunds=0",
    );
}

#[test]
fn the_first_final_failure_decides_and_what_was_paid_stays_paid() {
    check(
        2,
        &[
            (0, Event::Claimed),
            (0, Event::Accepted),
            (0, Event::Receipt(Verdict::Undeliverable)),
            (1, Event::ValidityEnded),
        ],
        "undeliverable refunds=0",
    );
}

#[test]
fn what_expires_in_the_queue_is_refunded_once() {
    check(2, &[(0, Event::ValidityEnded), (1, Event::ValidityEnded)], "expired refunds=1");
}

#[test]
fn what_expires_after_answered_attempts_is_refunded() {
    check(1, &[(0, Event::Claimed), (0, Event::Deferred), (0, Event::ValidityEnded)], "expired refunds=1");
}

#[test]
fn what_was_ever_in_doubt_is_never_refunded() {
    check(
        1,
        &[
            (0, Event::Claimed),
            (0, Event::NoAnswer(DoubtPolicy::ResendOnce)),
            (0, Event::Claimed),
            (0, Event::Deferred),
            (0, Event::ValidityEnded),
        ],
        "submitted refunds=0",
    );
}

#[test]
fn a_half_sent_message_that_expires_is_not_refunded() {
    check(2, &[(0, Event::Claimed), (0, Event::Accepted), (1, Event::ValidityEnded)], "expired refunds=0");
}

#[test]
fn what_a_receipt_calls_expired_is_not_refunded() {
    check(
        1,
        &[(0, Event::Claimed), (0, Event::Accepted), (0, Event::Receipt(Verdict::Expired))],
        "expired refunds=0",
    );
}

#[test]
fn states_survive_the_store() {
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
                prop_assert!(!matches!(step, Step::Moved(_)));
            }
            if let Step::Moved(moved) = step {
                left |= matches!(event, Event::Accepted | Event::NoAnswer(_));
                refunds += u8::from(moved.refund);
                prop_assert_eq!(moved.after.state, summary(progress.state, &moved.after.parts));
                progress = moved.after;
            }
        }
        prop_assert!(refunds <= 1);
        prop_assert!(refunds == 0 || !left, "refunded although a carrier may have it");
    }
}

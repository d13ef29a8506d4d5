//! What a plan decides about a series of submits.

use super::*;
use crate::carrier::ids::IdStyle;
use crate::carrier::submit_filter::SubmitFilter;

const SECOND: Duration = Duration::from_secs(1);
const SUBMIT: SubmitView<'static> = SubmitView {
    destination: b"4915112345678",
    data_coding: 0,
    text: b"hello",
    registered_delivery: 1,
    unanswered: 1,
    at: Duration::ZERO,
    receipts_full: false,
};

fn describe(response: PlannedResponse) -> String {
    match response {
        PlannedResponse::Accept { id, then: FollowUp::Nothing } => format!("{id}"),
        PlannedResponse::Accept { id, then } => format!("{id}+{then:?}"),
        PlannedResponse::Reject(CommandStatus(status)) => format!("0x{status:02x}"),
        PlannedResponse::Nack(CommandStatus(status)) => format!("nack 0x{status:02x}"),
        PlannedResponse::Crash => "crash".to_owned(),
        PlannedResponse::Ignore => "ignored".to_owned(),
        PlannedResponse::Withhold { id, then: FollowUp::Nothing } => format!("{id}+no response"),
        PlannedResponse::Withhold { id, then } => format!("{id}+{then:?} without response"),
    }
}

/// Checks the responses to the first submits.
#[track_caller]
fn check(script: Script, expect: &str) {
    let mut plan = ScriptPlan::new(script, 7, 1);
    let count = expect.split(", ").count();
    let responses: Vec<String> = (0..count).map(|_| describe(plan.next(&SUBMIT).response)).collect();
    assert_eq!(responses.join(", "), expect);
}

#[test]
fn default_script_accepts_everything() {
    check(Script::new(), "1, 2, 3");
}

#[test]
fn throttling_ends_after_its_count_or_repeats_with_every_kth() {
    check(Script::new().throttle(2), "0x58, 0x58, 1, 2");
    check(Script::new().throttle_every(3), "1, 2, 0x58, 3, 4, 0x58");
}

#[test]
fn rules_are_checked_in_order_and_count_only_submits_that_reach_them() {
    let script = Script::new().throttle(2).reject_first(1, CommandStatus::SYSERR).ignore_first(1);
    check(script, "0x58, 0x58, 0x08, ignored, 1");
}

#[test]
fn connection_actions_follow_or_replace_the_response() {
    let script = Script::new()
        .cut_after_response(2)
        .cut_before_response(3)
        .unbind_after_response(3)
        .garbage_after_response(3);
    check(script, "1, 2+Cut, 3, 4+Cut without response, 5+Unbind, 6+Garbage, 7");
    let script = Script::new().unbind_before_response(1).bad_length_after(1, 4).mute_after(1);
    check(script, "1+Unbind without response, 2+BadLength(4), 3+Mute, 4");
    let script = Script::new()
        .rule(SubmitFilter::nth(1), SubmitAction::MuteBeforeResponse)
        .stall_after(1, SECOND)
        .lose_responses(2);
    check(script, "1+Mute without response, 2+Stall(1s), 3+no response, 4+no response, 5");
    check(Script::new().nack_first(1, CommandStatus::INVCMDID), "nack 0x03, 1");
}

#[test]
fn throttling_in_bursts_works_by_count_and_by_time() {
    check(Script::new().throttle_bursts(2, 3), "0x58, 0x58, 1, 0x58, 0x58, 2");
    check(Script::new().queue_full(1), "0x14, 1");
    let mut plan = ScriptPlan::new(Script::new(), 0, 1);
    plan.set_script(Script::new().throttle_for(SECOND), 5 * SECOND);
    let mut respond = |at: Duration| describe(plan.next(&SubmitView { at, ..SUBMIT }).response);
    assert_eq!(respond(5 * SECOND), "0x58");
    assert_eq!(respond(6 * SECOND - Duration::from_millis(1)), "0x58");
    assert_eq!(respond(6 * SECOND), "1");
}

#[test]
fn every_action_can_be_random() {
    for action in [
        SubmitAction::Ignore,
        SubmitAction::LoseResponse,
        SubmitAction::CutBeforeResponse,
        SubmitAction::Mute,
        SubmitAction::Stall(SECOND),
    ] {
        let mut plan = ScriptPlan::new(Script::new().rule(SubmitFilter::per_mille(500), action), 11, 1);
        let plain = (0..1000)
            .filter(|_| {
                matches!(plan.next(&SUBMIT).response, PlannedResponse::Accept { then: FollowUp::Nothing, .. })
            })
            .count();
        assert!((400..600).contains(&plain), "{action:?} left {plain} of 1000 alone");
    }
}

#[test]
fn response_spread_delays_responses_differently() {
    let mut plan = ScriptPlan::new(Script::new().delay(SECOND).responses_out_of_order(SECOND), 1, 1);
    let delays: Vec<Duration> = (0..100).map(|_| plan.next(&SUBMIT).delay).collect();
    assert!(delays.iter().all(|delay| (SECOND..=2 * SECOND).contains(delay)));
    assert!(!delays.is_sorted());
}

#[test]
fn quirks_and_receipt_formats_follow_their_own_rules() {
    let script = Script::new()
        .responses_without_id(1)
        .bodies_in_error_responses()
        .receipt_format_when(SubmitFilter::nth(2), ReceiptFormat::shortest());
    let mut plan = ScriptPlan::new(script, 0, 1);
    let seen: Vec<(ResponseQuirk, bool)> = (0..3)
        .map(|_| plan.next(&SUBMIT))
        .map(|decision| (decision.quirk, *decision.receipt_format == ReceiptFormat::standard()))
        .collect();
    assert_eq!(
        seen,
        [
            (ResponseQuirk::NoBody, true),
            (ResponseQuirk::BodyOnError, false),
            (ResponseQuirk::BodyOnError, true)
        ]
    );
}

#[test]
fn port_is_closed_during_the_down_time() {
    let mut plan = ScriptPlan::new(Script::new(), 0, 1);
    assert_eq!(plan.down(SECOND), (false, None));
    plan.set_script(Script::new().down(SECOND, 2 * SECOND), SECOND);
    assert_eq!(plan.down(SECOND), (false, Some(2 * SECOND)));
    assert_eq!(plan.down(2 * SECOND), (true, Some(4 * SECOND)));
    assert_eq!(plan.down(4 * SECOND), (false, None));
}

#[test]
fn link_lifetime_is_random_within_its_range() {
    let mut plan = ScriptPlan::new(Script::new().cut_links_after(SECOND, 30 * SECOND), 4, 1);
    let [one, other] =
        [plan.link_lifetime(), plan.link_lifetime()].map(|time| time.expect("the script cuts links"));
    assert!(one != other && (SECOND..=30 * SECOND).contains(&one), "{one:?} {other:?}");
    assert_eq!(ScriptPlan::new(Script::new(), 4, 1).link_lifetime(), None);
}

#[test]
fn rules_match_destination_and_text() {
    let script = Script::new()
        .reject_when(SubmitFilter::to("+4915"), CommandStatus::INVDSTADR)
        .reject_when(SubmitFilter::text("win a").only_first(1), CommandStatus::SUBMITFAIL);
    let mut plan = ScriptPlan::new(script, 0, 1);
    let mut respond = |destination: &[u8], data_coding: u8, text: &[u8]| {
        describe(plan.next(&SubmitView { destination, data_coding, text, ..SUBMIT }).response)
    };
    assert_eq!(respond(b"4915112345678", 0, b"hi"), "0x0b");
    assert_eq!(respond(b"+4915112345678", 0, b"hi"), "0x0b");
    assert_eq!(respond(b"4415112345678", 0, b"hi"), "1");
    assert_eq!(respond(b"4415112345678", 8, b"\0w\0i\0n\0 \0a\0 \0c\0a\0r"), "0x45");
    assert_eq!(respond(b"4415112345678", 0, b"win a car"), "2");
}

#[test]
fn random_decisions_depend_on_the_seed() {
    let rejected = |seed: u64| {
        let script = Script::new().reject_when(SubmitFilter::per_mille(250), CommandStatus::SYSERR);
        let mut plan = ScriptPlan::new(script, seed, 1);
        (0..1000)
            .map(|_| plan.next(&SUBMIT).response == PlannedResponse::Reject(CommandStatus::SYSERR))
            .collect::<Vec<_>>()
    };
    assert_eq!(rejected(1), rejected(1));
    assert_ne!(rejected(1), rejected(2));
    let count = rejected(1).into_iter().filter(|rejected| *rejected).count();
    assert!((200..300).contains(&count), "{count} of 1000 is not about a quarter");
}

#[test]
fn submits_beyond_window_rate_and_receipt_queue_are_rejected() {
    let mut plan = ScriptPlan::new(Script::new().window_max(2).rate_max(3), 0, 1);
    let mut respond = |unanswered: u32, at_ms: u64, receipts_full: bool| {
        let at = Duration::from_millis(at_ms);
        describe(plan.next(&SubmitView { unanswered, at, receipts_full, ..SUBMIT }).response)
    };
    assert_eq!(respond(2, 0, false), "1");
    assert_eq!(respond(3, 0, false), "0x58");
    assert_eq!(respond(1, 900, false), "2");
    assert_eq!(respond(1, 900, false), "3");
    assert_eq!(respond(1, 900, false), "0x58");
    assert_eq!(respond(1, 1000, false), "4");
    assert_eq!(respond(1, 1000, false), "0x58", "two are less than a second old");
    assert_eq!(respond(1, 9000, true), "0x14");
}

#[test]
fn full_receipt_queue_accepts_submits_without_receipt() {
    let mut plan = ScriptPlan::new(Script::new(), 0, 1);
    let seen = SubmitView { receipts_full: true, registered_delivery: 0, ..SUBMIT };
    assert_eq!(describe(plan.next(&seen).response), "1");
}

#[test]
fn response_delays_follow_their_own_rules() {
    let slow = Duration::from_secs(9);
    let script =
        Script::new().delay(Duration::from_millis(5)).delay_when(SubmitFilter::nth(2), slow).throttle(1);
    let mut plan = ScriptPlan::new(script, 0, 1);
    let delays: Vec<u128> = (0..3).map(|_| plan.next(&SUBMIT).delay.as_millis()).collect();
    assert_eq!(delays, [5, 9000, 5]);
}

/// Checks which outcomes are reported with this registered_delivery.
#[track_caller]
fn check_requested(registered_delivery: u8, expect: &str) {
    let reported: Vec<&str> = Outcome::ALL
        .into_iter()
        .filter(|outcome| {
            let script = Script::new().receipt_after(Duration::ZERO, *outcome);
            let mut plan = ScriptPlan::new(script, 0, 1);
            plan.next(&SubmitView { registered_delivery, ..SUBMIT }).receipts.outcome.is_some()
        })
        .map(Outcome::word)
        .collect();
    assert_eq!(reported.join(" "), expect, "registered_delivery 0x{registered_delivery:02x}");
}

#[test]
fn registered_delivery_selects_receipts() {
    let all = "ENROUTE DELIVRD EXPIRED DELETED UNDELIV ACCEPTD UNKNOWN REJECTD";
    check_requested(0x00, "");
    check_requested(0x01, all);
    check_requested(0x02, "ENROUTE EXPIRED DELETED UNDELIV ACCEPTD UNKNOWN REJECTD");
    check_requested(0x03, "DELIVRD");
    check_requested(0x10, "ENROUTE ACCEPTD");
    check_requested(0x11, all);
}

#[test]
fn message_that_is_not_accepted_gets_no_receipt() {
    let mut plan = ScriptPlan::new(Script::new().throttle(1).ignore_first(1).cut_before_response(1), 0, 1);
    assert_eq!(plan.next(&SUBMIT).receipts, Receipts::never());
    assert_eq!(plan.next(&SUBMIT).receipts, Receipts::never());
    assert_eq!(plan.next(&SUBMIT).receipts, Receipts::after(Duration::ZERO, Outcome::Delivered));
}

#[test]
fn binds_are_rejected_by_count_and_by_password() {
    let script = Script::new().reject_binds(2, CommandStatus::BINDFAIL).credentials("hermod", "secret");
    let mut plan = ScriptPlan::new(script, 0, 1);
    let mut bind = |id: &[u8], password: &[u8]| plan.bind(id, password, BindCount::default());
    assert_eq!(bind(b"hermod", b"secret"), Err(CommandStatus::BINDFAIL));
    assert_eq!(bind(b"hermod", b"secret"), Err(CommandStatus::BINDFAIL));
    assert_eq!(bind(b"hermod", b"wrong"), Err(CommandStatus::INVPASWD));
    assert_eq!(bind(b"hermes", b"secret"), Err(CommandStatus::INVPASWD));
    assert_eq!(bind(b"hermod", b"secret"), Ok(()));
}

#[test]
fn binds_beyond_the_limit_or_beside_lingering_links_are_rejected() {
    let bind = |script: Script, bound: usize, lingering: usize| {
        ScriptPlan::new(script, 0, 1).bind(b"hermod", b"", BindCount { bound, lingering }).is_ok()
    };
    let limit = || Script::new().binds_max(2);
    assert!(bind(limit(), 1, 0) && !bind(limit(), 2, 0) && !bind(limit(), 1, 1) && bind(limit(), 0, 1));
    let linger = || Script::new().already_bound_for(SECOND);
    assert!(bind(linger(), 9, 0) && !bind(linger(), 0, 1));
}

#[test]
fn new_script_starts_from_its_beginning_and_ids_continue() {
    let mut plan = ScriptPlan::new(Script::new().throttle(1), 0, 100);
    assert_eq!(describe(plan.next(&SUBMIT).response), "0x58");
    assert_eq!(describe(plan.next(&SUBMIT).response), "100");
    plan.set_script(Script::new().throttle(1).ids(IdFormat::new(IdStyle::Hex)), Duration::ZERO);
    assert_eq!(describe(plan.next(&SUBMIT).response), "0x58");
    assert_eq!(describe(plan.next(&SUBMIT).response), "101");
    assert_eq!(plan.ids().in_response(101), "65");
}

#[test]
fn unknown_ids_are_outside_the_range_of_given_ids() {
    let mut plan = ScriptPlan::new(Script::new(), 3, 1_700_000_000_000_000);
    assert!((0..1000).all(|_| plan.unknown_id() >= UNKNOWN_IDS_FROM));
}

#[test]
fn links_of_a_crash_loop_ignore_submits_and_crash_at_the_last() {
    let mut plan = ScriptPlan::new(Script::new().crash_loop(1, 3), 0, 1);
    let no_links = BindCount { bound: 0, lingering: 0 };
    plan.bind(b"hermod", b"secret", no_links).unwrap();
    let replies = [1, 2, 3]
        .map(|unanswered| describe(plan.next(&SubmitView { unanswered, ..SUBMIT }).response))
        .join(", ");
    assert_eq!(replies, "ignored, ignored, crash");
    plan.bind(b"hermod", b"secret", no_links).unwrap();
    assert_eq!(describe(plan.next(&SUBMIT).response), "1");
}

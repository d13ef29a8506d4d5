//! Scripts as sentences: what a plan decides about one submit after the other.

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

fn told(reply: Response) -> String {
    match reply {
        Response::Accept { id, then: FollowUp::Nothing } => format!("{id}"),
        Response::Accept { id, then } => format!("{id}+{then:?}"),
        Response::Reject(CommandStatus(status)) => format!("0x{status:02x}"),
        Response::Nack(CommandStatus(status)) => format!("nack 0x{status:02x}"),
        Response::Crash => "crash".to_owned(),
        Response::Silence => "silence".to_owned(),
        Response::Withhold { id, then: FollowUp::Nothing } => format!("{id}+no answer"),
        Response::Withhold { id, then } => format!("{id}+{then:?} unanswered"),
    }
}

/// What the first submits are told, in order.
#[track_caller]
fn check(script: Script, expect: &str) {
    let mut plan = Plan::new(script, 7, 1);
    let count = expect.split(", ").count();
    let replies: Vec<String> = (0..count).map(|_| told(plan.next(&SUBMIT).reply)).collect();
    assert_eq!(replies.join(", "), expect);
}

#[test]
fn the_easy_carrier_takes_everything() {
    check(Script::new(), "1, 2, 3");
}

#[test]
fn throttling_ends_after_its_count_or_returns_with_every_kth() {
    check(Script::new().throttle(2), "0x58, 0x58, 1, 2");
    check(Script::new().throttle_every(3), "1, 2, 0x58, 3, 4, 0x58");
}

#[test]
fn rules_are_asked_in_order_and_count_only_what_reaches_them() {
    let script = Script::new().throttle(2).reject_first(1, CommandStatus::SYSERR).ignore_first(1);
    check(script, "0x58, 0x58, 0x08, silence, 1");
}

#[test]
fn the_connection_is_ended_in_every_way_a_carrier_knows() {
    let script = Script::new()
        .cut_after_response(2)
        .cut_before_response(3)
        .unbind_after_response(3)
        .garbage_after_response(3);
    check(script, "1, 2+Cut, 3, 4+Cut unanswered, 5+Unbind, 6+Garbage, 7");
    let script = Script::new().unbind_before_response(1).bad_length_after(1, 4).mute_after(1);
    check(script, "1+Unbind unanswered, 2+BadLength(4), 3+Mute, 4");
    let script = Script::new()
        .rule(SubmitFilter::nth(1), SubmitAction::MuteBeforeResponse)
        .stall_after(1, SECOND)
        .lose_responses(2);
    check(script, "1+Mute unanswered, 2+Stall(1s), 3+no answer, 4+no answer, 5");
    check(Script::new().nack_first(1, CommandStatus::INVCMDID), "nack 0x03, 1");
}

#[test]
fn throttling_comes_in_bursts_by_count_or_by_time() {
    check(Script::new().throttle_bursts(2, 3), "0x58, 0x58, 1, 0x58, 0x58, 2");
    check(Script::new().queue_full(1), "0x14, 1");
    let mut plan = Plan::new(Script::new(), 0, 1);
    plan.set_script(Script::new().throttle_for(SECOND), 5 * SECOND);
    let mut say = |at: Duration| told(plan.next(&SubmitView { at, ..SUBMIT }).reply);
    assert_eq!(say(5 * SECOND), "0x58");
    assert_eq!(say(6 * SECOND - Duration::from_millis(1)), "0x58");
    assert_eq!(say(6 * SECOND), "1");
}

#[test]
fn every_act_can_be_left_to_chance() {
    for act in [
        SubmitAction::Silence,
        SubmitAction::LoseResponse,
        SubmitAction::CutBeforeResponse,
        SubmitAction::Mute,
        SubmitAction::Stall(SECOND),
    ] {
        let mut plan = Plan::new(Script::new().rule(SubmitFilter::per_mille(500), act), 11, 1);
        let plain = (0..1000)
            .filter(|_| matches!(plan.next(&SUBMIT).reply, Response::Accept { then: FollowUp::Nothing, .. }))
            .count();
        assert!((400..600).contains(&plain), "{act:?} left {plain} of 1000 alone");
    }
}

#[test]
fn scattered_answers_come_at_different_times() {
    let mut plan = Plan::new(Script::new().delay(SECOND).responses_out_of_order(SECOND), 1, 1);
    let delays: Vec<Duration> = (0..100).map(|_| plan.next(&SUBMIT).delay).collect();
    assert!(delays.iter().all(|delay| (SECOND..=2 * SECOND).contains(delay)));
    assert!(!delays.is_sorted());
}

#[test]
fn manners_and_wordings_follow_their_own_rules() {
    let script = Script::new()
        .responses_without_id(1)
        .bodies_in_error_responses()
        .receipt_format_when(SubmitFilter::nth(2), ReceiptFormat::shortest());
    let mut plan = Plan::new(script, 0, 1);
    let seen: Vec<(ResponseQuirk, bool)> = (0..3)
        .map(|_| plan.next(&SUBMIT))
        .map(|behaviour| (behaviour.quirk, *behaviour.wording == ReceiptFormat::standard()))
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
fn the_door_is_closed_for_a_while() {
    let mut plan = Plan::new(Script::new(), 0, 1);
    assert_eq!(plan.down(SECOND), (false, None));
    plan.set_script(Script::new().down(SECOND, 2 * SECOND), SECOND);
    assert_eq!(plan.down(SECOND), (false, Some(2 * SECOND)));
    assert_eq!(plan.down(2 * SECOND), (true, Some(4 * SECOND)));
    assert_eq!(plan.down(4 * SECOND), (false, None));
}

#[test]
fn links_last_a_random_time() {
    let mut plan = Plan::new(Script::new().cut_links_after(SECOND, 30 * SECOND), 4, 1);
    let [one, other] = [plan.lifetime(), plan.lifetime()].map(|time| time.expect("there is an end"));
    assert!(one != other && (SECOND..=30 * SECOND).contains(&one), "{one:?} {other:?}");
    assert_eq!(Plan::new(Script::new(), 4, 1).lifetime(), None);
}

#[test]
fn rules_may_look_at_destination_and_text() {
    let script = Script::new()
        .reject_when(SubmitFilter::to("+4915"), CommandStatus::INVDSTADR)
        .reject_when(SubmitFilter::text("win a").only_first(1), CommandStatus::SUBMITFAIL);
    let mut plan = Plan::new(script, 0, 1);
    let mut say = |destination: &[u8], data_coding: u8, text: &[u8]| {
        told(plan.next(&SubmitView { destination, data_coding, text, ..SUBMIT }).reply)
    };
    assert_eq!(say(b"4915112345678", 0, b"hi"), "0x0b");
    assert_eq!(say(b"+4915112345678", 0, b"hi"), "0x0b");
    assert_eq!(say(b"4415112345678", 0, b"hi"), "1");
    assert_eq!(say(b"4415112345678", 8, b"\0w\0i\0n\0 \0a\0 \0c\0a\0r"), "0x45");
    assert_eq!(say(b"4415112345678", 0, b"win a car"), "2");
}

#[test]
fn chance_is_seeded() {
    let refused = |seed: u64| {
        let script = Script::new().reject_when(SubmitFilter::per_mille(250), CommandStatus::SYSERR);
        let mut plan = Plan::new(script, seed, 1);
        (0..1000)
            .map(|_| plan.next(&SUBMIT).reply == Response::Reject(CommandStatus::SYSERR))
            .collect::<Vec<_>>()
    };
    assert_eq!(refused(1), refused(1));
    assert_ne!(refused(1), refused(2));
    let count = refused(1).into_iter().filter(|refused| *refused).count();
    assert!((200..300).contains(&count), "{count} of 1000 is not about a quarter");
}

#[test]
fn a_full_window_a_full_second_and_a_full_queue_push_back() {
    let mut plan = Plan::new(Script::new().window_max(2).rate_max(3), 0, 1);
    let mut say = |unanswered: u32, at_ms: u64, receipts_full: bool| {
        let at = Duration::from_millis(at_ms);
        told(plan.next(&SubmitView { unanswered, at, receipts_full, ..SUBMIT }).reply)
    };
    assert_eq!(say(2, 0, false), "1");
    assert_eq!(say(3, 0, false), "0x58");
    assert_eq!(say(1, 900, false), "2");
    assert_eq!(say(1, 900, false), "3");
    assert_eq!(say(1, 900, false), "0x58");
    assert_eq!(say(1, 1000, false), "4");
    assert_eq!(say(1, 1000, false), "0x58", "two are less than a second old");
    assert_eq!(say(1, 9000, true), "0x14");
}

#[test]
fn a_full_queue_still_takes_who_wants_no_receipt() {
    let mut plan = Plan::new(Script::new(), 0, 1);
    let seen = SubmitView { receipts_full: true, registered_delivery: 0, ..SUBMIT };
    assert_eq!(told(plan.next(&seen).reply), "1");
}

#[test]
fn delays_follow_their_own_rules() {
    let slow = Duration::from_secs(9);
    let script =
        Script::new().delay(Duration::from_millis(5)).delay_when(SubmitFilter::nth(2), slow).throttle(1);
    let mut plan = Plan::new(script, 0, 1);
    let delays: Vec<u128> = (0..3).map(|_| plan.next(&SUBMIT).delay.as_millis()).collect();
    assert_eq!(delays, [5, 9000, 5]);
}

/// Which final outcomes are told under a registered_delivery.
#[track_caller]
fn check_asked(registered_delivery: u8, expect: &str) {
    let told: Vec<&str> = Outcome::ALL
        .into_iter()
        .filter(|outcome| {
            let script = Script::new().receipt_after(Duration::ZERO, *outcome);
            let mut plan = Plan::new(script, 0, 1);
            plan.next(&SubmitView { registered_delivery, ..SUBMIT }).receipts.outcome.is_some()
        })
        .map(Outcome::word)
        .collect();
    assert_eq!(told.join(" "), expect, "registered_delivery 0x{registered_delivery:02x}");
}

#[test]
fn registered_delivery_decides_who_gets_receipts() {
    let all = "ENROUTE DELIVRD EXPIRED DELETED UNDELIV ACCEPTD UNKNOWN REJECTD";
    check_asked(0x00, "");
    check_asked(0x01, all);
    check_asked(0x02, "ENROUTE EXPIRED DELETED UNDELIV ACCEPTD UNKNOWN REJECTD");
    check_asked(0x03, "DELIVRD");
    check_asked(0x10, "ENROUTE ACCEPTD");
    check_asked(0x11, all);
}

#[test]
fn what_is_not_taken_gets_no_receipt() {
    let mut plan = Plan::new(Script::new().throttle(1).ignore_first(1).cut_before_response(1), 0, 1);
    assert_eq!(plan.next(&SUBMIT).receipts, Receipts::never());
    assert_eq!(plan.next(&SUBMIT).receipts, Receipts::never());
    assert_eq!(plan.next(&SUBMIT).receipts, Receipts::after(Duration::ZERO, Outcome::Delivered));
}

#[test]
fn binds_are_refused_by_count_and_by_password() {
    let script = Script::new().reject_binds(2, CommandStatus::BINDFAIL).credentials("hermod", "secret");
    let mut plan = Plan::new(script, 0, 1);
    let mut bind = |id: &[u8], password: &[u8]| plan.bind(id, password, BindCount::default());
    assert_eq!(bind(b"hermod", b"secret"), Err(CommandStatus::BINDFAIL));
    assert_eq!(bind(b"hermod", b"secret"), Err(CommandStatus::BINDFAIL));
    assert_eq!(bind(b"hermod", b"wrong"), Err(CommandStatus::INVPASWD));
    assert_eq!(bind(b"hermes", b"secret"), Err(CommandStatus::INVPASWD));
    assert_eq!(bind(b"hermod", b"secret"), Ok(()));
}

#[test]
fn binds_beyond_the_limit_and_beside_ghosts_are_told_they_are_bound() {
    let bind = |script: Script, bound: usize, lingering: usize| {
        Plan::new(script, 0, 1).bind(b"hermod", b"", BindCount { bound, lingering }).is_ok()
    };
    let limit = || Script::new().binds_max(2);
    assert!(bind(limit(), 1, 0) && !bind(limit(), 2, 0) && !bind(limit(), 1, 1) && bind(limit(), 0, 1));
    let linger = || Script::new().already_bound_for(SECOND);
    assert!(bind(linger(), 9, 0) && !bind(linger(), 0, 1));
}

#[test]
fn a_new_script_starts_from_its_beginning_but_ids_go_on() {
    let mut plan = Plan::new(Script::new().throttle(1), 0, 100);
    assert_eq!(told(plan.next(&SUBMIT).reply), "0x58");
    assert_eq!(told(plan.next(&SUBMIT).reply), "100");
    plan.set_script(Script::new().throttle(1).ids(IdFormat::new(IdStyle::Hex)), Duration::ZERO);
    assert_eq!(told(plan.next(&SUBMIT).reply), "0x58");
    assert_eq!(told(plan.next(&SUBMIT).reply), "101");
    assert_eq!(plan.ids().in_answer(101), "65");
}

#[test]
fn unknown_ids_are_never_given() {
    let mut plan = Plan::new(Script::new(), 3, 1_700_000_000_000_000);
    assert!((0..1000).all(|_| plan.unknown_id() >= UNKNOWN_IDS_FROM));
}

#[test]
fn links_of_a_crash_loop_answer_nothing_and_crash_at_their_last_submit() {
    let mut plan = Plan::new(Script::new().crash_loop(1, 3), 0, 1);
    let nobody = BindCount { bound: 0, lingering: 0 };
    plan.bind(b"hermod", b"secret", nobody).unwrap();
    let replies =
        [1, 2, 3].map(|unanswered| told(plan.next(&SubmitView { unanswered, ..SUBMIT }).reply)).join(", ");
    assert_eq!(replies, "silence, silence, crash");
    plan.bind(b"hermod", b"secret", nobody).unwrap();
    assert_eq!(told(plan.next(&SUBMIT).reply), "1");
}

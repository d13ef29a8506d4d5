//! Unit tests of `health.rs`.

use super::*;

fn traffic(accepted: u64, refused: &[(ErrorClass, u64)], timed_out: u64, receipts: u64) -> Traffic {
    let mut traffic = Traffic { accepted, timed_out, receipts, ..Traffic::default() };
    for (place, class) in ErrorClass::ALL.into_iter().enumerate() {
        traffic.refused[place] = refused.iter().filter(|(of, _)| *of == class).map(|(_, count)| count).sum();
    }
    traffic
}

#[track_caller]
fn check(stopped: bool, sending_links_bound: usize, recent: Recent, expect: Health) {
    let inputs = HealthInputs {
        stopped,
        sending_links_bound,
        stalled: false,
        slow: false,
        messages_wait: false,
        recent,
    };
    assert_eq!(health_of(&inputs), expect, "{recent:?}");
}

#[test]
fn throttling_carrier_with_waiting_messages_is_poor() {
    for (stopped, sending_links_bound, expect) in
        [(false, 1, Health::Poor), (false, 0, Health::Down), (true, 1, Health::Stopped)]
    {
        let recent = Recent::default();
        let inputs = HealthInputs {
            stopped,
            sending_links_bound,
            stalled: false,
            slow: true,
            messages_wait: true,
            recent,
        };
        assert_eq!(health_of(&inputs), expect);
    }
}

#[test]
fn bound_links_and_a_stop_take_precedence() {
    check(false, 0, Recent::default(), Health::Down);
    check(false, 1, Recent::default(), Health::Up);
    check(true, 1, Recent::default(), Health::Stopped);
    check(true, 0, Recent::default(), Health::Stopped);
}

#[test]
fn carrier_with_more_than_half_failures_in_a_minute_is_poor() {
    use ErrorClass::{RejectedRoute, Temporary, Throttled, Unknown};
    for (minute, expect) in [
        (traffic(0, &[(Temporary, 19)], 0, 0), Health::Up),
        (traffic(0, &[(Temporary, 20)], 0, 0), Health::Poor),
        (traffic(10, &[(Temporary, 10)], 0, 0), Health::Up),
        (traffic(10, &[(Temporary, 6), (Unknown, 5)], 0, 0), Health::Poor),
        (traffic(10, &[], 11, 0), Health::Poor),
        (traffic(0, &[(RejectedRoute, 100)], 0, 0), Health::Up),
        (traffic(0, &[(Throttled, 100)], 0, 0), Health::Up),
    ] {
        check(false, 2, Recent { minute, ..Recent::default() }, expect);
    }
}

#[test]
fn carrier_that_refuses_every_retry_is_poor_while_messages_wait() {
    use ErrorClass::{RejectedRoute, Temporary, Throttled};
    for (since_accepted, accepted_in_minute, messages_wait, expect) in [
        (traffic(0, &[(Temporary, 15)], 0, 0), 0, true, Health::Poor),
        (traffic(0, &[(Temporary, 5)], 0, 0), 0, true, Health::Poor),
        (traffic(0, &[], 5, 0), 0, true, Health::Poor),
        (traffic(0, &[(Temporary, 4)], 0, 0), 0, true, Health::Up),
        (traffic(0, &[(Temporary, 15)], 0, 0), 1, true, Health::Up),
        // Otherwise a carrier whose messages all moved away would never be tried again.
        (traffic(0, &[(Temporary, 15)], 0, 0), 0, false, Health::Up),
        (traffic(0, &[(Temporary, 5), (RejectedRoute, 5)], 0, 0), 0, true, Health::Up),
        (traffic(0, &[(Temporary, 4), (Throttled, 20)], 0, 0), 0, true, Health::Up),
    ] {
        let minute = traffic(accepted_in_minute, &[], 0, 0);
        let recent = Recent { minute, since_accepted, ..Recent::default() };
        let inputs = HealthInputs {
            stopped: false,
            sending_links_bound: 1,
            stalled: false,
            slow: false,
            messages_wait,
            recent,
        };
        assert_eq!(health_of(&inputs), expect, "{since_accepted:?}, messages wait: {messages_wait}");
    }
}

#[test]
fn carrier_without_receipts_is_poor_if_it_used_to_send_them() {
    for (ten_minutes, before, expect) in [
        ((100, 29), (1000, 990), Health::Poor),
        ((100, 30), (1000, 990), Health::Up),
        ((99, 0), (1000, 990), Health::Up),
        ((100, 0), (1000, 100), Health::Up),
        ((100, 0), (99, 99), Health::Up),
        ((100, 0), (1000, 600), Health::Poor),
    ] {
        let of = |(accepted, receipts)| traffic(accepted, &[], 0, receipts);
        let recent = Recent { ten_minutes: of(ten_minutes), before: of(before), ..Recent::default() };
        check(false, 1, recent, expect);
    }
}

#[test]
fn carrier_is_stopped_above_one_protocol_error_in_twenty() {
    use ErrorClass::ProtocolError;
    for (accepted, wrong, expect) in
        [(0, 19, false), (0, 20, true), (19, 1, false), (18, 2, true), (950, 50, false), (949, 51, true)]
    {
        assert_eq!(
            must_stop(&traffic(accepted, &[(ProtocolError, wrong)], 0, 0)),
            expect,
            "{wrong} of {accepted}"
        );
    }
}

#[test]
fn few_receipts_raise_the_alarm_once_five_are_unmatched() {
    for (receipts, unmatched, expect) in [
        (4, 4, false),
        (5, 5, true),
        (18, 18, true),
        (18, 5, true),
        (99, 4, false),
        (99, 5, true),
        (0, 0, false),
    ] {
        assert_eq!(ids_do_not_match(receipts, unmatched), expect, "{unmatched} of {receipts}");
    }
}

#[test]
fn carrier_works_if_it_is_bound_and_answers_while_messages_wait() {
    for (stopped, bound, messages_wait, answers, expect) in [
        (false, true, false, false, true),
        (false, true, true, true, true),
        (false, true, true, false, false),
        (false, false, false, false, false),
        (false, false, true, true, false),
        (true, false, true, false, true),
    ] {
        let check = CarrierCheck { stopped, bound, messages_wait, answers };
        assert_eq!(works(check), expect, "{check:?}");
    }
}

#[test]
fn more_than_one_unmatched_receipt_in_a_hundred_raises_the_alarm() {
    for (receipts, unmatched, expect) in
        [(100, 1, false), (100, 2, true), (1000, 10, false), (1000, 11, true), (500, 5, false)]
    {
        assert_eq!(ids_do_not_match(receipts, unmatched), expect, "{unmatched} of {receipts}");
    }
}

#[test]
fn carrier_is_stalled_after_five_silent_seconds_until_it_answers() {
    let at = |seconds: u64| Moment(seconds * 1_000);
    let mut watch = StallWatch::starting_at(7);
    let silent = |out, messages_wait| StallInputs { answered: 7, out, messages_wait };
    assert!(!watch.check(silent(2, true), at(0)));
    assert!(!watch.check(silent(2, true), at(4)));
    assert!(watch.check(silent(2, true), at(5)));
    assert!(watch.check(silent(2, false), at(6)), "its queue was moved");
    assert!(watch.check(silent(0, false), at(50)), "its parts are in doubt");
    assert!(!watch.check(silent(0, false), at(66)), "it is tried again");
    assert!(!watch.check(silent(2, true), at(67)));
    assert!(watch.check(silent(2, true), at(72)));
    assert!(!watch.check(StallInputs { answered: 8, out: 2, messages_wait: true }, at(73)), "it answers");
}

#[test]
fn carrier_with_little_traffic_that_answers_slowly_is_not_stalled() {
    let at = |seconds: u64| Moment(seconds * 1_000);
    let mut watch = StallWatch::starting_at(0);
    for second in 0..100 {
        let inputs = StallInputs { answered: second / 20, out: 1, messages_wait: false };
        assert!(!watch.check(inputs, at(second)), "{second}");
    }
}

#[test]
fn receipts_are_missing_until_enough_come_again() {
    let recent = |accepted, receipts| Recent {
        ten_minutes: traffic(accepted, &[], 0, receipts),
        before: traffic(10_000, &[], 0, 9_500),
        ..Recent::default()
    };
    for (is_raised, accepted, receipts, expect) in [
        (false, 1_000, 950, false),
        (false, 1_000, 300, false),
        (false, 1_000, 299, true),
        // Too few to judge.
        (false, 99, 0, false),
        (true, 99, 0, true),
        (true, 99, 30, false),
        (true, 0, 0, false),
    ] {
        let actual = receipts_are_missing(is_raised, &recent(accepted, receipts));
        assert_eq!(actual, expect, "{is_raised} {accepted} {receipts}");
    }
    let never = Recent { ten_minutes: traffic(1_000, &[], 0, 0), ..Recent::default() };
    assert!(!receipts_are_missing(false, &never), "it has never sent any");
}

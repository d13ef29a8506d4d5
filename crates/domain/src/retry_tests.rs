//! Unit tests of `retry.rs`.

use proptest::prelude::*;

use super::*;

const HALF: u32 = 1 << 31;

#[track_caller]
fn check(waits: impl IntoIterator<Item = Option<Duration>>, expect: &str) {
    let result: Vec<String> = waits
        .into_iter()
        .map(|wait| wait.map_or("over".to_owned(), |wait| wait.as_millis().to_string()))
        .collect();
    assert_eq!(result.join(" "), expect);
}

#[test]
fn failed_report_is_retried_at_the_times_of_the_contract() {
    let schedule = Schedule::after_failed_report();
    for random in [0, HALF, u32::MAX] {
        let waits = (1..=6).map(|n| schedule.wait(n, random));
        check(waits, "30000 60000 300000 900000 3600000 3600000");
    }
}

#[test]
fn throttled_recipient_is_retried_after_growing_waits() {
    let schedule = Schedule::after_throttled_recipient();
    check((1..=5).map(|n| schedule.wait(n, HALF)), "1000 5000 30000 60000 60000");
}

#[test]
fn part_is_retried_after_growing_and_then_constant_waits() {
    let schedule = Schedule::after_temporary_error();
    check((1..=6).map(|n| schedule.wait(n, HALF)), "5000 30000 120000 600000 600000 600000");
    check((1..=4).map(|n| schedule.wait(n, 0)), "4500 27000 108000 540000");
    check((1..=4).map(|n| schedule.wait(n, u32::MAX)), "5499 32999 131999 659999");
    check([schedule.wait(u32::MAX, HALF)], "600000");
}

#[test]
fn webhook_is_posted_six_times_within_a_day() {
    let usual = [50 * SECOND, 300 * SECOND, 1_800 * SECOND, 3 * 3_600 * SECOND, 18 * 3_600 * SECOND];
    let schedule = Schedule::after_failed_post(&usual);
    check((1..=6).map(|n| schedule.wait(n, HALF)), "50000 300000 1800000 10800000 64800000 over");
    check((1..=5).map(|n| schedule.wait(n, 0)), "45000 270000 1620000 9720000 58320000");
    check((1..=5).map(|n| schedule.wait(n, u32::MAX)), "54999 329999 1979999 11879999 71279999");
}

#[test]
fn schedule_can_end() {
    let schedule = Schedule::new(&[SECOND, 60 * SECOND], AfterLast::GiveUp, 0);
    check((1..=4).map(|n| schedule.wait(n, 7)), "1000 60000 over over");
    check([Schedule::new(&[], AfterLast::RepeatLast, 0).wait(1, 7)], "over");
}

#[test]
fn no_retry_after_the_end_of_validity() {
    let schedule = Schedule::after_temporary_error();
    let now = Timestamp::from_millis(1_750_000_000_000);
    let five_seconds_on = now.plus(5 * SECOND);
    assert_eq!(schedule.next_at(1, now, now.plus(6 * SECOND), HALF), Some(five_seconds_on));
    assert_eq!(schedule.next_at(1, now, five_seconds_on, HALF), None);
    assert_eq!(schedule.next_at(1, now, now, HALF), None);
}

#[test]
fn backoff_doubles_up_to_its_limit() {
    let backoff = Backoff { floor: SECOND / 4, first: SECOND, max: 60 * SECOND };
    let longest = (1..=8).map(|n| Some(backoff.wait(n, u32::MAX)));
    check(longest, "999 1999 3999 7999 15999 31999 59999 59999");
    check([1, 5, u32::MAX].map(|n| Some(backoff.wait(n, 0))), "250 250 250");
    check([1, 2, u32::MAX].map(|n| Some(backoff.wait(n, HALF))), "625 1125 30125");
}

#[test]
fn floor_above_the_range_is_the_wait() {
    let backoff = Backoff { floor: 300 * SECOND, first: SECOND, max: 60 * SECOND };
    check([1, 9].map(|n| Some(backoff.wait(n, u32::MAX))), "300000 300000");
}

proptest! {
    #[test]
    fn waits_stay_within_their_bounds(failures in any::<u32>(), random in any::<u32>()) {
        let backoff = Backoff { floor: SECOND, first: 2 * SECOND, max: 60 * SECOND };
        prop_assert!((SECOND..=60 * SECOND).contains(&backoff.wait(failures, random)));
        let wait = Schedule::after_temporary_error().wait(failures, random).unwrap();
        prop_assert!((4 * SECOND..=660 * SECOND).contains(&wait));
    }

    #[test]
    fn attempts_follow_one_another_until_the_end(randoms in prop::collection::vec(any::<u32>(), 1..600)) {
        let schedule = Schedule::after_temporary_error();
        let accepted = Timestamp::from_millis(1_750_000_000_000);
        let until = accepted.plus(72 * 3600 * SECOND);
        let mut now = accepted;
        for (failures, random) in (1..).zip(randoms) {
            let Some(next) = schedule.next_at(failures, now, until, random) else {
                prop_assert!(until.since(now) <= 660 * SECOND);
                break;
            };
            prop_assert!(now < next && next < until);
            now = next;
        }
    }
}

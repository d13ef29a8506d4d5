//! Unit tests of `pace.rs`.

use proptest::prelude::*;

use super::*;

#[test]
fn take_all_takes_all_or_nothing() {
    let mut pace = Pace::full(Rate::per_second(10).unwrap(), Timestamp::EPOCH);
    let taken: Vec<bool> =
        [4, 7, 6, 1].into_iter().map(|wanted| pace.take_all(wanted, Timestamp::EPOCH)).collect();
    assert_eq!(taken, [true, false, true, false]);
    assert!(!pace.take_all(49, Timestamp::from_millis(999)));
    assert!(pace.take_all(49, Timestamp::from_millis(1_000)), "a full bucket is enough for anything");
    assert_eq!(pace.remaining(Timestamp::from_millis(1_000)), 0);
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_750_000_000_000 + ms)
}

fn rate(per_second: u32, burst: u32) -> Rate {
    Rate::per_second(per_second).and_then(|rate| rate.with_burst(burst)).unwrap()
}

/// Tries to admit at each time and compares the results: `+` if admitted, otherwise the wait in milliseconds.
#[track_caller]
fn check(rate: Rate, times_ms: &[i64], expect: &str) {
    let mut pace = Pace::full(rate, at(0));
    let results: Vec<String> = times_ms
        .iter()
        .map(|ms| match pace.admit(at(*ms)) {
            Ok(()) => "+".to_owned(),
            Err(wait) => wait.as_millis().to_string(),
        })
        .collect();
    assert_eq!(results.join(" "), expect);
}

#[test]
fn burst_passes_and_then_one_per_interval() {
    check(rate(10, 3), &[0, 0, 0, 0, 99, 100, 100, 200], "+ + + 100 1 + 100 +");
}

#[test]
fn waits_are_rounded_up_to_be_sufficient() {
    check(rate(3, 1), &[0, 0, 333, 334], "+ 334 1 +");
    check(rate(1_000_000, 1), &[0, 0, 1], "+ 1 +");
}

#[test]
fn idle_bucket_never_holds_more_than_its_burst() {
    check(rate(10, 2), &[1_000_000_000, 1_000_000_000, 1_000_000_000], "+ + 100");
    let mut pace = Pace::full(rate(1_000_000, 1_000_000), Timestamp::from_millis(i64::MIN));
    assert_eq!(pace.take_up_to(u32::MAX, Timestamp::from_millis(i64::MAX)), 1_000_000);
}

#[test]
fn clock_set_back_costs_no_more_than_the_usual_wait() {
    check(rate(10, 1), &[0, -3_600_000, -3_599_900], "+ 100 +");
}

#[test]
fn take_up_to_takes_the_available_tokens() {
    let mut pace = Pace::full(rate(100, 50), at(0));
    assert_eq!(pace.take_up_to(30, at(0)), 30);
    assert_eq!(pace.take_up_to(30, at(0)), 20);
    assert_eq!(pace.take_up_to(30, at(9)), 0);
    assert_eq!(pace.remaining(at(10)), 1);
    assert_eq!(pace.take_up_to(30, at(100)), 10);
    assert_eq!(Pace::empty(rate(100, 50), at(0)).remaining(at(20)), 2);
}

#[test]
fn tokens_that_were_charged_elsewhere_are_paid_before_any_is_admitted() {
    let mut pace = Pace::full(rate(10, 10), at(0));
    pace.charge(4, at(0));
    assert_eq!(pace.remaining(at(0)), 6);
    pace.charge(16, at(0));
    assert_eq!(pace.admit(at(0)), Err(Duration::from_millis(1_100)), "ten are owed");
    assert_eq!(pace.admit(at(1_099)), Err(Duration::from_millis(1)));
    assert_eq!(pace.admit(at(1_100)), Ok(()));
    pace.charge(u32::MAX, at(1_100));
    assert_eq!(pace.debt_paid_in(), Duration::from_secs(16));
    assert_eq!(pace.admit(at(1_100)), Err(Duration::from_millis(16_100)), "the debt has a limit");
    pace.change_rate(rate(1, 1), at(1_100));
    assert_eq!(pace.debt_paid_in(), Duration::from_secs(1), "a lower rate does not prolong it");
}

/// Three nodes that each admit all they can, and tell each other ten times a second, admit what one would.
#[test]
fn buckets_that_are_charged_for_each_other_keep_the_rate_together() {
    let mut nodes = [(); 3].map(|()| Pace::full(rate(100, 100), at(0)));
    let (mut admitted, mut untold) = ([0_u32; 3], [0_u32; 3]);
    for ms in 0..10_000 {
        for (index, pace) in nodes.iter_mut().enumerate() {
            let taken = pace.take_up_to(5, at(ms));
            admitted[index] += taken;
            untold[index] += taken;
        }
        if ms % 100 == 99 {
            for (index, pace) in nodes.iter_mut().enumerate() {
                let others: u32 = (0..3).filter(|other| *other != index).map(|other| untold[other]).sum();
                pace.charge(others, at(ms));
            }
            untold = [0; 3];
        }
    }
    let total: u32 = admitted.iter().sum();
    // Ten seconds and the burst of one bucket.
    assert!((1_000..=1_150).contains(&total), "{admitted:?}");
}

#[test]
fn new_rate_keeps_the_tokens_in_the_bucket() {
    let mut pace = Pace::full(rate(100, 100), at(0));
    pace.change_rate(rate(10, 10), at(0));
    assert_eq!(pace.take_up_to(100, at(0)), 10);
    pace.change_rate(rate(1000, 1000), at(0));
    assert_eq!(pace.remaining(at(5)), 5);
}

#[test]
fn rates_are_between_one_and_a_million() {
    for (per_second, allowed) in [(0, false), (1, true), (1_000_000, true), (1_000_001, false)] {
        assert_eq!(Rate::per_second(per_second).is_ok(), allowed, "{per_second}");
        assert_eq!(rate(1, 1).with_burst(per_second).is_ok(), allowed, "{per_second}");
    }
}

proptest! {
    #[test]
    fn admits_never_more_than_rate_times_time_plus_burst(
        per_second in 1_u32..=PER_SECOND_MAX,
        burst in 1_u32..2000,
        steps in prop::collection::vec((0_u64..500, 0_u32..3000), 1..200),
    ) {
        let mut pace = Pace::full(rate(per_second, burst), at(0));
        let (mut elapsed_ms, mut admitted) = (0, 0);
        for (step_ms, wanted) in steps {
            elapsed_ms += step_ms;
            let now = at(i64::try_from(elapsed_ms).unwrap());
            admitted += u64::from(pace.take_up_to(wanted, now));
            admitted += u64::from(pace.admit(now).is_ok());
            let allowed_thousandths = u64::from(per_second) * elapsed_ms + u64::from(burst) * 1000;
            prop_assert!(admitted * 1000 <= allowed_thousandths);
        }
    }

    #[test]
    fn caller_is_admitted_after_the_returned_wait(
        per_second in 1_u32..=PER_SECOND_MAX,
        times_ms in prop::collection::vec(-5_000_i64..5_000, 1..50),
    ) {
        let mut pace = Pace::full(rate(per_second, 1), at(0));
        for ms in times_ms {
            if let Err(wait) = pace.admit(at(ms)) {
                prop_assert!(wait <= Duration::from_secs(1));
                prop_assert_eq!(pace.clone().admit(at(ms).plus(wait)), Ok(()));
            }
        }
    }
}

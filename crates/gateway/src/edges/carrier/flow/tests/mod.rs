//! Tests of the flow control of one link, step by step.

mod simulation;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn at(ms: u64) -> Moment {
    Moment(ms)
}

fn number(last: u64) -> Msisdn {
    Msisdn::from_number(4_915_100_000_000 + last).expect("a number")
}

fn alone(window: u32, rate: u32) -> Shaper {
    Shaper::new(rate, 1, window, at(0))
}

/// A flow whose slow start is over.
fn warm<'a>(account: &'a Shaper, limited: &'a ThrottledRecipients, window: u32, rate: u32) -> Flow<'a> {
    let mut flow = Flow::new(account, limited, window, rate, at(0));
    (1..window).for_each(|last| flow.accepted(number(u64::from(last)), at(0)));
    flow
}

fn granted_in(flow: &mut Flow<'_>, ms: std::ops::Range<u64>) -> u32 {
    let mut granted = 0;
    for ms in ms {
        let slots = flow.grant(100, at(ms));
        flow.used(slots);
        granted += slots;
    }
    granted
}

#[test]
fn new_link_starts_with_one_part_and_doubles_with_every_answered_round() {
    let (account, limited) = (alone(100, 100_000), ThrottledRecipients::default());
    let mut flow = Flow::new(&account, &limited, 100, 100_000, at(0));
    let mut rounds = Vec::new();
    for round in 0..9 {
        let slots = flow.grant(100, at(round * 100));
        assert_eq!(flow.grant(100 - slots, at(round * 100 + 50)), 0, "no more before one is answered");
        flow.used(slots);
        (0..slots).for_each(|last| flow.answered(number(u64::from(last)), at(round * 100 + 99)));
        rounds.push(slots);
    }
    assert_eq!(rounds, [1, 2, 4, 8, 16, 32, 64, 100, 100]);
}

#[test]
fn no_more_is_granted_than_the_window_holds() {
    let (account, limited) = (alone(10, 1000), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 10, 1000);
    assert_eq!(flow.grant(10, at(1000)), 10);
    assert_eq!(flow.grant(10, at(2000)), 0, "all ten are granted and not used");
    flow.used(1);
    assert_eq!(flow.grant(9, at(2000)), 0, "the tenth is in the session's window now");
    assert_eq!(flow.grant(10, at(2001)), 1, "answered: the slot is free again");
}

#[test]
fn grants_keep_to_the_rate_over_time() {
    let (account, limited) = (alone(100, 50), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 100, 50);
    let granted = granted_in(&mut flow, 0..10_000);
    assert!((495..=510).contains(&granted), "ten seconds and a small burst: {granted}");
}

#[test]
fn link_keeps_to_the_lower_of_its_own_and_the_carriers_rate() {
    for (account_rate, link_rate, expect) in [(50, 20, 200), (20, 50, 200), (200, 200, 2000)] {
        let (account, limited) = (alone(100, account_rate), ThrottledRecipients::default());
        let mut flow = warm(&account, &limited, 100, link_rate);
        let granted = granted_in(&mut flow, 0..10_000);
        assert!((expect..=expect + 25).contains(&granted), "{account_rate} {link_rate}: {granted}");
    }
}

#[test]
fn idle_link_collects_at_most_a_tenth_of_a_second_of_tokens() {
    let (account, limited) = (alone(100, 50), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 100, 50);
    let hoarded = flow.grant(100, at(60_000));
    flow.used(hoarded);
    let granted = hoarded + granted_in(&mut flow, 60_000..61_000);
    assert!(granted <= 50 + 10, "{granted}");
}

#[test]
fn idle_link_does_not_slow_a_busy_one() {
    let limited = ThrottledRecipients::default();
    let account = Shaper::new(10, 2, 100, at(0));
    let mut idle = warm(&account, &limited, 100, 10);
    let mut busy = warm(&account, &limited, 100, 10);
    assert_eq!((idle.grant(100, at(0)), idle.grant(100, at(10_000))), (1, 0), "no more than its share");
    let granted = granted_in(&mut busy, 10_000..20_000);
    assert!((95..=105).contains(&granted), "{granted}");
}

#[test]
fn throttled_link_pauses_tries_one_part_and_resumes_slower() {
    let (account, limited) = (alone(100, 100), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 100, 100);
    (0..500).for_each(|part| flow.accepted(number(part), at(part * 10)));
    assert_eq!(flow.throttled(number(1), SECOND, at(5_000)), None, "back to the front");
    assert!(flow.is_throttled());
    assert_eq!(flow.grant(100, at(5_999)), 0, "paused");
    assert_eq!(flow.next_grant_at(100, at(5_500)), Some(at(6_000)));
    assert_eq!(flow.grant(99, at(6_000)), 0, "one is still outstanding");
    assert_eq!(flow.grant(100, at(6_000)), 1, "alone");
    flow.used(1);
    assert_eq!(flow.grant(99, at(6_100)), 0);
    flow.accepted(number(1), at(6_100));
    assert_eq!(flow.rate(), 95, "of what was accepted");
    let started: u32 = (6_100..6_200).map(|ms| flow.grant(100, at(ms))).sum();
    assert_eq!(started, 2, "a slow start");
    flow.grant(0, at(60_000));
    assert_eq!((flow.rate(), flow.is_throttled()), (100, false), "recovered");
}

#[test]
fn window_full_of_throttled_responses_slows_the_link_once() {
    let (account, limited) = (alone(100, 100), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 100, 100);
    (0..500).for_each(|part| flow.accepted(number(part), at(part * 10)));
    for part in 0..10 {
        assert_eq!(flow.throttled(number(part), SECOND, at(5_000 + part)), None);
    }
    assert_eq!((flow.rate(), flow.next_grant_at(100, at(5_500))), (95, Some(at(6_009))));
}

/// Tries one part after the pause and has it throttled.
fn try_again(flow: &mut Flow<'_>, to: Msisdn, ms: u64) -> Option<Duration> {
    assert_eq!(flow.grant(100, at(ms)), 1, "alone");
    flow.used(1);
    flow.throttled(to, SECOND, at(ms))
}

#[test]
fn part_throttled_in_three_trials_is_deferred_and_the_link_recovers_when_another_is_accepted() {
    let (account, limited) = (alone(100, 100), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 100, 100);
    flow.throttled(number(1), SECOND, at(0));
    assert_eq!(try_again(&mut flow, number(1), 1_000), None);
    assert_eq!(try_again(&mut flow, number(1), 2_000), None);
    assert_eq!(try_again(&mut flow, number(1), 3_000), Some(SECOND));
    assert_eq!(flow.grant(100, at(3_011)), 1, "another one at once, alone");
    flow.used(1);
    flow.accepted(number(2), at(3_020));
    assert_eq!((flow.rate(), flow.is_throttled()), (100, false), "the limit is the recipient's");
    // From here on only this recipient is deferred, for longer each time.
    assert_eq!(flow.deferral(number(1), at(3_500)), Some(Duration::from_millis(500)), "not even sent");
    assert_eq!(flow.throttled(number(1), SECOND, at(4_000)).map(|wait| wait.as_secs()), Some(5));
    assert!(!flow.is_throttled());
    let mut other = Flow::new(&account, &limited, 100, 100, at(9_000));
    assert_eq!(other.throttled(number(1), SECOND, at(9_000)).map(|wait| wait.as_secs()), Some(30));
    assert!(!other.is_throttled(), "the other links of the carrier know it too");
}

#[test]
fn several_throttled_recipients_do_not_block_the_link() {
    let (account, limited) = (alone(100, 100), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 100, 100);
    let mut aside: Vec<(u64, u64)> = (0..8).map(|to| (to, 0)).collect();
    flow.throttled(number(0), SECOND, at(0));
    // Each is tried when it is due, in order.
    let mut ms = 1_000;
    let passed = loop {
        let (next, until) = aside.iter_mut().find(|(_, until)| *until <= ms).expect("one is tried");
        assert!(ms < 120_000, "throttled recipients block the link");
        if *next == 7 {
            assert_eq!(flow.grant(100, at(ms)), 1);
            flow.used(1);
            flow.accepted(number(7), at(ms));
            break ms;
        }
        if let Some(wait) = try_again(&mut flow, number(*next), ms) {
            *until = ms + u64::try_from(wait.as_millis()).expect("short");
        }
        ms += 1_000;
    };
    assert!(!flow.is_throttled(), "after {passed} ms");
    for to in 0..7 {
        assert!(flow.throttled(number(to), SECOND, at(ms + 600)).is_some(), "{to} is known");
    }
}

#[test]
fn different_throttled_recipients_slow_the_link_and_are_not_deferred() {
    let (account, limited) = (alone(100, 100), ThrottledRecipients::default());
    let mut flow = warm(&account, &limited, 100, 100);
    (0..500).for_each(|part| flow.accepted(number(part), at(part * 10)));
    let mut ms = 5_000;
    flow.throttled(number(1), SECOND, at(ms));
    for to in [2, 1, 3, 2] {
        ms += 1_000;
        assert_eq!(try_again(&mut flow, number(to), ms), None);
    }
    assert_eq!(flow.grant(100, at(ms + 1_000)), 1);
    flow.used(1);
    flow.accepted(number(1), at(ms + 1_000));
    assert_eq!(flow.rate(), 95, "slowed once: one part a second says nothing about a rate");
    assert_eq!(flow.throttled(number(3), SECOND, at(ms + 2_000)), None, "no recipient counts as throttled");
}

//! Unit tests of `throttled_recipients.rs`.

use super::*;

fn number(last: u64) -> Msisdn {
    Msisdn::from_number(4_915_100_000_000 + last).unwrap()
}

#[test]
fn throttled_recipient_is_deferred_longer_each_time_until_accepted() {
    let (limited, to) = (ThrottledRecipients::default(), number(1));
    let seconds = |wait: Option<Duration>| wait.map(|wait| wait.as_secs());
    assert_eq!(limited.throttled(to, Moment(0)), None);
    limited.remember(to, 1, Moment(1_000), Moment(0));
    assert_eq!(limited.wait(to, Moment(999)), Some(Duration::from_millis(1)));
    assert_eq!((limited.wait(to, Moment(1_000)), limited.wait(number(2), Moment(0))), (None, None));
    let mut now = 1_000;
    for expect in [5, 30, 60, 60] {
        assert_eq!(seconds(limited.throttled(to, Moment(now))), Some(expect));
        assert_eq!(seconds(limited.throttled(to, Moment(now + 1_000))), Some(expect - 1), "the same wait");
        now += expect * 1_000;
    }
    limited.accepted(to);
    assert_eq!(limited.throttled(to, Moment(now)), None);
}

#[test]
fn list_holds_a_thousand_recipients_and_drops_old_ones() {
    let limited = ThrottledRecipients::default();
    let most = u64::try_from(RECIPIENTS_MAX).unwrap();
    for last in 0..=most {
        limited.remember(number(last), 1, Moment(1_000 + last), Moment(0));
    }
    assert_eq!(limited.known.lock().len(), RECIPIENTS_MAX);
    assert_eq!(limited.wait(number(0), Moment(0)), None, "it was due first");
    limited.remember(number(0), 1, Moment(700_000), Moment(700_000));
    assert_eq!(limited.known.lock().len(), 1);
}

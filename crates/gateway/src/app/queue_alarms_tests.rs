//! Unit tests of `queue_alarms.rs`.

use super::*;

#[test]
fn queue_is_too_old_until_its_old_messages_are_accepted() {
    let now = Timestamp::from_millis(1_763_200_000_000);
    let old = Some(now.minus(QUEUE_AGE_MAX));
    let young = Some(now.minus(QUEUE_AGE_MAX - Duration::from_secs(1)));
    for (oldest, in_flight, raised, expect) in [
        (None, 0, false, false),
        (None, 0, true, false),
        (None, 5, false, false),
        (None, 5, true, true),
        (young, 0, false, false),
        (young, 5, true, false),
        (old, 0, false, true),
        (old, 5, true, true),
    ] {
        let queue = QueueStatus { in_flight, oldest, ..QueueStatus::default() };
        assert_eq!(is_too_old(raised, &queue, now), expect, "{queue:?}, raised: {raised}");
    }
}

#[test]
fn queue_that_takes_longer_than_its_validity_will_expire() {
    let (hour, minute) = (3_600, 60);
    for (waiting, age, accepted, expect) in [
        (0, 0, 0, false),
        // 300 in five minutes are one a second.
        (100_000, 10 * minute, 300, false),
        (258_000, 10 * minute, 300, false),
        (259_200, 10 * minute, 300, true),
        (1, 72 * hour, 300, true),
        (10_000_000, minute, 1, false),
        (100_000, 60 * hour, 300, true),
        (100, 35 * hour, 0, false),
        (100, 37 * hour, 0, true),
    ] {
        let validity = Duration::from_secs(72 * hour);
        let drain = Drain { waiting, age: Duration::from_secs(age), accepted, validity };
        assert_eq!(drain.is_too_slow(), expect, "{drain:?}");
    }
}

#[test]
fn detail_of_a_slow_queue_says_how_long_it_takes() {
    let (age, validity) = (Duration::from_secs(600), Duration::from_secs(72 * 3_600));
    let slow = Drain { waiting: 1_000_000, age, accepted: 300, validity };
    assert_eq!(
        slow.describe(),
        "1000000 parts wait, the oldest for 10 minutes, and the carrier accepted 300 in the last 5 minutes, which takes 11 days \
         more; messages expire after 3 days"
    );
    let none = Drain { accepted: 0, ..slow };
    assert!(
        none.describe().contains("and the carrier accepted none in the last 5 minutes;"),
        "{}",
        none.describe()
    );
}

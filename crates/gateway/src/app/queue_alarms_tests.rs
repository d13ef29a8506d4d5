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

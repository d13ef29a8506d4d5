//! Unit tests of `balance_warnings.rs`.

use super::*;
use BalanceLevel::{Enough, Low, Urgent};

#[test]
fn level_is_mailed_once_until_the_balance_was_above_it() {
    let mut mailed = Mailed::default();
    let hour =
        |hours: u64| Timestamp::from_millis(1_800_000_000_000).plus(Duration::from_secs(hours * 3_600));
    for (hours, level, expect) in [
        (0, Enough, false),
        (1, Low, true),
        (2, Low, false),
        (3, Urgent, true),
        (4, Urgent, false),
        (5, Low, false),
        (6, Urgent, true),
        (7, Enough, false),
        (8, Low, true),
        (8, Enough, false),
        // It swings.
        (8, Low, false),
    ] {
        assert_eq!(mailed.mails(level, hour(hours)), expect, "{hours} {level:?}");
    }
}

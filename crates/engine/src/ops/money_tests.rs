//! Unit tests of `money.rs`.

use super::*;

const MONDAY: Day = Day::new(20_771);

#[test]
fn message_is_counted_up_to_each_limit_and_not_beyond() {
    let before = DayTotals { day: MONDAY, messages: 9, spend: Money::from_micros(900) };
    let limits = |messages_max, spend_max: Option<i64>| DailyLimits {
        messages_max,
        spend_max: spend_max.map(Money::from_micros),
    };
    let counted = Ok(DayTotals { day: MONDAY, messages: 10, spend: Money::from_micros(1_000) });
    let cases = [
        (limits(None, None), counted),
        (limits(Some(10), Some(1_000)), counted),
        (limits(Some(9), None), Err(DailyLimit::Messages)),
        (limits(Some(0), Some(0)), Err(DailyLimit::Messages)),
        (limits(None, Some(999)), Err(DailyLimit::Spend)),
        (limits(Some(10), Some(0)), Err(DailyLimit::Spend)),
    ];
    for (limits, expect) in cases {
        assert_eq!(before.with_message(Money::from_micros(100), limits), expect, "{limits:?}");
    }
    let full = DayTotals { spend: Money::from_micros(i64::MAX), ..before };
    assert_eq!(full.with_message(Money::from_micros(1), limits(None, None)), Err(DailyLimit::Spend));
}

//! Checks the machine's clock at the start.

use hermod_domain::time::Timestamp;
use std::ops::Range;

/// From 2026, when this was written, until message ids run out. A machine without a clock battery starts in 1970, and
/// messages with that date would be expired as soon as the clock is set.
const CLOCK_RANGE: Range<Timestamp> =
    Timestamp::from_millis(1_767_225_600_000)..Timestamp::from_millis(3_786_912_000_000);

#[derive(Debug, thiserror::Error)]
#[error(
    "the clock of this machine is wrong ({0}): set it and start again, because all timestamps depend on it"
)]
pub struct ClockOutOfRange(Timestamp);

/// Returns the time, or an error if it is out of range.
pub(super) fn check(now: Timestamp) -> Result<Timestamp, ClockOutOfRange> {
    if CLOCK_RANGE.contains(&now) { Ok(now) } else { Err(ClockOutOfRange(now)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_out_of_range_is_rejected() {
        for (ms, expect) in [
            (0, false),
            (1_700_000_000_000, false),
            (1_794_700_800_000, true),
            (3_155_760_000_000, true),
            (4_000_000_000_000, false),
        ] {
            assert_eq!(check(Timestamp::from_millis(ms)).is_ok(), expect, "{ms}");
        }
        let actual = check(Timestamp::from_millis(0)).expect_err("1970").to_string();
        assert!(actual.contains("1970-01-01"), "{actual}");
    }
}

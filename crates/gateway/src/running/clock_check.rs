//! What a start does not believe of its machine.

use hermod_domain::time::Timestamp;
use std::ops::Range;

/// From 2026, when this was written, until ids end. A machine without a battery comes up in 1970, and what is dated then
/// is old at once when its clock is set.
const CLOCK_CAN_SHOW: Range<Timestamp> =
    Timestamp::from_millis(1_767_225_600_000)..Timestamp::from_millis(3_786_912_000_000);

#[derive(Debug, thiserror::Error)]
#[error(
    "the clock of this machine says {0}, which cannot be; set it and start again: everything is dated by it"
)]
pub struct Nonsense(Timestamp);

/// The time, if it can be the time.
pub(super) fn time(now: Timestamp) -> Result<Timestamp, Nonsense> {
    if CLOCK_CAN_SHOW.contains(&now) { Ok(now) } else { Err(Nonsense(now)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_cannot_be_right_is_not_believed() {
        for (ms, expect) in [
            (0, false),
            (1_700_000_000_000, false),
            (1_794_700_800_000, true),
            (3_155_760_000_000, true),
            (4_000_000_000_000, false),
        ] {
            assert_eq!(time(Timestamp::from_millis(ms)).is_ok(), expect, "{ms}");
        }
        let told = time(Timestamp::from_millis(0)).expect_err("1970").to_string();
        assert!(told.contains("1970-01-01"), "{told}");
    }
}

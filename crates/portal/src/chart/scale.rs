//! The vertical axis: round steps from zero to a little above the largest value.

/// An axis from zero to `top`, with a line at every multiple of `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AxisScale {
    pub(super) step: u64,
    pub(super) top: u64,
}

impl AxisScale {
    /// Returns the axis for values up to `largest`: two to four steps of 1, 2 or 5 times a power of ten.
    pub(super) fn covering(largest: u64) -> AxisScale {
        let target = (largest / 4).max(1);
        let power = 10_u64.pow(target.ilog10());
        let step = [1, 2, 5, 10].map(|factor| power.saturating_mul(factor));
        let step =
            step.into_iter().find(|step| *step >= target && largest.div_ceil(*step) <= 4).unwrap_or(power);
        let steps = largest.div_ceil(step).max(1);
        AxisScale { step, top: step.saturating_mul(steps) }
    }

    /// Returns the values with a line: the multiples of the step, without zero.
    pub(super) fn lines(self) -> impl Iterator<Item = u64> {
        (1..=self.top / self.step).map(move |line| line * self.step)
    }

    /// Returns the share of the axis that a value takes, from 0 to 1.
    pub(super) fn share(self, value: u64) -> f64 {
        (value as f64 / self.top as f64).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_has_round_steps_and_covers_the_largest_value() {
        let cases = [
            (0, (1, 1)),
            (1, (1, 1)),
            (3, (1, 3)),
            (7, (2, 8)),
            (10, (5, 10)),
            (99, (50, 100)),
            (1_204, (500, 1_500)),
            (40_001, (20_000, 60_000)),
        ];
        for (largest, (step, top)) in cases {
            assert_eq!(AxisScale::covering(largest), AxisScale { step, top }, "{largest}");
        }
    }

    #[test]
    fn scale_of_any_value_has_one_to_four_lines_and_does_not_overflow() {
        for largest in (0..64).map(|bits| 1_u64 << bits).chain([u64::MAX / 2]) {
            let scale = AxisScale::covering(largest);
            assert!((1..=4).contains(&scale.lines().count()), "{largest}: {scale:?}");
            assert!(scale.top >= largest);
        }
    }

    #[test]
    fn share_stays_between_zero_and_one() {
        let scale = AxisScale::covering(10);
        assert_eq!(scale.share(0), 0.0);
        assert_eq!(scale.share(10), 1.0);
        assert_eq!(scale.share(99), 1.0);
    }
}

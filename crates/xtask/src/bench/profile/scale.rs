//! A logarithmic axis: from values to places, and its marks.

use super::text::figure;

/// Room beyond the smallest and the largest value, as a factor.
const ROOM: f64 = 1.25;
/// The least ratio between the ends: a decade has three marks.
const SPAN_MIN: f64 = 10.0;

/// Values from `low` to `high` on places from `start` to `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// A scale for these values, with some room around them; none without a positive value.
    pub(super) fn over(values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Option<Scale> {
        let mut range: Option<(f64, f64)> = None;
        for value in values.filter(|value| *value > 0.0) {
            let (low, high) = range.unwrap_or((value, value));
            range = Some((low.min(value), high.max(value)));
        }
        let (low, high) = range?;
        let span = high / low * ROOM * ROOM;
        let room = ROOM * (SPAN_MIN / span).max(1.0).sqrt();
        Some(Scale { low: low / room, high: high * room, start, end })
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        self.start + share * (self.end - self.start)
    }

    /// The values 1, 2 and 5 of each decade that are on the scale.
    pub(super) fn marks(&self) -> Vec<f64> {
        let mut marks = Vec::new();
        let mut decade = 10_f64.powf(self.low.log10().floor());
        while decade <= self.high {
            marks.extend([1.0, 2.0, 5.0].map(|digit| digit * decade));
            decade *= 10.0;
        }
        marks.retain(|mark| (self.low..=self.high).contains(mark));
        marks
    }
}

/// A mark as a short text: 0.5, 20, 2k.
pub(super) fn mark(value: f64) -> String {
    let (value, unit) = if value >= 1_000.0 { (value / 1_000.0, "k") } else { (value, "") };
    let text = figure(value);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_is_logarithmic_and_has_room() {
        let scale = Scale::over([100.0, 0.0, 10_000.0].into_iter(), (0.0, 200.0)).expect("positive values");
        assert!((scale.place(1_000.0) - 100.0).abs() < 1e-9);
        assert!(scale.place(100.0) > 0.0 && scale.place(10_000.0) < 200.0);
        assert!(Scale::over([0.0].into_iter(), (0.0, 1.0)).is_none());
    }

    #[test]
    fn marks_are_round_numbers_on_the_scale() {
        let scale = Scale::over([3.0, 40.0].into_iter(), (0.0, 1.0)).expect("positive values");
        let marks: Vec<String> = scale.marks().into_iter().map(mark).collect();
        assert_eq!(marks, ["5", "10", "20", "50"]);
        let one = Scale::over([30.0].into_iter(), (0.0, 1.0)).expect("a positive value");
        assert!((one.place(30.0) - 0.5).abs() < 1e-9);
        assert_eq!(one.marks(), [10.0, 20.0, 50.0]);
        assert_eq!(
            [0.05, 0.2, 100.0, 500.0, 2_000.0, 15_000.0].map(mark),
            ["0.05", "0.2", "100", "500", "2k", "15k"]
        );
    }
}

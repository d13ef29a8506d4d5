//! The figures of a measurement: values by column; their sums, medians and ratios; and numbers as text.

use std::collections::BTreeMap;

/// The name of a value, and behind a space its unit.
pub(super) type Column = &'static str;

/// Messages per second until the last is settled: with its receipt over SMPP.
pub(super) const REACHED: Column = "reached /s";
/// CPU per message of the gateways, of which the next three are parts.
pub(super) const CPU: Column = "CPU us";
pub(super) const STORE_CPU: Column = "store us";
pub(super) const RECORD_CPU: Column = "record us";
pub(super) const REST_CPU: Column = "rest us";
pub(super) const POSTGRES: Column = "postgres us";
pub(super) const CARRIER: Column = "carrier us";
pub(super) const SENDER: Column = "sender us";
pub(super) const WRITTEN: Column = "written bytes";
pub(super) const COMMITS: Column = "commits each";
pub(super) const FSYNCS: Column = "fsyncs each";
/// Percentiles of the time to `submit_sm_resp` or 202, and to the receipt.
pub(super) const P50: Column = "response p50 ms";
pub(super) const P99: Column = "response p99 ms";
pub(super) const P999: Column = "response p99.9 ms";
pub(super) const DLR_P50: Column = "receipt p50 ms";
pub(super) const DLR_P99: Column = "receipt p99 ms";
/// The most resident memory since the start, resident memory now, and its part that is no page of a file.
pub(super) const MEMORY: Column = "memory MiB";
pub(super) const RESIDENT: Column = "resident MiB";
pub(super) const ANONYMOUS: Column = "anonymous MiB";
/// How long the record was behind, at most.
pub(super) const BEHIND: Column = "behind s";
pub(super) const OFFERED: Column = "offered /s";
pub(super) const ACCEPTED: Column = "accepted messages";
/// Messages that were due and not sent.
pub(super) const UNSENT: Column = "unsent messages";

/// Values at a moment; all others are counted since a start.
const LEVELS: [Column; 3] = [MEMORY, RESIDENT, ANONYMOUS];
/// An offered load counts as reached from this share on.
const REACHED_SHARE: f64 = 0.98;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures(BTreeMap<Column, f64>);

impl<const N: usize> From<[(Column, f64); N]> for Figures {
    fn from(values: [(Column, f64); N]) -> Figures {
        Figures(values.into())
    }
}

impl Figures {
    pub(super) fn get(&self, column: &str) -> Option<f64> {
        self.0.get(column).copied()
    }

    /// Returns the value, 0 if there is none.
    pub(super) fn value(&self, column: Column) -> f64 {
        self.get(column).unwrap_or_default()
    }

    pub(super) fn set(&mut self, column: Column, value: f64) {
        self.0.insert(column, value);
    }

    /// Adds the columns of another part of the same measurement.
    pub(super) fn extend(&mut self, other: Figures) {
        self.0.extend(other.0);
    }

    /// Returns the sum of each column; of latencies and the sender's CPU the largest.
    pub(super) fn sum<'a>(all: impl IntoIterator<Item = &'a Figures>) -> Figures {
        let mut sum = Figures::default();
        for (&column, &value) in all.into_iter().flat_map(|figures| &figures.0) {
            let so_far = sum.value(column);
            let is_largest = column.ends_with(" ms") || column == SENDER;
            sum.set(column, if is_largest { so_far.max(value) } else { so_far + value });
        }
        sum
    }

    /// Returns what was counted since an earlier moment for each of these messages, and the present levels.
    pub(super) fn since(&self, earlier: &Figures, messages: f64) -> Figures {
        self.map(|column, now| match LEVELS.contains(&column) {
            true => now,
            false => (now - earlier.value(column)).max(0.0) / messages.max(1.0),
        })
    }

    /// Returns the median of each column over several runs.
    pub(super) fn median(runs: &[Figures]) -> Figures {
        let column_of = |column| median(runs.iter().filter_map(|run| run.get(column)).collect());
        Figures::sum(runs).map(|column, _| column_of(column).unwrap_or_default())
    }

    /// Returns each column divided by that of `other`, where both have one.
    pub(super) fn ratio(&self, other: &Figures) -> Figures {
        let both = self.0.iter().filter(|(column, _)| other.value(column) > 0.0);
        Figures(both.map(|(&column, value)| (column, value / other.value(column))).collect())
    }

    /// Whether the sender could not send what was due, or the gateway did not keep up.
    pub(super) fn is_short(&self) -> bool {
        self.value(UNSENT) > 0.0 || self.value(REACHED) < self.value(OFFERED) * REACHED_SHARE
    }

    pub(super) fn cell(&self, column: Column) -> String {
        self.get(column).map_or("-".to_owned(), figure)
    }

    fn map(&self, change: impl Fn(Column, f64) -> f64) -> Figures {
        Figures(self.0.iter().map(|(&column, &value)| (column, change(column, value))).collect())
    }
}

/// Returns the middle one, or the mean of the two in the middle.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (half, last) = (values.len() / 2, values.len().checked_sub(1)?);
    Some(f64::midpoint(values[half], values[last - half]))
}

/// Returns a whole number with its thousands separated.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let starts =
        digits.char_indices().map(|(at, digit)| (at > 0 && (digits.len() - at).is_multiple_of(3), digit));
    starts.map(|(is_start, digit)| if is_start { format!(",{digit}") } else { digit.to_string() }).collect()
}

/// Returns a figure with about three digits: 0.0042, 1.31, 45.2, 541, 27,123.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        small if small > 0.0 && small < 0.0995 => format!("{value:.4}"),
        small if small < 9.995 => format!("{value:.2}"),
        middle if middle < 99.95 => format!("{value:.1}"),
        _ if value < 0.0 => format!("-{}", figure(-value)),
        _ => grouped(value.round() as u64),
    }
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;

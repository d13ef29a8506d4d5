//! The figures of one line of the profile, of one build or of two.

use super::scenario::Scenario;
use super::text;
use crate::bench::median;
use crate::shell::Failure;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Reached,
    Cpu,
    CpuStore,
    CpuRecord,
    CpuRest,
    Written,
    Commits,
    Fsyncs,
    ResponseP50,
    ResponseP99,
    ResponseP999,
    ReceiptP50,
    ReceiptP99,
    Memory,
}

impl Column {
    pub(super) const ALL: [Column; 14] = [
        Column::Reached,
        Column::Cpu,
        Column::CpuStore,
        Column::CpuRecord,
        Column::CpuRest,
        Column::Written,
        Column::Commits,
        Column::Fsyncs,
        Column::ResponseP50,
        Column::ResponseP99,
        Column::ResponseP999,
        Column::ReceiptP50,
        Column::ReceiptP99,
        Column::Memory,
    ];

    /// Both lines of the head.
    pub(super) fn head(self) -> (&'static str, &'static str) {
        match self {
            Column::Reached => ("reached", "/s"),
            Column::Cpu => ("CPU", "us"),
            Column::CpuStore => ("store", "us"),
            Column::CpuRecord => ("record", "us"),
            Column::CpuRest => ("rest", "us"),
            Column::Written => ("written", "bytes"),
            Column::Commits => ("commits", "each"),
            Column::Fsyncs => ("fsyncs", "each"),
            Column::ResponseP50 => ("response", "p50 ms"),
            Column::ResponseP99 => ("", "p99 ms"),
            Column::ResponseP999 => ("", "p99.9 ms"),
            Column::ReceiptP50 => ("receipt", "p50 ms"),
            Column::ReceiptP99 => ("", "p99 ms"),
            Column::Memory => ("memory", "MiB"),
        }
    }

    /// The head in one line.
    pub(super) fn title(self) -> &'static str {
        match self {
            Column::Reached => "Reached, /s",
            Column::Cpu => "CPU, us",
            Column::CpuStore => "store, us",
            Column::CpuRecord => "record, us",
            Column::CpuRest => "rest, us",
            Column::Written => "Written, bytes",
            Column::Commits => "Commits",
            Column::Fsyncs => "Fsyncs",
            Column::ResponseP50 => "Response p50, ms",
            Column::ResponseP99 => "p99",
            Column::ResponseP999 => "p99.9",
            Column::ReceiptP50 => "Receipt p50, ms",
            Column::ReceiptP99 => "p99",
            Column::Memory => "Memory, MiB",
        }
    }
}

/// One value for each column; none where it cannot be measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    values: [Option<f64>; Column::ALL.len()],
    /// The generator could not send what was due, or the gateway did not keep up.
    pub(super) is_short: bool,
}

impl Figures {
    /// Figures without a value yet.
    pub(super) fn new(is_short: bool) -> Figures {
        Figures { is_short, ..Figures::default() }
    }

    pub(super) fn set(&mut self, column: Column, value: Option<f64>) {
        self.values[column as usize] = value;
    }

    pub(super) fn get(&self, column: Column) -> Option<f64> {
        self.values[column as usize]
    }

    pub(super) fn cell(&self, column: Column) -> String {
        self.get(column).map_or("-".to_owned(), text::figure)
    }

    /// The median of each column over several runs; short if one of them was.
    pub(super) fn median(runs: &[Figures]) -> Figures {
        let mut figures = Figures::new(runs.iter().any(|run| run.is_short));
        for column in Column::ALL {
            let values: Vec<f64> = runs.iter().filter_map(|run| run.get(column)).collect();
            figures.set(column, median(values));
        }
        figures
    }

    /// This divided by `other` in each column.
    pub(super) fn ratio_cell(&self, other: &Figures, column: Column) -> String {
        match (self.get(column), other.get(column)) {
            (Some(this), Some(other)) if other > 0.0 => format!("{:.2}", this / other),
            _ => "-".to_owned(),
        }
    }
}

/// The figures of one build, or why there are none.
pub(super) type Measured = Result<Figures, Failure>;

pub(super) struct Row {
    pub(super) scenario: Scenario,
    /// The build that is compared, if there is one.
    pub(super) old: Option<Measured>,
    pub(super) new: Measured,
}

impl Row {
    /// The builds with their names. A build alone has no name.
    pub(super) fn builds(&self) -> Vec<(&'static str, &Measured)> {
        match &self.old {
            None => vec![("", &self.new)],
            Some(old) => vec![("old", old), ("new", &self.new)],
        }
    }

    /// The figures of both builds, old first, if both were measured.
    pub(super) fn both(&self) -> Option<(&Figures, &Figures)> {
        Some((self.old.as_ref()?.as_ref().ok()?, self.new.as_ref().ok()?))
    }

    pub(super) fn failed(&self) -> usize {
        self.builds().iter().filter(|(_, measured)| measured.is_err()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(value: f64) -> Figures {
        let mut figures = Figures::default();
        figures.set(Column::Cpu, Some(value));
        figures
    }

    #[test]
    fn columns_are_in_the_order_of_their_numbers() {
        for (number, column) in Column::ALL.into_iter().enumerate() {
            assert_eq!(column as usize, number);
        }
    }

    #[test]
    fn median_is_taken_of_each_column() {
        assert_eq!(Figures::median(&[cpu(9.0), cpu(1.0), cpu(2.0)]).cell(Column::Cpu), "2.00");
        assert_eq!(Figures::median(&[cpu(4.0), cpu(1.0)]).cell(Column::Cpu), "2.50");
        assert_eq!(Figures::median(&[cpu(4.0)]).cell(Column::Fsyncs), "-");
        let short = Figures { is_short: true, ..cpu(1.0) };
        assert!(Figures::median(&[cpu(1.0), short]).is_short);
    }

    #[test]
    fn ratio_needs_both_values() {
        assert_eq!(cpu(1.0).ratio_cell(&cpu(4.0), Column::Cpu), "0.25");
        assert_eq!(cpu(1.0).ratio_cell(&cpu(0.0), Column::Cpu), "-");
        assert_eq!(cpu(1.0).ratio_cell(&Figures::default(), Column::Cpu), "-");
    }
}

//! The figures of one line of the profile, of one build or of two.

use super::scenario::Scenario;
use super::text;
use crate::bench::median;
use crate::shell::Failure;

/// After the rate of a line that did not reach the offered load.
pub(super) const SHORT: &str = "*";

macro_rules! columns {
    ($($name:ident = $upper:literal, $lower:literal, $title:literal;)*) => {
        /// A column of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Column {
            $($name,)*
        }

        impl Column {
            pub(super) const ALL: [Column; [$($title),*].len()] = [$(Column::$name),*];

            /// Both lines of the head, and the head in one line.
            pub(super) fn head(self) -> [&'static str; 3] {
                match self {
                    $(Column::$name => [$upper, $lower, $title],)*
                }
            }
        }
    };
}

columns! {
    Reached = "reached", "/s", "Reached, /s";
    Cpu = "CPU", "us", "CPU, us";
    CpuStore = "store", "us", "store, us";
    CpuRecord = "record", "us", "record, us";
    CpuRest = "rest", "us", "rest, us";
    Written = "written", "bytes", "Written, bytes";
    Commits = "commits", "each", "Commits";
    Fsyncs = "fsyncs", "each", "Fsyncs";
    ResponseP50 = "response", "p50 ms", "Response p50, ms";
    ResponseP99 = "", "p99 ms", "p99";
    ResponseP999 = "", "p99.9 ms", "p99.9";
    ReceiptP50 = "receipt", "p50 ms", "Receipt p50, ms";
    ReceiptP99 = "", "p99 ms", "p99";
    Memory = "memory", "MiB", "Memory, MiB";
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

    /// All cells; the rate of a line that did not reach the offered load is marked.
    fn cells(&self) -> Vec<String> {
        let mut cells: Vec<String> = Column::ALL.into_iter().map(|column| self.cell(column)).collect();
        cells[Column::Reached as usize].push_str(if self.is_short { SHORT } else { "" });
        cells
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
    fn ratio_cell(&self, other: &Figures, column: Column) -> String {
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

    /// The lines of the table: build and cells, or why there are none; with the ratios if both builds were measured.
    pub(super) fn lines(&self) -> Vec<(&'static str, Result<Vec<String>, String>)> {
        let cells = |measured: &Measured| measured.as_ref().map(Figures::cells).map_err(ToString::to_string);
        let mut lines: Vec<_> =
            self.builds().into_iter().map(|(build, measured)| (build, cells(measured))).collect();
        if let (Some(Ok(old)), Ok(new)) = (&self.old, &self.new) {
            let ratios = Column::ALL.into_iter().map(|column| new.ratio_cell(old, column));
            lines.push(("new/old", Ok(ratios.collect())));
        }
        lines
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

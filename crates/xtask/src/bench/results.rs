//! What a benchmark has measured: lines of a table, each with figures by column, and single figures with a name. Prints them as
//! Markdown, compares lines with each other, and judges them by limits.

use std::io::IsTerminal;

use super::figures::{Column, Figures, REACHED, UNSENT, figure, median};
use super::options::Options;

/// Characters of the first columns and, at least, of the others.
const LABEL_CHARS: usize = 28;
const VARIANT_CHARS: usize = 20;
const CELL_CHARS: usize = 8;
/// After the rate of a line that did not reach the offered load.
const SHORT: &str = "\\*";
const SHORT_NOTE: &str =
    "\n\\* The offered load was not reached; latencies count from the time a message was due.";

/// What a benchmark measures, and how that is judged.
pub(super) struct Table {
    pub(super) columns: &'static [Column],
    /// The variant of lines that is divided by another, and the other.
    pub(super) ratio: [&'static str; 2],
    /// As `Results::missed` reads them. Not checked with `--short`.
    pub(super) limits: &'static [&'static str],
    /// Whether a load may stay below its rate. Elsewhere its figures would be those of a lower rate, and the benchmark fails.
    pub(super) may_fall_short: bool,
}

/// A line of the table.
pub(super) struct Line {
    pub(super) label: String,
    /// What it is compared with has the same label and another variant.
    pub(super) variant: &'static str,
    /// One for each time that it was measured.
    runs: Vec<Figures>,
    failure: Option<String>,
}

impl Line {
    /// Returns the medians of all runs; none if one of them failed.
    pub(super) fn figures(&self) -> Option<Figures> {
        (self.failure.is_none() && !self.runs.is_empty()).then(|| Figures::median(&self.runs))
    }
}

pub(super) struct Results {
    table: &'static Table,
    pub(super) lines: Vec<Line>,
    /// Single figures: name, unit and value.
    singles: Vec<(String, Column, f64)>,
    /// Whether the last that was printed is a line of the table.
    is_in_table: bool,
    /// What was printed.
    pub(super) text: String,
}

impl Results {
    pub(super) fn new(table: &'static Table) -> Results {
        Results { table, lines: Vec::new(), singles: Vec::new(), is_in_table: false, text: String::new() }
    }

    /// Prints and keeps the figures of a line.
    pub(super) fn add(&mut self, label: &str, variant: &'static str, figures: Figures) {
        self.print_figures(label, variant, &figures, figures.is_short());
        self.line(label, variant).runs.push(figures);
    }

    /// Prints and keeps why a line has no figures.
    pub(super) fn fail(&mut self, label: &str, variant: &'static str, why: &str) {
        self.print(&format!("\n{label} {variant} failed: {why}"));
        self.line(label, variant).failure = Some(format!("{label} {variant}: {why}"));
    }

    /// Prints and keeps a single figure.
    pub(super) fn say(&mut self, name: impl Into<String>, value: f64, unit: Column) {
        let name = name.into();
        let start = if std::mem::take(&mut self.is_in_table) { "\n" } else { "" };
        self.print(&format!("{start}- {name}: {} {unit}", figure(value)));
        self.singles.push((name, unit, value));
    }

    /// Prints a line that is not kept, such as one of several customers.
    pub(super) fn print_figures(&mut self, label: &str, variant: &str, figures: &Figures, is_short: bool) {
        let mark = |column| if is_short && column == REACHED { SHORT } else { "" };
        let cells = self.table.columns.iter().map(|&column| figures.cell(column) + mark(column));
        let cells = cells.collect();
        if !std::mem::replace(&mut self.is_in_table, true) {
            let names = self.table.columns.iter().map(|column| (*column).to_owned());
            let head = self.row("", "", names.collect());
            let rule = format!("|---|---|{}", "--:|".repeat(self.table.columns.len()));
            self.print(&format!("\n{head}\n{rule}"));
        }
        self.print(&self.row(label, variant, cells));
    }

    pub(super) fn print(&mut self, line: &str) {
        // The progress of a load may be on this line.
        if std::io::stderr().is_terminal() {
            eprint!("\r{:60}\r", "");
        }
        println!("{line}");
        self.text += &format!("{line}\n");
    }

    fn row(&self, label: &str, variant: &str, cells: Vec<String>) -> String {
        let widths = self.table.columns.iter().map(|column| CELL_CHARS.max(column.len()));
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!(" {cell:>width$} |"));
        format!("| {label:<LABEL_CHARS$} | {variant:<VARIANT_CHARS$} |{}", cells.collect::<String>())
    }

    fn find(&self, label: &str, variant: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.label == label && line.variant == variant)
    }

    fn line(&mut self, label: &str, variant: &'static str) -> &mut Line {
        if self.find(label, variant).is_none() {
            self.lines.push(Line { label: label.to_owned(), variant, runs: Vec::new(), failure: None });
        }
        let mut lines = self.lines.iter_mut();
        lines.find(|line| line.label == label && line.variant == variant).expect("it was added above")
    }

    /// Returns the ratios of a label: one for each round, or of the medians if one was measured more often.
    fn ratios(&self, label: &str) -> Vec<Figures> {
        let runs =
            |variant| self.find(label, variant).filter(|line| line.failure.is_none()).map(|line| &*line.runs);
        let [of, to] = self.table.ratio;
        match (runs(of), runs(to)) {
            _ if of == to => Vec::new(),
            (Some(of), Some(to)) if of.len() == to.len() => {
                of.iter().zip(to).map(|(of, to)| of.ratio(to)).collect()
            }
            (Some(of), Some(to)) => vec![Figures::median(of).ratio(&Figures::median(to))],
            _ => Vec::new(),
        }
    }

    /// Prints medians and ratios where lines were measured several times or are compared.
    pub(super) fn print_summary(&mut self) {
        let [of, to] = self.table.ratio;
        let is_repeated = self.lines.iter().any(|line| line.runs.len() > 1);
        let is_short = |line: &Line| line.runs.iter().any(Figures::is_short);
        let medians =
            self.lines.iter().map(|line| (line.label.clone(), line.variant, line.figures(), is_short(line)));
        self.is_in_table = false;
        for (label, variant, figures, is_short) in medians.collect::<Vec<_>>() {
            if let Some(figures) = figures.filter(|_| is_repeated) {
                self.print_figures(&label, variant, &figures, is_short);
            }
            let ratios = self.ratios(&label);
            if variant == of && !ratios.is_empty() {
                let rounds: Vec<String> = ratios.iter().map(|ratio| ratio.cell(REACHED)).collect();
                let rounds = if rounds.len() > 1 { format!("  rounds {}", rounds.join(", ")) } else { label };
                self.print_figures(&rounds, &format!("{of}/{to}"), &Figures::median(&ratios), false);
            }
        }
        if self.lines.iter().any(is_short) {
            self.print(SHORT_NOTE);
        }
    }

    /// Returns a figure: of a line, of the ratio of two (`of/to`), or a single one, which has no variant and its unit as column.
    fn value(&self, label: &str, variant: &str, column: &str) -> Option<f64> {
        let [of, to] = self.table.ratio;
        let single = self.singles.iter().rev().find(|(name, unit, _)| name == label && *unit == column);
        if let Some((_, _, value)) = single {
            return Some(*value);
        }
        if variant.split_once('/') == Some((of, to)) {
            return median(self.ratios(label).iter().filter_map(|ratio| ratio.get(column)).collect());
        }
        self.find(label, variant)?.figures()?.get(column)
    }

    /// Returns what failed, loads that could not be sent in time, and the limits that were missed, each as a sentence. A figure
    /// without a value misses its limit.
    pub(super) fn judge(&self, options: &Options) -> Vec<String> {
        let failed = self.lines.iter().filter_map(|line| line.failure.clone());
        let is_unsent = |line: &&Line| line.runs.iter().any(|run| run.value(UNSENT) > 0.0);
        let unsent = self.lines.iter().filter(is_unsent).filter(|_| !self.table.may_fall_short);
        let unsent =
            unsent.map(|line| format!("{} {}: messages were due and not sent", line.label, line.variant));
        let limits = self.table.limits.iter().filter(|_| !options.is("short"));
        failed.chain(unsent).chain(limits.filter_map(|limit| self.missed(limit, options))).collect()
    }

    /// Returns a sentence if a limit is missed: `label | variant | column >= bound`, where a single figure has no variant and its unit
    /// as column, and the bound is a number or the name of an option.
    fn missed(&self, limit: &str, options: &Options) -> Option<String> {
        let mut words = limit.split(['|', '<', '>', '=']).map(str::trim).filter(|word| !word.is_empty());
        let (label, bound) = (words.next()?, words.next_back()?);
        let (variant, column) = (words.next()?, words.next());
        let (variant, column) = column.map_or(("", variant), |column| (variant, column));
        let bound = bound.parse().unwrap_or_else(|_| options.number(bound));
        let Some(value) = self.value(label, variant, column) else {
            return Some(format!("{limit}: it was not measured"));
        };
        let is_kept = if limit.contains(">=") { value >= bound } else { value <= bound };
        (!is_kept).then(|| format!("{} {column} instead of {limit} ({})", figure(value), figure(bound)))
    }
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;

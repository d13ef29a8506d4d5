//! Output of commands: texts, fields, tables and colours. Control characters in data are escaped.

use crate::failure::{CommandResult, Failure};
use std::io::{ErrorKind, IsTerminal as _, Write as _};

/// Prints a text. A closed standard output (`| head`) is not a failure; a full disk is one.
pub(crate) fn print(text: &str) -> CommandResult {
    match write(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(write_error(&error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a text that cannot be printed again: any error is a failure.
pub(crate) fn print_once(text: &str) -> CommandResult {
    write(text).map_err(|error| write_error(&error))
}

fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn write_error(error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write to standard output: {error}"))
}

/// Prints the JSON body of a response.
pub(crate) fn print_json(body: &str) -> CommandResult {
    print(&format!("{}\n", body.trim_end()))
}

/// Prints a line on a terminal that the next one replaces.
pub(crate) fn progress(text: &str) {
    let mut out = std::io::stderr().lock();
    if out.is_terminal() {
        let _ = write!(out, "\r\x1b[K{text}").and_then(|()| out.flush());
    }
}

pub(crate) fn progress_done() {
    progress("");
}

/// Escapes control characters and bidirectional marks, so that data cannot control the terminal.
pub(crate) fn safe(text: &str) -> String {
    let is_control = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_control) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_control(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Returns a line for each name and value. Names without a value are left out.
pub(crate) fn fields(fields: &[(&str, String)]) -> String {
    let shown = || fields.iter().filter(|(_, value)| !value.is_empty());
    let width = shown().map(|(name, _)| name.len()).max().unwrap_or(0);
    shown().map(|(name, value)| format!("  {name:width$}  {}\n", safe(value))).collect()
}

/// Returns the width of the terminal: COLUMNS, or the size of the terminal. None if standard output is not a terminal, so
/// that scripts always get one line for each row.
fn terminal_width() -> Option<usize> {
    // Unit tests compare whole tables in any terminal.
    if cfg!(test) {
        return None;
    }
    let said = std::env::var_os("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    let seen = || {
        let out = std::io::stdout();
        let size = if out.is_terminal() { rustix::termios::tcgetwinsize(out).ok() } else { None };
        size.map(|size| usize::from(size.ws_col))
    };
    said.or_else(seen).filter(|columns| *columns > 0)
}

#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with headings, in which an underscore is a blank; each column is as wide as its widest cell.
pub(crate) struct TextTable {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(crate) fn new(columns: &[(&str, Align)]) -> TextTable {
        let columns =
            columns.iter().map(|(name, align)| (name.replace('_', " ").to_uppercase(), *align)).collect();
        TextTable { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| safe(&cell)).collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for every column");
        self.rows.push(cells);
    }

    /// Returns the table without empty columns, or `if_empty` without rows. A table that is wider than the terminal is
    /// printed as a block of lines for each row.
    pub(crate) fn text(&self, if_empty: &str) -> String {
        self.fitting(if_empty, terminal_width())
    }

    fn fitting(&self, if_empty: &str, width: Option<usize>) -> String {
        if self.rows.is_empty() {
            return format!("{if_empty}\n");
        }
        let table = self.as_columns();
        let fits = |width: usize| table.lines().all(|line| line.chars().count() <= width);
        if width.is_none_or(fits) { table } else { self.as_blocks() }
    }

    /// Returns a line of heading and cell for each cell.
    fn as_blocks(&self) -> String {
        let width = self.columns.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let block = |row: &Vec<String>| -> String {
            let cells = self.columns.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            cells.map(|((name, _), cell)| format!("{name:width$}  {cell}\n")).collect()
        };
        self.rows.iter().map(block).collect::<Vec<_>>().join("\n")
    }

    fn as_columns(&self) -> String {
        let used: Vec<usize> = (0..self.columns.len())
            .filter(|column| self.rows.iter().any(|row| !row[*column].is_empty()))
            .collect();
        let heading: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(String::as_str).collect::<Vec<_>>());
        let all: Vec<Vec<&str>> = std::iter::once(heading).chain(rows).collect();
        let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |row: &Vec<&str>| {
            let cell = |column: &usize| match self.columns[*column].1 {
                Align::Left => format!("{:1$}", row[*column], widths[*column]),
                Align::Right => format!("{:>1$}", row[*column], widths[*column]),
            };
            let cells: Vec<String> = used.iter().map(cell).collect();
            format!("{}\n", cells.join("  ").trim_end())
        };
        all.iter().map(line).collect()
    }
}

/// Colours on a terminal, plain text elsewhere.
#[derive(Clone, Copy)]
pub(crate) enum Paint {
    Plain,
    Coloured,
}

impl Paint {
    pub(crate) fn for_output() -> Paint {
        // The convention of no-color.org: set and not empty.
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if std::io::stdout().is_terminal() && !refused { Paint::Coloured } else { Paint::Plain }
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;

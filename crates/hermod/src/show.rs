//! What commands print for a person: fields and tables that line up, and nothing that a stranger wrote with
//! the power to steer the terminal.

use crate::ending::{Ended, Failure};
use std::io::{ErrorKind, IsTerminal as _, Write as _};

/// Whoever closed our standard output (`| head`) has seen enough: that is no failure. A full disk is one.
pub(crate) fn say(text: &str) -> Ended {
    match write(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(unsaid(&error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What nobody can ask for again: it must have been taken.
pub(crate) fn say_once(text: &str) -> Ended {
    write(text).map_err(|error| unsaid(&error))
}

fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn unsaid(error: &std::io::Error) -> Failure {
    Failure::failed(format!("standard output does not take what there is to say: {error}"))
}

/// The body of an answer as it came, on a line of its own.
pub(crate) fn say_raw(body: &str) -> Ended {
    say(&format!("{}\n", body.trim_end()))
}

/// A line that the next one replaces; on a terminal only.
pub(crate) fn progress(text: &str) {
    let mut out = std::io::stderr().lock();
    if out.is_terminal() {
        let _ = write!(out, "\r\x1b[K{text}").and_then(|()| out.flush());
    }
}

pub(crate) fn progress_done() {
    progress("");
}

/// A text that may have come from anyone: characters that would move the cursor or change what is shown are written
/// out instead.
pub(crate) fn safe(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(steers) {
        return text.to_owned();
    }
    text.chars().map(|c| if steers(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Names and values, one a line. What has no value is left out.
pub(crate) fn fields(fields: &[(&str, String)]) -> String {
    let shown = || fields.iter().filter(|(_, value)| !value.is_empty());
    let width = shown().map(|(name, _)| name.len()).max().unwrap_or(0);
    shown().map(|(name, value)| format!("  {name:width$}  {}\n", safe(value))).collect()
}

/// How many characters fit on a line: what COLUMNS says, else the terminal itself. Nothing where standard output is none,
/// so that scripts always get one line for each row.
fn terminal_width() -> Option<usize> {
    // Unit tests compare whole tables, whatever terminal they run in.
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

/// Rows under a heading, each column as wide as its widest cell.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        let columns = columns.iter().map(|(name, align)| (name.to_uppercase(), *align)).collect();
        Table { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| safe(&cell)).collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for every column");
        self.rows.push(cells);
    }

    /// Columns that nothing is in are not shown. Without rows there is only the sentence. A table that is wider than the
    /// terminal becomes a block of lines for each row.
    pub(crate) fn text(&self, if_empty: &str) -> String {
        self.fitting(if_empty, terminal_width())
    }

    fn fitting(&self, if_empty: &str, width: Option<usize>) -> String {
        if self.rows.is_empty() {
            return format!("{if_empty}\n");
        }
        let table = self.side_by_side();
        let fits = |width: usize| table.lines().all(|line| line.chars().count() <= width);
        if width.is_none_or(fits) { table } else { self.one_below_the_other() }
    }

    /// Each row as lines of a heading and its cell.
    fn one_below_the_other(&self) -> String {
        let width = self.columns.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let block = |row: &Vec<String>| -> String {
            let cells = self.columns.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            cells.map(|((name, _), cell)| format!("{name:width$}  {cell}\n")).collect()
        };
        self.rows.iter().map(block).collect::<Vec<_>>().join("\n")
    }

    fn side_by_side(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up_and_leaves_out_what_is_empty() {
        let mut table = Table::new(&[("name", Align::Left), ("note", Align::Left), ("amount", Align::Right)]);
        table.row(["shop".to_owned(), String::new(), "9.5".to_owned()]);
        table.row(["bäcker".to_owned(), String::new(), "100.25".to_owned()]);
        assert_eq!(table.text("None."), "NAME    AMOUNT\nshop       9.5\nbäcker  100.25\n");
        assert_eq!(Table::new(&[("name", Align::Left)]).text("None."), "None.\n");
    }

    #[test]
    fn table_wider_than_the_terminal_has_its_rows_one_below_the_other() {
        let mut table =
            Table::new(&[("name", Align::Left), ("countries", Align::Left), ("amount", Align::Right)]);
        table.row(["shop".to_owned(), "DE, AT, CH".to_owned(), "9.5".to_owned()]);
        table.row([String::new(), "*".to_owned(), "100".to_owned()]);
        let wide = "NAME  COUNTRIES   AMOUNT\nshop  DE, AT, CH     9.5\n      *              100\n";
        let narrow =
            "NAME       shop\nCOUNTRIES  DE, AT, CH\nAMOUNT     9.5\n\nCOUNTRIES  *\nAMOUNT     100\n";
        for (width, expect) in [(None, wide), (Some(24), wide), (Some(23), narrow), (Some(1), narrow)] {
            assert_eq!(table.fitting("None.", width), expect, "{width:?}");
        }
    }

    #[test]
    fn fields_line_up_and_leave_out_what_is_empty() {
        let shown =
            fields(&[("id", "7".to_owned()), ("operator", String::new()), ("status", "queued".to_owned())]);
        assert_eq!(shown, "  id      7\n  status  queued\n");
    }

    #[test]
    fn strangers_do_not_steer_the_terminal() {
        for (text, expect) in [
            ("Grüße 👍", "Grüße 👍"),
            ("\x1b[2Jgone", "\\u{1b}[2Jgone"),
            ("two\nlines", "two\\nlines"),
            ("\u{202e}drow", "\\u{202e}drow"),
        ] {
            assert_eq!(safe(text), expect);
        }
    }
}

//! CSV as RFC 4180 says, safe to open in a spreadsheet.
//!
//! A spreadsheet runs a cell as a formula if it begins with `=`, `+`, `-`, `@`, a tab or a carriage return, and customers
//! choose some of the texts. Such a text gets an apostrophe in front. Phone numbers are written without their plus, because
//! an apostrophe before each would be in the way of every look-up.

/// A cell.
pub enum Cell<'a> {
    /// Any text. Guarded.
    Text(&'a str),
    /// A phone number, written as digits.
    Phone(&'a str),
    /// A number that Hermod wrote.
    Number(String),
    Empty,
}

impl<'a> Cell<'a> {
    /// A text, or an empty cell.
    pub fn text(text: Option<&'a String>) -> Cell<'a> {
        text.map_or(Cell::Empty, |text| Cell::Text(text))
    }

    /// A number, or an empty cell.
    pub fn number(number: Option<impl ToString>) -> Cell<'a> {
        number.map_or(Cell::Empty, |number| Cell::Number(number.to_string()))
    }
}

/// Adds a row of headings.
pub fn push_headings(csv: &mut String, headings: &[&str]) {
    csv.push_str(&headings.join(","));
    csv.push_str("\r\n");
}

/// Adds a row.
pub fn push_row(csv: &mut String, cells: &[Cell<'_>]) {
    for (place, cell) in cells.iter().enumerate() {
        if place > 0 {
            csv.push(',');
        }
        match cell {
            Cell::Text(text) => push_text(csv, text),
            Cell::Phone(number) => push_text(csv, number.strip_prefix('+').unwrap_or(number)),
            Cell::Number(number) => csv.push_str(number),
            Cell::Empty => {}
        }
    }
    csv.push_str("\r\n");
}

fn push_text(csv: &mut String, text: &str) {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        csv.push('"');
        csv.push_str(guard);
        csv.push_str(&text.replace('"', "\"\""));
        csv.push('"');
    } else {
        csv.push_str(guard);
        csv.push_str(text);
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;

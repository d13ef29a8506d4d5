//! CSV as RFC 4180 says, safe to open in a spreadsheet.
//!
//! A spreadsheet runs a cell as a formula if it begins with `=`, `+`, `-`, `@`, a tab or the end of a line, and customers
//! choose some of the texts. Such a text gets an apostrophe in front. Phone numbers are written without their plus, because
//! an apostrophe before each would be in the way of every look-up. [`unguarded`] takes the apostrophe away again.

/// A shorter text of a plus and digits is no phone number.
const PHONE_DIGITS_MIN: usize = 7;

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
    /// A value of a list: a number as it is, a phone number without its plus, any other text guarded.
    pub fn of(text: &'a str) -> Cell<'a> {
        let is_phone = |digits: &str| {
            digits.len() >= PHONE_DIGITS_MIN && digits.bytes().all(|digit| digit.is_ascii_digit())
        };
        match text.strip_prefix('+') {
            Some(digits) if is_phone(digits) => Cell::Phone(text),
            _ if text.parse::<f64>().is_ok() => Cell::Number(text.to_owned()),
            _ => Cell::Text(text),
        }
    }

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

/// The first characters of formulas. Spreadsheets take the wide ones of East Asian keyboards for the others.
const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Whether a spreadsheet would run a text as a formula, or would if its apostrophes were taken away: a text that has one of its
/// own gets another, so that each cell stands for one text.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA_STARTS)
}

/// Returns the text that a cell was written for.
pub fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_formula(text)).unwrap_or(cell)
}

fn push_text(csv: &mut String, text: &str) {
    let guard = if is_formula(text) { "'" } else { "" };
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

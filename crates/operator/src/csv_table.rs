//! Reads CSV files as spreadsheets write them: UTF-8 with or without its mark, commas or semicolons, any end of a line, quoted
//! cells. The first line names the columns. Errors have line and column.

use crate::csv::unguarded;
use bytes::Bytes;
use csv::{Position, ReaderBuilder, StringRecord};
use std::collections::HashSet;
use std::fmt;

/// Bytes of a line. Bounds the cells of a row before any of them is kept.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a cell, which may have several lines.
const CELL_BYTES_MAX: usize = 64 * 1024;
/// Rows of a file, lines without content not counted.
const ROWS_MAX: usize = 250_000;
/// The mark of UTF-8 that spreadsheets put at the beginning.
const MARK: char = '\u{feff}';

/// The bytes of a file that is not read yet.
#[derive(Debug)]
pub struct CsvFile(pub(crate) Bytes);

/// The columns and rows of a file.
#[derive(Debug)]
pub struct CsvTable {
    pub columns: Vec<String>,
    pub rows: Vec<CsvRow>,
}

/// A row with as many cells as there are columns.
#[derive(Debug)]
pub struct CsvRow {
    /// The line on which it begins, from 1.
    pub line: u64,
    pub cells: Vec<String>,
}

/// An error in a file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvError {
    pub line: u64,
    pub column: Option<String>,
    pub sentence: String,
}

impl CsvError {
    pub(crate) fn at(line: u64, column: Option<&str>, sentence: impl Into<String>) -> CsvError {
        CsvError { line, column: column.map(str::to_owned), sentence: sentence.into() }
    }
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.sentence)
    }
}

impl std::error::Error for CsvError {}

impl CsvTable {
    /// Reads a whole file. The apostrophes before formulas are taken away.
    pub fn read(bytes: &[u8]) -> Result<CsvTable, CsvError> {
        let text = text_of(bytes)?;
        let mut records = Records::begin(text);
        let Some((_, headings)) = records.next()? else {
            return Err(CsvError::at(1, None, "the file is empty; its first line names the columns"));
        };
        let columns = columns_of(&headings)?;
        let mut rows = Vec::new();
        while let Some((at, record)) = records.next()? {
            if rows.len() == ROWS_MAX {
                let sentence = format!("the file has more than {ROWS_MAX} rows; split it");
                return Err(CsvError::at(at.line(), None, sentence));
            }
            rows.push(CsvRow { line: at.line(), cells: cells_of(&record, &columns, at.line())? });
        }
        Ok(CsvTable { columns, rows })
    }
}

/// A part of a long file, which is a file itself.
#[derive(Debug, PartialEq, Eq)]
pub struct CsvPiece {
    pub text: String,
    pub rows: usize,
    /// How many more lines are before a row in the whole file than in the piece.
    pub lines_before: u64,
}

/// Cuts a file into pieces of at most `rows_max` rows. Each begins with the first line of the file.
pub fn cut(bytes: &[u8], rows_max: usize) -> Result<Vec<CsvPiece>, CsvError> {
    let text = text_of(bytes)?;
    let mut records = Records::begin(text);
    let first = records.next()?;
    let mut starts: Vec<(Position, usize)> = Vec::new();
    while let Some((at, _)) = records.next()? {
        match starts.last_mut() {
            Some((_, rows)) if *rows < rows_max => *rows += 1,
            Some(_) | None => starts.push((at, 1)),
        }
    }
    let Some(head) = starts.first().map(|(at, _)| at.clone()).filter(|_| first.is_some()) else {
        // Without rows: the columns are checked all the same.
        return Ok(vec![CsvPiece { text: text.to_owned(), rows: 0, lines_before: 0 }]);
    };
    let byte = |at: &Position| usize::try_from(at.byte()).unwrap_or(usize::MAX).min(text.len());
    let ends = starts.iter().skip(1).map(|(at, _)| byte(at)).chain([text.len()]);
    let piece = |((at, rows), end): (&(Position, usize), usize)| CsvPiece {
        text: format!("{}{}", &text[..byte(&head)], &text[byte(at)..end]),
        rows: *rows,
        lines_before: at.line() - head.line(),
    };
    Ok(starts.iter().zip(ends).map(piece).collect())
}

/// The records of a text that are not blank, each with its position.
struct Records<'a> {
    reader: csv::Reader<&'a [u8]>,
    text: &'a str,
}

impl Records<'_> {
    fn begin(text: &str) -> Records<'_> {
        let first = text.split(['\r', '\n']).find(|line| !line.is_empty()).unwrap_or_default();
        let separator = if first.contains(';') && !first.contains(',') { b';' } else { b',' };
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(text.as_bytes());
        Records { reader, text }
    }

    fn next(&mut self) -> Result<Option<(Position, StringRecord)>, CsvError> {
        let mut record = StringRecord::new();
        loop {
            let at = self.position();
            let read = self.reader.read_record(&mut record);
            let more = read.map_err(|error| CsvError::at(at.line(), None, error.to_string()))?;
            if !more {
                return Ok(None);
            }
            if record.iter().any(|cell| !cell.trim().is_empty()) {
                return Ok(Some((at, record)));
            }
        }
    }

    /// Returns where the next record begins: behind the rest of an end of a line, and behind blank lines.
    fn position(&self) -> Position {
        let mut at = self.reader.position().clone();
        let from = usize::try_from(at.byte()).unwrap_or(usize::MAX).min(self.text.len());
        let rest = &self.text.as_bytes()[from..];
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let (mut bytes, mut lines) = (0, 0);
        for byte in blank {
            bytes += 1;
            lines += u64::from(*byte == b'\n');
        }
        let (byte, line) = (at.byte() + bytes, at.line() + lines);
        at.set_byte(byte).set_line(line);
        at
    }
}

/// Returns the text of a file, of which no line is longer than [`LINE_BYTES_MAX`] and every quote is closed.
fn text_of(bytes: &[u8]) -> Result<&str, CsvError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = line_at(&bytes[..error.valid_up_to()]);
        CsvError::at(line, None, "the text is not UTF-8; save the file as CSV UTF-8")
    })?;
    let text = text.strip_prefix(MARK).unwrap_or(text);
    if let Some(at) = text.find('\0') {
        let sentence = "there is a NUL byte; save the file as CSV UTF-8";
        return Err(CsvError::at(line_at(&text.as_bytes()[..at]), None, sentence));
    }
    for (number, line) in (1..).zip(text.split('\n')) {
        if line.len() > LINE_BYTES_MAX {
            let sentence = format!("the line is longer than {LINE_BYTES_MAX} bytes");
            return Err(CsvError::at(number, None, sentence));
        }
    }
    if !text.bytes().filter(|byte| *byte == b'"').count().is_multiple_of(2) {
        let last = text.rfind('"').unwrap_or(0);
        let sentence =
            "a quote is not closed in this line or above; write a quote inside a quoted cell twice";
        return Err(CsvError::at(line_at(&text.as_bytes()[..last]), None, sentence));
    }
    Ok(text)
}

fn line_at(before: &[u8]) -> u64 {
    1 + before.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>()
}

fn columns_of(headings: &StringRecord) -> Result<Vec<String>, CsvError> {
    let mut seen = HashSet::new();
    let columns = (1..).zip(headings).map(|(number, heading): (usize, _)| {
        let name = heading.trim().to_owned();
        if name.is_empty() {
            return Err(CsvError::at(1, None, format!("column {number} has no name")));
        }
        if !seen.insert(name.clone()) {
            return Err(CsvError::at(1, Some(&name), "there are two columns of this name"));
        }
        Ok(name)
    });
    columns.collect()
}

fn cells_of(record: &StringRecord, columns: &[String], line: u64) -> Result<Vec<String>, CsvError> {
    if record.len() != columns.len() {
        let (cells, names) = (record.len(), columns.len());
        let sentence = format!(
            "there are {cells} cells, and the first line names {names} columns; a cell with a separator needs quotes"
        );
        return Err(CsvError::at(line, None, sentence));
    }
    let cells = record.iter().zip(columns).map(|(cell, column)| {
        if cell.len() > CELL_BYTES_MAX {
            let sentence = format!("the cell is longer than {CELL_BYTES_MAX} bytes");
            return Err(CsvError::at(line, Some(column), sentence));
        }
        Ok(unguarded(cell).to_owned())
    });
    cells.collect()
}

#[cfg(test)]
#[path = "csv_table_tests.rs"]
mod tests;

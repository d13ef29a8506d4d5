//! Unit tests of `csv_table.rs`.

use super::*;
use crate::csv::{Cell, push_headings, push_row};

fn rows(bytes: impl AsRef<[u8]>) -> String {
    match CsvTable::read(bytes.as_ref()) {
        Ok(CsvTable { columns, rows }) => {
            let rows = rows.iter().map(|row| format!("{}:{}", row.line, row.cells.join("|")));
            std::iter::once(columns.join("|")).chain(rows).collect::<Vec<_>>().join(" / ")
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn files_of_spreadsheets_are_read_with_their_lines() {
    for (file, expect) in [
        ("a,b\n1,2\n", "a|b / 2:1|2"),
        ("\u{feff}a;b\r\n1;2,5\r\n", "a|b / 2:1|2,5"),
        ("a,b\r\n\"x,y\",\"say \"\"hi\"\"\"\r\n", "a|b / 2:x,y|say \"hi\""),
        ("a,b\r\n\r\n1,2\r\n,\r\n\r\n3,4", "a|b / 3:1|2 / 6:3|4"),
        ("a,b\n\"two\nlines\",2\n3,4\n", "a|b / 2:two\nlines|2 / 4:3|4"),
        ("a, b \n'+49151, x\n", "a|b / 2:+49151| x"),
        ("a\r1\r2\r", "a / 1:1 / 1:2"),
        ("\n\na\n1\n", "a / 4:1"),
    ] {
        assert_eq!(rows(file), expect, "{file:?}");
    }
}

#[test]
fn invalid_files_are_rejected_with_their_place() {
    for (file, expect) in [
        (b"".as_slice(), "line 1: the file is empty; its first line names the columns"),
        (b"\xff\xfea\0b\0", "line 1: the text is not UTF-8; save the file as CSV UTF-8"),
        (b"a\n\xe4\n", "line 2: the text is not UTF-8; save the file as CSV UTF-8"),
        (b"a\n1\n\0\n", "line 3: there is a NUL byte; save the file as CSV UTF-8"),
        (b"a,a\n", "line 1, column a: there are two columns of this name"),
        (b"a,,b\n", "line 1: column 2 has no name"),
        (b"a,b\n1\n", "line 2: there are 1 cells, and the first line names 2 columns"),
        (b"a,b\n1,2,3\n", "line 2: there are 3 cells, and the first line names 2 columns"),
        (b"a,b\n\"1,2\n3,4\n", "line 2: a quote is not closed in this line or above"),
    ] {
        assert!(rows(file).starts_with(expect), "{}", rows(file));
    }
}

#[test]
fn hostile_files_are_rejected_by_a_limit() {
    let many_columns = "a,".repeat(10_000_000);
    let many_cells = format!("a\n{many_columns}");
    let long_cell = format!("a\n{}\n", "x".repeat(10_000_000));
    let long_quoted_cell = format!("a\n\"{}\"\n", "x\n".repeat(5_000_000));
    let many_rows = format!("a\n{}", "x\n".repeat(ROWS_MAX + 1));
    for (file, expect) in [
        (many_columns, "line 1: the line is longer than 65536 bytes"),
        (many_cells, "line 2: the line is longer than 65536 bytes"),
        (long_cell, "line 2: the line is longer than 65536 bytes"),
        (long_quoted_cell, "line 2, column a: the cell is longer than 65536 bytes"),
        (many_rows, "line 250002: the file has more than 250000 rows; split it"),
    ] {
        assert_eq!(rows(file), expect);
    }
}

#[test]
fn written_texts_are_read_again() {
    let texts = ["=1+1", "+4915112345678", "'=x", "a,b", "a;b", "\"", "two\r\nlines", " x ", "ä", "-", "x"];
    let mut csv = String::new();
    push_headings(&mut csv, &["text", "next"]);
    texts.iter().for_each(|text| push_row(&mut csv, &[Cell::Text(text), Cell::Text("1")]));
    let read = CsvTable::read(csv.as_bytes()).unwrap();
    let cells: Vec<&str> = read.rows.iter().map(|row| row.cells[0].as_str()).collect();
    assert_eq!(cells, texts);
}

#[test]
fn pieces_are_files_that_know_their_lines() {
    let file = "\u{feff}a,b\r\n1,x\r\n\r\n\"2\r\n2\",x\r\n3,x\r\n";
    let pieces = cut(file.as_bytes(), 2).unwrap();
    let shown: Vec<(String, usize, u64)> =
        pieces.iter().map(|piece| (rows(&piece.text), piece.rows, piece.lines_before)).collect();
    assert_eq!(shown, [("a|b / 2:1|x / 4:2\r\n2|x".to_owned(), 2, 0), ("a|b / 2:3|x".to_owned(), 1, 4),]);
    assert_eq!(cut(b"a,b\n", 2).unwrap(), [CsvPiece { text: "a,b\n".to_owned(), rows: 0, lines_before: 0 }]);
    assert_eq!(cut(b"", 2).unwrap()[0].rows, 0);
}

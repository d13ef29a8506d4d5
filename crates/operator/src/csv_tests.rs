//! Unit tests of `csv.rs`.

use super::*;

fn row(cells: &[Cell<'_>]) -> String {
    let mut csv = String::new();
    push_row(&mut csv, cells);
    csv.strip_suffix("\r\n").unwrap().to_owned()
}

#[test]
fn cells_that_a_spreadsheet_would_run_are_guarded() {
    for (text, expect) in [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2", "'-2"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "\"'\r=1\""),
        ("=\"a\",1", "\"'=\"\"a\"\",1\""),
        ("\n=1", "\"'\n=1\""),
        ("＝1+1", "'＝1+1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("Shop", "Shop"),
        ("a=b", "a=b"),
        ("", ""),
    ] {
        assert_eq!(row(&[Cell::Text(text)]), expect, "{text:?}");
    }
}

#[test]
fn unguarded_cell_is_the_text_it_was_written_for() {
    for text in ["=1+1", "+4915112345678", "'=1", "''=1", "＋1", "'－1", "'Shop'", "'", "", "-", "a=b"] {
        assert_eq!(unguarded(&row(&[Cell::Text(text)])), text, "{text:?}");
    }
}

#[test]
fn quotes_commas_and_line_breaks_are_quoted() {
    let cells = [Cell::Text("a,b"), Cell::Text("say \"hi\""), Cell::Text("two\nlines"), Cell::Empty];
    assert_eq!(row(&cells), "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",");
    let cells = [Cell::Phone("+4915112345678"), Cell::Number("-0.05".to_owned()), Cell::Text(" x")];
    assert_eq!(row(&cells), "4915112345678,-0.05,\" x\"");
}

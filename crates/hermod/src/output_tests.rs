//! Unit tests of `output.rs`.

use super::*;

#[test]
fn table_is_aligned_and_leaves_out_empty_columns() {
    let mut table = TextTable::new(&[("name", Align::Left), ("note", Align::Left), ("amount", Align::Right)]);
    table.row(["shop".to_owned(), String::new(), "9.5".to_owned()]);
    table.row(["bäcker".to_owned(), String::new(), "100.25".to_owned()]);
    assert_eq!(table.text("None."), "NAME    AMOUNT\nshop       9.5\nbäcker  100.25\n");
    assert_eq!(TextTable::new(&[("name", Align::Left)]).text("None."), "None.\n");
}

#[test]
fn table_wider_than_the_terminal_is_printed_as_blocks() {
    let mut table =
        TextTable::new(&[("name", Align::Left), ("countries", Align::Left), ("amount", Align::Right)]);
    table.row(["shop".to_owned(), "DE, AT, CH".to_owned(), "9.5".to_owned()]);
    table.row([String::new(), "*".to_owned(), "100".to_owned()]);
    let wide = "NAME  COUNTRIES   AMOUNT\nshop  DE, AT, CH     9.5\n      *              100\n";
    let narrow = "NAME       shop\nCOUNTRIES  DE, AT, CH\nAMOUNT     9.5\n\nCOUNTRIES  *\nAMOUNT     100\n";
    for (width, expect) in [(None, wide), (Some(24), wide), (Some(23), narrow), (Some(1), narrow)] {
        assert_eq!(table.fitting("None.", width), expect, "{width:?}");
    }
}

#[test]
fn fields_are_aligned_and_leave_out_empty_values() {
    let shown =
        fields(&[("id", "7".to_owned()), ("operator", String::new()), ("status", "queued".to_owned())]);
    assert_eq!(shown, "  id      7\n  status  queued\n");
}

#[test]
fn control_characters_are_escaped() {
    for (text, expect) in [
        ("Grüße 👍", "Grüße 👍"),
        ("\x1b[2Jgone", "\\u{1b}[2Jgone"),
        ("two\nlines", "two\\nlines"),
        ("\u{202e}drow", "\\u{202e}drow"),
    ] {
        assert_eq!(safe(text), expect);
    }
}

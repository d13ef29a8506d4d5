//! Unit tests of `opt_out_file.rs`.

use super::*;

#[test]
fn numbers_are_read_with_and_without_plus() {
    for text in ["4915112345678", "+4915112345678"] {
        assert_eq!(number_of(text).unwrap().to_string(), "+4915112345678");
    }
    let error = number_of("4.91511E+12").unwrap_err();
    assert!(
        error.starts_with("\"4.91511E+12\": ") && error.ends_with("format the column as text"),
        "{error}"
    );
    for text in ["", "abc", "++49151123456", "49"] {
        number_of(text).unwrap_err();
    }
}

//! Unit tests of `paging.rs`.

use super::*;

#[test]
fn limit_outside_its_range_is_rejected() {
    assert_eq!("1000".parse(), Ok(Limit::MAX));
    for text in ["0", "1001", "-1", "x", ""] {
        let expect = format!("\"{text}\" is not a number from 1 to 1000");
        assert_eq!(text.parse::<Limit>(), Err(expect));
    }
    assert!("9223372036854775808".parse::<RowNumber>().is_err());
}

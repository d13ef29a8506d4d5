//! Unit tests of `currency_codes.rs`.

use super::CODES;
use crate::money::{Currency, CurrencyRefusal};

#[test]
fn codes_are_three_capital_letters_in_order() {
    assert!(CODES.is_sorted_by(|one, next| one < next));
    for code in CODES {
        assert!(code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_uppercase()), "{code}");
        assert_eq!(Currency::parse(code).unwrap().as_str(), code);
    }
}

#[test]
fn withdrawn_codes_and_those_without_money_are_no_currencies() {
    for code in ["DEM", "HRK", "BGN", "ANG", "ZWL", "XAU", "XDR", "XTS", "XXX", "CHE", "ABC"] {
        assert_eq!(Currency::parse(code), Err(CurrencyRefusal), "{code}");
    }
}

//! Unit tests of `money.rs`.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    let result = match Money::parse(text) {
        Ok(money) => format!("{} micros, shown {money}", money.as_micros()),
        Err(refusal) => format!("{refusal:?}"),
    };
    assert_eq!(result, expect, "{text:?}");
}

#[test]
fn amounts_are_parsed_and_written_in_shortest_form() {
    check("0.935", "935000 micros, shown 0.935");
    check("12", "12000000 micros, shown 12");
    check("-0.5", "-500000 micros, shown -0.5");
    check("0", "0 micros, shown 0");
    check("-0.000000", "0 micros, shown 0");
    check("1.50", "1500000 micros, shown 1.5");
    check("0.000001", "1 micros, shown 0.000001");
    check("100", "100000000 micros, shown 100");
}

#[test]
fn ends_of_the_range_are_exact() {
    check("9223372036854.775807", "9223372036854775807 micros, shown 9223372036854.775807");
    check("-9223372036854.775808", "-9223372036854775808 micros, shown -9223372036854.775808");
    check("9223372036854.775808", "OutOfRange");
    check("-9223372036854.775809", "OutOfRange");
    check("99999999999999999999999", "OutOfRange");
}

#[test]
fn non_decimal_text_is_refused() {
    for text in
        ["", "-", ".", ".5", "5.", "1e3", "1E3", "+1", "--1", "1,5", " 1", "1 ", "0x1", "NaN", "1.2.3", "٣"]
    {
        check(text, "NotDecimal");
    }
    check("0.0000001", "TooManyDecimals");
    check("0.9350000", "TooManyDecimals");
}

#[test]
fn arithmetic_is_exact_or_overflows() {
    let price = Money::parse("0.0375").unwrap();
    assert_eq!(price.times(3).unwrap().to_string(), "0.1125");
    assert_eq!(price.times(0), Some(Money::ZERO));
    assert_eq!(price.checked_sub(Money::from_micros(37_501)).unwrap().to_string(), "-0.000001");
    assert_eq!(Money::from_micros(i64::MAX).checked_add(Money::from_micros(1)), None);
    assert_eq!(Money::from_micros(i64::MAX).times(2), None);
    assert_eq!(Money::from_micros(i64::MIN).checked_neg(), None);
}

#[test]
fn currency_is_a_code_of_iso_4217_in_capital_letters() {
    assert_eq!(Currency::parse("EUR").unwrap().as_str(), "EUR");
    for text in ["", "EU", "EURO", "eur", "E R", "€", "EUX"] {
        assert_eq!(Currency::parse(text), Err(CurrencyRefusal), "{text:?}");
    }
}

proptest! {
    #[test]
    fn written_amount_parses_to_the_same(micros in any::<i64>()) {
        let money = Money::from_micros(micros);
        prop_assert_eq!(Money::parse(&money.to_string()), Ok(money));
    }
}

//! Rates and conversions, as tables.

use super::*;

fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

fn rates(pairs: &[(&str, &str, i64, &str)]) -> Result<ExchangeRates, ExchangeRefusal> {
    ExchangeRates::build(pairs.iter().map(|(base, quote, from, rate)| {
        let pair = CurrencyPair { base: currency(base), quote: currency(quote) };
        (pair, Timestamp::from_millis(*from), rate.parse().unwrap())
    }))
}

#[test]
fn rate_is_read_and_written_exactly() {
    for text in ["0.9214", "1", "16250.5", "0.0000615385", "999999999", "0.0000000001"] {
        assert_eq!(ExchangeRate::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(ExchangeRate::parse("1.50").unwrap().to_string(), "1.5");
    for text in ["", "0", "0.00", "-1", "+1", "1.", ".5", "1,5", "1e3", "0.00000000001", "1000000000", "NaN"]
    {
        assert_eq!(ExchangeRate::parse(text), Err(RateRefusal), "{text}");
    }
}

#[test]
fn amount_is_converted_by_the_rate_of_the_day_or_the_reverse_one() {
    let rates =
        rates(&[("USD", "EUR", 0, "0.9"), ("USD", "EUR", 100, "0.8"), ("EUR", "IDR", 0, "17500")]).unwrap();
    for (amount, from, to, at, expect) in [
        ("10", "USD", "EUR", 99, Some("9")),
        ("10", "USD", "EUR", 100, Some("8")),
        ("8", "EUR", "USD", 100, Some("10")),
        ("0.000001", "USD", "EUR", 0, Some("0.000001")),
        ("0.000005", "IDR", "EUR", 0, Some("0")),
        ("0.00875", "IDR", "EUR", 0, Some("0.000001")),
        ("-0.00875", "IDR", "EUR", 0, Some("-0.000001")),
        ("0.008749", "IDR", "EUR", 0, Some("0")),
        ("7", "EUR", "EUR", -1, Some("7")),
        ("7", "USD", "EUR", -1, None),
        // Rates are not chained.
        ("7", "USD", "IDR", 0, None),
        ("9000000000000", "EUR", "IDR", 0, None),
    ] {
        let amount_read = Money::parse(amount).unwrap();
        let result = rates.convert(amount_read, currency(from), currency(to), Timestamp::from_millis(at));
        assert_eq!(
            result.map(|money| money.to_string()).as_deref(),
            expect,
            "{amount} {from} in {to} at {at}"
        );
    }
}

#[test]
fn contradicting_rates_are_refused() {
    let refused = |pairs: &[_]| rates(pairs).unwrap_err().to_string();
    assert_eq!(
        refused(&[("USD", "EUR", 5, "1"), ("USD", "EUR", 5, "2")]),
        "there are two rates of USD-EUR from the same time on"
    );
    assert_eq!(refused(&[("EUR", "EUR", 5, "1")]), "the rate of EUR-EUR is between a currency and itself");
}

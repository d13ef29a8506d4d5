//! Tests of prices and dates.

use super::*;

fn cell(text: &str) -> SheetCell {
    SheetCell { text: text.to_owned(), is_number: false }
}

fn number(text: &str) -> SheetCell {
    SheetCell { text: text.to_owned(), is_number: true }
}

#[test]
fn prices_are_exact_in_every_form() {
    use DecimalSign::{Comma, Point};
    use PriceUnit::{Cents, PerThousand, Units};
    for (text, decimal, unit, expect) in [
        ("0.065", Point, Units, Ok("0.065")),
        ("0,0650", Comma, Units, Ok("0.065")),
        (".065", Point, Units, Ok("0.065")),
        ("12", Point, Units, Ok("12")),
        ("1,234.5", Point, Cents, Ok("12.345")),
        ("1.234,5", Comma, Cents, Ok("12.345")),
        ("6.5", Point, Cents, Ok("0.065")),
        ("65", Point, PerThousand, Ok("0.065")),
        ("6.5", Point, PerThousand, Ok("0.0065")),
        ("€ 0.065", Point, Units, Ok("0.065")),
        ("0.065 EUR", Point, Units, Ok("0.065")),
        ("US$0.065", Point, Units, Ok("0.065")),
        ("1 234,5", Comma, Cents, Ok("12.345")),
        ("0.0651230", Point, Units, Ok("0.065123")),
        ("0.0651234", Point, Units, Err("\"0.0651234\" has more than six decimals")),
        ("0.12345", Point, Cents, Err("\"0.12345\" has more than six decimals")),
        ("0,065", Point, Units, Err("\"0,065\" is not a price")),
        ("1,23", Point, Units, Err("\"1,23\" is not a price")),
        ("-0.05", Point, Units, Err("\"-0.05\" is not a price")),
        ("1e-2", Point, Units, Err("\"1e-2\" is not a price")),
        ("0.", Point, Units, Err("\"0.\" is not a price")),
        ("x", Point, Units, Err("\"x\" is not a price")),
        ("1001", Point, Units, Err("\"1001\" is more than the highest price, 1000")),
    ] {
        let read = price(&cell(text), decimal, unit).map(|(price, _)| price.to_string());
        assert_eq!(read, expect.map(str::to_owned).map_err(str::to_owned), "{text}");
    }
    // A workbook's number has a point, also where the texts of the sheet have commas.
    assert_eq!(
        price(&number("0.065"), Comma, Units).map(|(price, _)| price.to_string()),
        Ok("0.065".to_owned())
    );
    for (text, currency) in
        [("€0.1", Some("EUR")), ("0.1 USD", Some("USD")), ("US$ 0.1", Some("USD")), ("$0.1", None)]
    {
        assert_eq!(price(&cell(text), Point, Units).map(|(_, currency)| currency), Ok(currency), "{text}");
    }
}

#[test]
fn decimal_sign_follows_from_prices_that_have_one_meaning() {
    let sign = |texts: &[&str]| {
        let cells: Vec<SheetCell> = texts.iter().map(|text| cell(text)).collect();
        decimal_sign(cells.iter()).map_err(|error| error.to_string())
    };
    for (texts, expect) in [
        (&["0.065", "1.234"][..], DecimalSign::Point),
        (&["0,065", "1,234"], DecimalSign::Comma),
        (&["12", "7"], DecimalSign::Point),
        (&["1.234,50"], DecimalSign::Comma),
        (&["1,234.50"], DecimalSign::Point),
        (&["1.234.567"], DecimalSign::Comma),
        (&["12,5"], DecimalSign::Comma),
    ] {
        assert_eq!(sign(texts), Ok(expect), "{texts:?}");
    }
    assert!(
        sign(&["0.065", "0,07"])
            .is_err_and(|error| error.contains("a decimal point and with a decimal comma"))
    );
    assert!(sign(&["1,234", "2,345"]).is_err_and(|error| error.contains("\"2,345\"")));
}

#[test]
fn dates_are_read_in_every_form() {
    let form = |order, offset: &str| DateForm {
        order,
        offset: UtcOffset::parse(offset).unwrap_or_default(),
        is_from_1904: false,
    };
    let read = |cell: SheetCell, form: DateForm| match form.read(&cell) {
        Ok(SheetDate::At(at)) => at.to_iso(),
        Ok(SheetDate::AtOnce) => "at once".to_owned(),
        Err(error) => error,
    };
    let day = "2026-12-31T00:00:00Z";
    for (text, order, expect) in [
        ("31.12.2026", None, day),
        ("31.12.26", None, day),
        ("2026-12-31", None, day),
        ("2026/12/31", None, day),
        ("20261231", None, day),
        ("31/12/2026", Some(DateOrder::DayMonthYear), day),
        ("12/31/2026", Some(DateOrder::MonthDayYear), day),
        ("31.12.2026", Some(DateOrder::MonthDayYear), day),
        ("31-Dec-2026", None, day),
        ("Dec 31, 2026", None, day),
        ("31 December 2026", None, day),
        ("46387", None, day),
        ("2026-12-31T00:00:00+00:00", None, day),
        ("2026-12-31 12:30:00", None, "2026-12-31T12:30:00Z"),
        ("31.12.2026 12:30", None, "2026-12-31T12:30:00Z"),
        ("", None, "at once"),
        ("Immediately", None, "at once"),
        ("01/02/2027", None, "\"01/02/2027\" is not a date"),
        ("02/02/2027", None, "2027-02-02T00:00:00Z"),
        ("31.13.2026", None, "\"31.13.2026\" is not a date"),
        ("soon", None, "\"soon\" is not a date"),
        ("2026", None, "\"2026\" is not a date"),
    ] {
        assert_eq!(read(cell(text), form(order, "+00:00")), expect, "{text}");
    }
    assert_eq!(read(number("46387.5"), form(None, "+00:00")), "2026-12-31T12:00:00Z");
    assert_eq!(read(cell("31.12.2026"), form(None, "+02:00")), "2026-12-30T22:00:00Z");
    let from_1904 = DateForm { is_from_1904: true, ..form(None, "+00:00") };
    assert_eq!(read(number("44925"), from_1904), day);
}

#[test]
fn order_of_dates_follows_from_days_above_twelve() {
    let order = |texts: &[&str]| {
        let cells: Vec<SheetCell> = texts.iter().map(|text| cell(text)).collect();
        date_order(cells.iter()).map_err(|error| error.to_string())
    };
    assert_eq!(order(&["01/02/2027", "31/12/2026"]), Ok(Some(DateOrder::DayMonthYear)));
    assert_eq!(order(&["01/02/2027", "12/31/2026"]), Ok(Some(DateOrder::MonthDayYear)));
    assert_eq!(order(&["2026-12-01", "31.12.2026", "", "03/03/2027"]), Ok(None));
    assert!(order(&["01/02/2027"]).is_err_and(|error| error.contains("\"01/02/2027\"")));
    assert!(
        order(&["31/12/2026", "12/31/2026"])
            .is_err_and(|error| error.contains("day first and with the month"))
    );
}

/// Numbers that look random and are the same in every run.
fn numbers() -> impl Iterator<Item = u64> {
    let step = |number: &u64| {
        Some(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(Some(1), step)
}

#[test]
fn price_that_is_written_in_any_unit_and_sign_is_read_back() {
    for number in numbers().take(20_000) {
        let micros = i64::try_from(number >> 34).unwrap_or_default() % (PRICE_MAX.as_micros() + 1);
        let money = Money::from_micros(micros);
        for (unit, factor) in
            [(PriceUnit::Units, 1), (PriceUnit::Cents, 100), (PriceUnit::PerThousand, 1_000)]
        {
            let written = Money::from_micros(micros * factor).to_string();
            for (decimal, text) in
                [(DecimalSign::Point, written.clone()), (DecimalSign::Comma, written.replace('.', ","))]
            {
                assert_eq!(price(&cell(&text), decimal, unit).map(|(price, _)| price), Ok(money), "{text}");
            }
        }
    }
}

#[test]
fn damaged_texts_are_refused_or_read_and_never_end_the_process() {
    let sheet = "MCC;MNC;MCCMNC;Prefix;Price;From;Until;Currency;Sender\n262;1;;;0,065;31.12.2026;;EUR;alpha\n;;310-26;;€ 1.234,5;46387;;;\n";
    let odd = ["\u{0}", "\"", ";", "\n", "9", "-", ".", ",", "ß", "T", ":", "/", "€", " "];
    let mut numbers = numbers().map(|number| usize::try_from(number >> 33).unwrap_or_default());
    for _ in 0..5_000 {
        let mut text: Vec<char> = sheet.chars().collect();
        for _ in 0..4 {
            let (at, piece) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
            let at = at % text.len();
            text.splice(at..=at, odd[piece % odd.len()].chars());
        }
        let text: String = text.into_iter().collect();
        let profile = hermod_domain::rate_profile::RateProfile::of(hermod_domain::ids::CarrierId::new(1));
        let _ = crate::rates::rows::read(text.as_bytes(), &profile);
    }
}

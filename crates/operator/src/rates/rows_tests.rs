//! Tests of whole rows and files.

use super::*;
use hermod_domain::area::Area;
use hermod_domain::ids::CarrierId;
use hermod_domain::rate_profile::PriceUnit;

fn profile() -> RateProfile {
    RateProfile { currency: Currency::parse("EUR").ok(), ..RateProfile::of(CarrierId::new(1)) }
}

/// Returns each rate of a file, and each problem, or the refusal.
fn told(text: &str, profile: &RateProfile) -> Vec<String> {
    let sheet = match read(text.as_bytes(), profile) {
        Ok(sheet) => sheet,
        Err(refusal) => return vec![refusal.to_string()],
    };
    let rates = sheet.rates.iter().map(|rate| {
        let amount = rate.per_part.map_or("closed".to_owned(), |amount| amount.to_string());
        let from = match rate.from {
            SheetDate::AtOnce => "at once".to_owned(),
            SheetDate::At(at) => at.to_iso(),
        };
        let kind = rate.key.1.map_or("", SenderClass::as_str);
        format!("{} {kind} {amount} {} {from}", Area::name(rate.key.0), rate.currency)
    });
    let problems =
        sheet.problems.iter().map(|problem| format!("line {}: {}", problem.line, problem.sentence));
    rates.chain(problems).collect()
}

#[test]
fn every_row_of_the_reference_resolves_or_is_reported() {
    let cents = RateProfile { unit: PriceUnit::Cents, ..profile() };
    let six = RateProfile { six_digits: true, ..profile() };
    for (header, row, profile, expect) in [
        (
            "MCC;MNC;Price;Currency;From",
            "262;01;0,0650;EUR;01.12.2026",
            profile(),
            "262-01  0.065 EUR 2026-12-01T00:00:00Z",
        ),
        ("Country,MCC,MNC,Price", "Germany,262,1,0.065", profile(), "262-01  0.065 EUR at once"),
        (
            "MCC,MNC,Price",
            "310,26,0.008",
            profile(),
            "line 2: 310-26 can be 310-260: write the MNC with all its digits",
        ),
        ("MCCMNC,Price", "26201.0,0.065", profile(), "262-01  0.065 EUR at once"),
        ("MCCMNC,Price", "262-01,0.065", profile(), "262-01  0.065 EUR at once"),
        ("MCCMNC,Price", "262001,0.065", six, "262-01  0.065 EUR at once"),
        ("MCC,MNC,Price", "262,*,0.06", profile(), "DE  0.06 EUR at once"),
        ("MCC,MNC,Price", "262,,0.06", profile(), "DE  0.06 EUR at once"),
        ("MCC,MNC,Price", "262,0,0.06", profile(), "DE  0.06 EUR at once"),
        ("MCC,MNC,Price", "262,Flat,0.06", profile(), "DE  0.06 EUR at once"),
        ("MCC,MNC,Price", "262,99,0.06", profile(), "line 2: there is no network 262-99"),
        ("MCC,MNC,Price", "262,01,6.5", cents, "262-01  0.065 EUR at once"),
        ("MCC,MNC,Price", "262,01,0.0651234", profile(), "line 2: \"0.0651234\" has more than six decimals"),
        ("MCC,MNC,Price,Change", "262,01,,Closed", profile(), "262-01  closed EUR at once"),
        ("Prefix;Price", "+4915;0.06", profile(), "4915  0.06 EUR at once"),
        ("MCC,MNC,Price", "262,01,", profile(), "line 2: there is no price"),
        ("MCC,MNC,Price,Sender", "262,01,0.06,alpha", profile(), "262-01 alphanumeric 0.06 EUR at once"),
        (
            "MCC,MNC,Price,Sender",
            "262,01,0.06,SIM",
            profile(),
            "line 2: \"SIM\" is not a kind of sender: alphanumeric, number or both",
        ),
    ] {
        assert_eq!(told(&format!("{header}\n{row}\n"), &profile), [expect], "{row}");
    }
    assert_eq!(
        told("MCC,MNC,Price\n262,\"01,06,78\",0.06\n", &profile()),
        ["262-01  0.06 EUR at once", "262-06  0.06 EUR at once", "262-78  0.06 EUR at once"]
    );
}

#[test]
fn two_prices_of_one_date_stop_and_repeated_rows_count_once() {
    let refused = told("MCC,MNC,Price\n262,01,0.065\n262,1,0.070\n", &profile());
    assert_eq!(
        refused,
        ["the sheet has two prices for network 262-01 from the same date on, in lines 2 and 3"]
    );
    let repeated = told("MCC,MNC,Price\n262,01,0.065\n262,02,0.06\n262,1,0.0650\n", &profile());
    assert_eq!(repeated.len(), 2, "{repeated:?}");
    let dated = "MCC,MNC,Price,From\n262,01,0.065,2026-12-01\n262,01,0.07,2027-01-01\n";
    assert_eq!(told(dated, &profile()).len(), 2);
}

#[test]
fn more_problems_than_the_limit_stop() {
    let rows = |count: usize| format!("MCC,MNC,Price\n262,01,0.05\n{}", "262,99,0.06\n".repeat(count));
    assert_eq!(told(&rows(PROBLEMS_MAX), &profile()).len(), PROBLEMS_MAX + 1);
    let refused = told(&rows(PROBLEMS_MAX + 1), &profile());
    assert!(
        refused[0].contains("more than 100 rows that cannot be read, the first in line 3"),
        "{refused:?}"
    );
}

#[test]
fn currencies_are_of_the_row_the_price_or_the_profile() {
    let none = RateProfile::of(CarrierId::new(1));
    for (row, profile, expect) in [
        ("262,01,0.06,USD", profile(), "262-01  0.06 USD at once"),
        ("262,01,€0.06,", profile(), "262-01  0.06 EUR at once"),
        ("262,01,0.06 USD,EUR", profile(), "line 2: the price is in USD, and the row in EUR"),
        ("262,01,0.06,", none, "line 2: there is no currency; name one in the rate profile (currency)"),
        ("262,01,0.06,XYZW", profile(), "line 2: \"XYZW\" is not a currency"),
    ] {
        assert_eq!(told(&format!("MCC,MNC,Price,Currency\n{row}\n"), &profile), [expect], "{row}");
    }
}

#[test]
fn encodings_are_recognised_or_the_file_is_refused() {
    let text = "Country;MCC;MNC;Price\nCôte d’Ivoire;612;03;0,05\n";
    let utf_16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let windows: Vec<u8> = text
        .chars()
        .map(|character| match character {
            'ô' => 0xf4,
            '’' => 0x92,
            other => u8::try_from(u32::from(other)).unwrap_or(b'?'),
        })
        .collect();
    for bytes in [
        text.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [&b"\xff\xfe"[..], &utf_16(u16::to_le_bytes)].concat(),
        [&b"\xfe\xff"[..], &utf_16(u16::to_be_bytes)].concat(),
        utf_16(u16::to_le_bytes),
        windows,
    ] {
        let sheet = read(&bytes, &profile());
        assert_eq!(sheet.map(|sheet| sheet.rates.len()).map_err(|error| error.to_string()), Ok(1));
    }
    for bytes in [&b"\xd0\xcf\x11\xe0rest"[..], b"MCC\x81,MNC", b"a\0b", b"", b"PK\x03\x04broken"] {
        assert!(read(bytes, &profile()).is_err());
    }
}

//! Tests of destinations, each resolved or reported.

use super::*;

fn resolved(cells: DestinationCells<'_>, six_digits: bool) -> Result<String, String> {
    let areas = resolve(cells, six_digits).map_err(|unresolved| unresolved.sentence)?;
    Ok(areas.into_iter().map(Area::name).collect::<Vec<_>>().join(" "))
}

#[test]
fn networks_of_two_columns_resolve_or_are_reported() {
    for (mcc, mnc, expect) in [
        ("262", "01", Ok("262-01")),
        ("262", "1", Ok("262-01")),
        ("262.0", "1.0", Ok("262-01")),
        ("262", "*", Ok("DE")),
        ("262", "", Ok("DE")),
        ("262", "0", Ok("DE")),
        ("262", "00", Ok("DE")),
        ("262", "Flat", Ok("DE")),
        ("262", "DEFAULT", Ok("DE")),
        ("262", "ALL", Ok("DE")),
        ("262", "Other", Ok("DE")),
        ("310", "*", Ok("mcc310")),
        ("901", "*", Ok("mcc901")),
        ("262", "01,06,78", Ok("262-01 262-06 262-78")),
        ("310", "260", Ok("310-260")),
        ("310", "26", Err("310-26 can be 310-260: write the MNC with all its digits")),
        ("310", "59", Ok("310-59")),
        ("262", "99", Err("there is no network 262-99")),
        ("262", "01,99", Err("there is no network 262-99")),
        (
            "262",
            "001",
            Err(
                "there is no network 262-001; if codes are filled up to six digits it is 262-01: six_digits in the rate profile",
            ),
        ),
        ("262", "1234", Err("\"1234\" is not an MNC")),
        ("262", "Vodafone", Err("\"Vodafone\" is not an MNC")),
        ("26", "01", Err("\"26\": an MCC has three digits, as in 262")),
        ("199", "01", Err("there is no MCC 199")),
    ] {
        let cells = DestinationCells { country: "Germany", mcc, mnc, ..DestinationCells::default() };
        let expect = expect.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(resolved(cells, false), expect, "{mcc},{mnc}");
    }
}

#[test]
fn joined_codes_resolve_and_six_digits_only_if_the_profile_says_so() {
    for (code, six_digits, expect) in [
        ("26201", false, Ok("262-01")),
        ("26201.0", false, Ok("262-01")),
        ("262-01", false, Ok("262-01")),
        ("262 01", false, Ok("262-01")),
        ("262001", true, Ok("262-01")),
        ("310260", false, Ok("310-260")),
        ("310260", true, Ok("310-260")),
        ("262", false, Ok("DE")),
        ("262*", false, Ok("DE")),
        ("DEFAULT 262", false, Ok("DE")),
        ("26201,26202", false, Ok("262-01 262-02")),
    ] {
        let cells = DestinationCells { mccmnc: code, ..DestinationCells::default() };
        assert_eq!(
            resolved(cells, six_digits),
            expect.map(str::to_owned).map_err(|error: &str| error.to_owned()),
            "{code}"
        );
    }
    for code in ["262001", "31026", "26299", "26", "ä€ö", "262-01-03", "x"] {
        let cells = DestinationCells { mccmnc: code, ..DestinationCells::default() };
        assert!(resolved(cells, false).is_err(), "{code}");
    }
}

#[test]
fn prefixes_and_countries_resolve() {
    for (prefix, expect) in [
        ("+4915", Some("4915")),
        ("4915", Some("4915")),
        ("004915", Some("4915")),
        ("*", Some("*")),
        ("49x", None),
    ] {
        let cells = DestinationCells { prefix, ..DestinationCells::default() };
        assert_eq!(resolved(cells, false).ok().as_deref(), expect, "{prefix}");
    }
    for (country, expect) in [
        ("Germany", Some("DE")),
        ("germany ", Some("DE")),
        ("DE", Some("DE")),
        ("Atlantis", None),
        ("", None),
    ] {
        let cells = DestinationCells { country, ..DestinationCells::default() };
        assert_eq!(resolved(cells, false).ok().as_deref(), expect, "{country}");
    }
}

#[test]
fn ambiguous_code_names_what_it_can_be() {
    let cells = DestinationCells { mcc: "310", mnc: "26", ..DestinationCells::default() };
    let may_be = resolve(cells, false).err().and_then(|unresolved| unresolved.may_be);
    let names: Vec<String> = may_be.into_iter().flatten().map(Area::name).collect();
    assert_eq!(names, ["310-260"]);
}

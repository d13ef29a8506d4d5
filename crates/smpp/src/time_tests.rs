//! Parsing and writing of SMPP times.

use super::*;

fn describe(field: &str) -> String {
    match parse(field.as_bytes()) {
        Ok(None) => "default".into(),
        Ok(Some(SmppTime::Absolute(a))) => format!(
            "{}-{:02}-{:02} {:02}:{:02}:{:02}.{} {:+}",
            a.year, a.month, a.day, a.hour, a.minute, a.second, a.tenths, a.utc_quarters
        ),
        Ok(Some(SmppTime::Relative(r))) => {
            format!("{}y {}m {}d {}h {}m {}s", r.years, r.months, r.days, r.hours, r.minutes, r.seconds)
        }
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn times_are_parsed_as_specified() {
    let cases = [
        ("", "default"),
        ("000001000000000R", "0y 0m 1d 0h 0m 0s"),
        // §7.1.1.2's own example: 2 years, 6 months, 10 days, 23 h 34 min 29 s.
        ("020610233429000R", "2y 6m 10d 23h 34m 29s"),
        ("0000000000010xxR", "0y 0m 0d 0h 0m 1s"),
        ("000000000000000R", "a relative time of zero"),
        ("251231235959948+", "2025-12-31 23:59:59.9 +48"),
        ("380101000000048-", "1938-01-01 00:00:00.0 -48"),
        ("370228000000000+", "2037-02-28 00:00:00.0 +0"),
        ("240229120000004+", "2024-02-29 12:00:00.0 +4"),
        ("230229120000004+", "there is no such date"),
        ("251301000000000+", "there is no such date"),
        ("250001000000000+", "there is no such date"),
        ("250100000000000+", "there is no such date"),
        ("250101240000000+", "there is no such date"),
        ("250101006000000+", "there is no such date"),
        ("250101000060000+", "there is no such date"),
        ("250101000000049+", "the offset is more than 48 quarter hours"),
        ("250101000000000Z", "a time is digits and one of + - R"),
        ("2501010000000x0+", "a time is digits and one of + - R"),
        ("25 101000000000+", "a time is digits and one of + - R"),
        ("250101", "a time has 16 characters, not 6"),
    ];
    for (field, expect) in cases {
        assert_eq!(describe(field), expect, "{field}");
    }
}

#[test]
fn written_time_parses_to_the_same() {
    for field in ["000001000000000R", "020610233429000R", "251231235959948+", "380101000000048-"] {
        let time = parse(field.as_bytes()).unwrap().unwrap();
        assert_eq!(time.to_chars().unwrap(), *field.as_bytes());
    }
}

#[test]
fn seconds_are_converted_to_units() {
    let chars = |seconds| {
        let chars = SmppTime::Relative(Relative::from_seconds(seconds)).to_chars();
        chars.map(|chars| String::from_utf8(chars.to_vec()).unwrap())
    };
    assert_eq!(chars(86_400), Ok("000001000000000R".into()));
    assert_eq!(chars(90_061), Ok("000001010101000R".into()));
    assert_eq!(chars(u64::MAX), Ok("000099070015000R".into()));
    assert_eq!(chars(0), Err(TimeError::Zero));
}

#[test]
fn absolute_times_are_written_in_utc() {
    let cases = [
        (0, Some("700101000000000+")),
        (-1, Some("691231235959000+")),
        (951_782_400, Some("000229000000000+")),
        (951_868_799, Some("000229235959000+")),
        (1_794_733_201, Some("261115090001000+")),
        (1_767_225_599, Some("251231235959000+")),
        // The first and the last second of the range.
        (-1_009_843_200, Some("380101000000000+")),
        (-1_009_843_201, None),
        (2_145_916_799, Some("371231235959000+")),
        (2_145_916_800, None),
        (i64::MIN, None),
        (i64::MAX, None),
    ];
    for (seconds, expect) in cases {
        let chars = utc(seconds).ok().map(|chars| String::from_utf8(chars.to_vec()).unwrap());
        assert_eq!(chars.as_deref(), expect, "{seconds}");
    }
}

#[test]
fn validity_is_written_as_a_relative_time() {
    let cases = [
        (1, Some("000000000001000R")),
        (3 * 86_400, Some("000003000000000R")),
        (90_061, Some("000001010101000R")),
        (0, None),
    ];
    for (seconds, expect) in cases {
        let chars = relative(seconds).ok().map(|chars| String::from_utf8(chars.to_vec()).unwrap());
        assert_eq!(chars.as_deref(), expect, "{seconds}");
    }
}

#[test]
fn invalid_values_are_not_written() {
    let new_year =
        Absolute { year: 2025, month: 1, day: 1, hour: 0, minute: 0, second: 0, tenths: 0, utc_quarters: 0 };
    let fault = |absolute| SmppTime::Absolute(absolute).to_chars().unwrap_err();
    assert_eq!(fault(Absolute { year: 2038, ..new_year }), TimeError::NoSuchDate);
    assert_eq!(fault(Absolute { tenths: 10, ..new_year }), TimeError::NoSuchDate);
    assert_eq!(fault(Absolute { utc_quarters: -49, ..new_year }), TimeError::Offset);
    let long = Relative { hours: 100, ..Relative::default() };
    assert_eq!(SmppTime::Relative(long).to_chars(), Err(TimeError::NoSuchDate));
}

//! Durations as users write them on the command line and in script files: `250ms`, `10s`, `2m`, `1h`.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Parses a whole number and a unit. A number without a unit is invalid.
///
/// # Errors
/// Returns a sentence that quotes the text and names the valid units.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let invalid =
        || format!("{text:?} is not a duration: expected a number and ms, s, m or h, as in 250ms or 10s");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| invalid())?;
    let unit_ms = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(invalid()),
    };
    number.checked_mul(unit_ms).map(Duration::from_millis).ok_or_else(invalid)
}

/// Deserializes a duration that is written as text.
pub(crate) fn deserialize_duration<'de, D: Deserializer<'de>>(text: D) -> Result<Duration, D::Error> {
    parse_duration(&String::deserialize(text)?).map_err(D::Error::custom)
}

/// Deserializes the duration of a key that is present.
pub(crate) fn deserialize_some_duration<'de, D: Deserializer<'de>>(
    text: D,
) -> Result<Option<Duration>, D::Error> {
    deserialize_duration(text).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_a_number_and_a_unit() {
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("1h"), Ok(Duration::from_secs(3600)));
        for text in ["", "10", "s", "1.5s", "10 s", "10d", "-1s", "18446744073709551615h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}

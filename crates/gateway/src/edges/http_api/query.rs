//! Reads query parameters. A known parameter may occur once; unknown ones are ignored.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Bytes;

/// How often a parameter occurs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum QueryParameter<'a> {
    Absent,
    Once(Cow<'a, str>),
    Repeated,
}

pub(super) fn parameter<'a>(query: &'a str, name: &str) -> QueryParameter<'a> {
    let mut values = query.split('&').filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(key) == name).then_some(value)
    });
    match (values.next(), values.next()) {
        (None, _) => QueryParameter::Absent,
        (Some(value), None) => QueryParameter::Once(decoded(value)),
        (Some(_), Some(_)) => QueryParameter::Repeated,
    }
}

/// Decodes form encoding: `+` is a space and `%41` an `A`. An invalid escape stays as it is, and invalid UTF-8 becomes
/// U+FFFD, which no parameter contains.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => hex_pair(&mut rest).unwrap_or(b'%'),
            other => other,
        });
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads two hex digits; consumes nothing if one is missing.
fn hex_pair(rest: &mut Peekable<Bytes<'_>>) -> Option<u8> {
    let mut ahead = rest.clone();
    let mut digit = || char::from(ahead.next()?).to_digit(16);
    let value = digit()? * 16 + digit()?;
    *rest = ahead;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expect: &str) {
        let actual = match parameter(query, "since") {
            QueryParameter::Absent => "absent".to_owned(),
            QueryParameter::Once(value) => format!("once {value:?}"),
            QueryParameter::Repeated => "repeated".to_owned(),
        };
        assert_eq!(actual, expect, "{query}");
    }

    #[test]
    fn parameter_is_found_by_its_decoded_name() {
        check("", "absent");
        check("&&=&=1&Since=1&since1=2", "absent");
        check("since=7", "once \"7\"");
        check("limit=1&since=7&x", "once \"7\"");
        check("since", "once \"\"");
        check("since=", "once \"\"");
        check("since=a=b", "once \"a=b\"");
        check("s%69nce=%37", "once \"7\"");
        check("since=+7", "once \" 7\"");
        check("since=7&since=7", "repeated");
        check("since=7&%73ince=8", "repeated");
    }

    #[test]
    fn invalid_escapes_stay_unchanged() {
        check("since=%", "once \"%\"");
        check("since=%3", "once \"%3\"");
        check("since=%zz", "once \"%zz\"");
        check("since=%%37", "once \"%7\"");
        check("since=%ff", "once \"\u{fffd}\"");
    }
}

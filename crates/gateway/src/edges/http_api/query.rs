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
#[path = "query_tests.rs"]
mod tests;

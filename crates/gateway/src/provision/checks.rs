//! How each value of a provision file must look. A value that passes can be used; one that does not is refused with a
//! sentence that says what would do.

use crate::config::Period;
use crate::secrets::Secret;
use hermod_domain::money::Money;
use hermod_domain::pace::PER_SECOND_MAX;
use hermod_domain::prefix::Prefix;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use std::fmt;
use std::time::Duration;

const NAME_CHARS_MAX: usize = 64;
/// SMPP v3.4 section 5.2.1 to 5.2.3: sizes without the terminating zero.
const SYSTEM_ID_OCTETS_MAX: usize = 15;
const PASSWORD_OCTETS_MAX: usize = 8;
const SYSTEM_TYPE_OCTETS_MAX: usize = 12;
const WINDOW_MAX: u16 = 10_000;
/// A secret that can be guessed is none; one that is generated has 32 characters.
const SECRET_CHARS_MIN: usize = 8;
const SECRET_CHARS_MAX: usize = 128;
const LINK_WAIT_MIN: Duration = Duration::from_millis(100);
const LINK_WAIT_MAX: Duration = Duration::from_secs(600);

pub(super) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    plain_word(deserializer, "name")
}

pub(super) fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    plain_word(deserializer, "key")
}

/// Names stand in log lines, metrics and other names; keys in headers, before a colon.
fn plain_word<'de, D: Deserializer<'de>>(deserializer: D, what: &str) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    if plain && (1..=NAME_CHARS_MAX).contains(&text.len()) {
        return Ok(text);
    }
    Err(D::Error::custom(format!(
        "a {what} has 1 to {NAME_CHARS_MAX} letters, digits and - _ . (not \"{text}\")"
    )))
}

pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let port =
        text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
    match port {
        Some(Ok(1..)) => Ok(text),
        Some(_) | None => Err(D::Error::custom(format!(
            "an address is host:port, such as smsc.example:2775 (not \"{text}\")"
        ))),
    }
}

pub(super) fn system_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    smpp_text(String::deserialize(deserializer)?, "system_id", SYSTEM_ID_OCTETS_MAX)
}

pub(super) fn system_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    smpp_text(String::deserialize(deserializer)?, "system_type", SYSTEM_TYPE_OCTETS_MAX)
}

pub(super) fn smpp_password<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    smpp_text(String::deserialize(deserializer)?, "password", PASSWORD_OCTETS_MAX).map(Secret::new)
}

/// Never repeats the text: it may be a password.
fn smpp_text<E: Error>(text: String, what: &str, octets_max: usize) -> Result<String, E> {
    let printable = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if printable && text.len() <= octets_max {
        return Ok(text);
    }
    Err(E::custom(format!("SMPP allows a {what} of at most {octets_max} ASCII characters")))
}

pub(super) fn api_secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    let text = String::deserialize(deserializer)?;
    let fits = (SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(Secret::new(text));
    }
    Err(D::Error::custom(format!(
        "a secret has {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} ASCII characters without spaces; take random ones"
    )))
}

pub(super) fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let window = number_within(deserializer, "a window", i64::from(WINDOW_MAX))?;
    Ok(u16::try_from(window).expect("checked against the largest window"))
}

pub(super) fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let rate = number_within(deserializer, "a rate per second", i64::from(PER_SECOND_MAX))?;
    Ok(u32::try_from(rate).expect("checked against the highest rate"))
}

pub(super) fn max_parts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let parts = number_within(deserializer, "a number of parts", i64::from(u8::MAX))?;
    Ok(Some(u8::try_from(parts).expect("checked against the largest")))
}

fn number_within<'de, D: Deserializer<'de>>(deserializer: D, what: &str, most: i64) -> Result<i64, D::Error> {
    let number = i64::deserialize(deserializer)?;
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    Err(D::Error::custom(format!("{what} is between 1 and {most}, not {number}")))
}

pub(super) fn link_wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Period, D::Error> {
    let wait = Period::deserialize(deserializer)?;
    if (LINK_WAIT_MIN..=LINK_WAIT_MAX).contains(&wait.0) {
        return Ok(wait);
    }
    let (least, most) = (Period(LINK_WAIT_MIN), Period(LINK_WAIT_MAX));
    Err(D::Error::custom(format!("{wait} is not between {least} and {most}")))
}

/// `*` is every number.
pub(super) fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Prefix, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.as_str() {
        "*" => Ok(Prefix::ANY),
        "" => Err(D::Error::custom("write \"*\" for every number")),
        digits => {
            Prefix::parse(digits).map_err(|refusal| D::Error::custom(format!("\"{digits}\": {refusal}")))
        }
    }
}

pub(super) fn prefix_text<S: Serializer>(prefix: &Prefix, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&prefix_name(*prefix))
}

pub(super) fn prefix_name(prefix: Prefix) -> String {
    if prefix == Prefix::ANY { "*".to_owned() } else { prefix.to_string() }
}

pub(super) fn hidden<S: Serializer>(_: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("(hidden)")
}

/// An amount that is not negative: quoted, because a bare decimal would go through a binary fraction, or a whole number.
pub(super) fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
    let amount = deserializer.deserialize_any(Amount)?;
    if amount.is_negative() {
        return Err(D::Error::custom(format!("{amount} is negative")));
    }
    Ok(amount)
}

struct Amount;

impl Visitor<'_> for Amount {
    type Value = Money;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount in quotes, such as \"0.035\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Money, E> {
        Money::parse(text).map_err(|refusal| E::custom(format!("\"{text}\": {refusal}")))
    }

    fn visit_i64<E: Error>(self, units: i64) -> Result<Money, E> {
        self.visit_str(&units.to_string())
    }
}

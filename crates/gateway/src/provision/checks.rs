//! How each value of a provision file must look. A value that passes can be used; one that does not is refused with a
//! sentence that says what would do.

use crate::config::Period;
use crate::secrets::Secret;
use hermod_domain::pace::PER_SECOND_MAX;
use hermod_domain::sender::{Sender, SenderKind};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
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
const KEYWORD_CHARS_MAX: usize = 20;
const PATTERN_CHARS_MAX: usize = 1_000;
const MESSAGES_PER_DAY_MAX: i64 = 1_000_000_000;
const VELOCITY_MOST_MAX: i64 = 1_000_000;
const VELOCITY_PERIOD_MIN: Duration = Duration::from_secs(1);
const VELOCITY_PERIOD_MAX: Duration = Duration::from_secs(31 * 24 * 3600);

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

pub(super) fn smpp_password<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let text = smpp_text(String::deserialize(deserializer)?, "password", PASSWORD_OCTETS_MAX)?;
    Ok(Some(Secret::new(text)))
}

/// Never repeats the text: it may be a password.
fn smpp_text<E: Error>(text: String, what: &str, octets_max: usize) -> Result<String, E> {
    let printable = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if printable && text.len() <= octets_max {
        return Ok(text);
    }
    Err(E::custom(format!("SMPP allows a {what} of at most {octets_max} ASCII characters")))
}

pub(super) fn api_secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let fits = (SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(Some(Secret::new(text)));
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

/// Messages a day: more than anybody sends is no limit.
pub(super) fn messages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let messages = number_within(deserializer, "a number of messages", MESSAGES_PER_DAY_MAX)?;
    Ok(Some(u64::try_from(messages).expect("checked to be positive")))
}

pub(super) fn most<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let most = number_within(deserializer, "a number of messages", VELOCITY_MOST_MAX)?;
    Ok(u32::try_from(most).expect("checked against the largest"))
}

pub(super) fn velocity_period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Period, D::Error> {
    period_within(deserializer, VELOCITY_PERIOD_MIN, VELOCITY_PERIOD_MAX)
}

pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Sender, D::Error> {
    let number = Sender::deserialize(deserializer)?;
    if number.kind() == SenderKind::Alphanumeric {
        return Err(D::Error::custom(format!("\"{number}\" is a name; nobody can answer one")));
    }
    Ok(number)
}

/// In capitals: handsets write words as they like.
pub(super) fn keyword<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric());
    if plain && (1..=KEYWORD_CHARS_MAX).contains(&text.len()) {
        return Ok(Some(text.to_ascii_uppercase()));
    }
    Err(D::Error::custom(format!(
        "a keyword has 1 to {KEYWORD_CHARS_MAX} letters and digits (not \"{text}\")"
    )))
}

/// Whether it compiles is tried with all the others, when the catalogue is built.
pub(super) fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if (1..=PATTERN_CHARS_MAX).contains(&text.len()) {
        return Ok(text);
    }
    Err(D::Error::custom(format!("a pattern has 1 to {PATTERN_CHARS_MAX} characters, not {}", text.len())))
}

pub(super) fn link_wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Period, D::Error> {
    period_within(deserializer, LINK_WAIT_MIN, LINK_WAIT_MAX)
}

fn period_within<'de, D: Deserializer<'de>>(
    deserializer: D,
    least: Duration,
    most: Duration,
) -> Result<Period, D::Error> {
    let period = Period::deserialize(deserializer)?;
    if (least..=most).contains(&period.0) {
        return Ok(period);
    }
    let (least, most) = (Period(least), Period(most));
    Err(D::Error::custom(format!("{period} is not between {least} and {most}")))
}

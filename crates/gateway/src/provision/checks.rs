//! Validates the values of a provision file as they are parsed. A value that is rejected gets a sentence that
//! describes a valid one.

use crate::config::Period;
use crate::secrets::Secret;
use crate::secrets::webhook_secret;
use hermod_domain::carrier::{LINKS_MAX, RECEIPT_WAIT_MAX_S, SmppVersion, TLV_OCTETS_MAX};
use hermod_domain::catalogue::{SMPP_PASSWORD_CHARS, SYSTEM_ID_CHARS_MAX, WINDOW_MAX as CUSTOMER_WINDOW_MAX};
use hermod_domain::inbound::{OPT_OUT_KEYWORD_CHARS_MAX, OPT_OUT_KEYWORDS_MAX, is_opt_out_keyword};
use hermod_domain::pace::PER_SECOND_MAX;
use hermod_domain::route::WEIGHT_MAX;
use hermod_domain::sender::{Sender, SenderKind};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::ops::RangeInclusive;
use std::time::Duration;

const NAME_CHARS_MAX: usize = 64;
const LABEL_CHARS_MAX: usize = 60;
/// SMPP v3.4 section 5.2.1 to 5.2.3: sizes without the terminating zero.
const SYSTEM_ID_OCTETS_MAX: usize = 15;
const PASSWORD_OCTETS_MAX: usize = 8;
const SYSTEM_TYPE_OCTETS_MAX: usize = 12;
/// More is certainly a mistake: one bind carries ten thousand messages a second.
const BINDS_MAX: i64 = 10_000;
/// SMPP v3.4 section 5.2.11.
const SERVICE_TYPE_OCTETS_MAX: usize = 5;
/// RFC 1035 section 2.3.4.
const HOST_CHARS_MAX: usize = 253;
const PATH_CHARS_MAX: usize = 4_096;
const SHA256_DIGITS: usize = 64;
const WINDOW_MAX: u16 = 10_000;
/// 26 random characters of an alphabet of 32 have 130 bits. A generated secret has 32 characters.
const SECRET_CHARS_MIN: usize = 26;
const SECRET_CHARS_MAX: usize = 128;
const LINK_WAIT_MIN: Duration = Duration::from_millis(100);
const LINK_WAIT_MAX: Duration = Duration::from_secs(600);
const RETRY_WAIT_MAX: Duration = Duration::from_secs(24 * 3600);
const RECEIPT_WAIT_MAX: Duration = Duration::from_secs(RECEIPT_WAIT_MAX_S as u64);
const KEYWORD_CHARS_MAX: usize = 20;
const PATTERN_CHARS_MAX: usize = 1_000;
const SENDER_REASON_CHARS_MAX: usize = 200;
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

/// A label is for people: any printable characters.
pub(super) fn label<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let text = text.trim();
    if text.chars().count() > LABEL_CHARS_MAX || text.chars().any(char::is_control) {
        let rule = format!("a label has at most {LABEL_CHARS_MAX} characters and no control characters");
        return Err(D::Error::custom(rule));
    }
    Ok(text.to_owned())
}

/// Names occur in log lines, metrics and other names; keys in headers, before a colon.
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

pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let port =
        text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
    match port {
        Some(Ok(1..)) => Ok(Some(text)),
        Some(_) | None => Err(D::Error::custom(format!(
            "an address is host:port, such as smsc.example:2775 (not \"{text}\")"
        ))),
    }
}

pub(super) fn system_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    smpp_text(String::deserialize(deserializer)?, "system_id", 1..=SYSTEM_ID_OCTETS_MAX).map(Some)
}

pub(super) fn system_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    smpp_text(String::deserialize(deserializer)?, "system_type", 0..=SYSTEM_TYPE_OCTETS_MAX)
}

pub(super) fn smpp_password<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let text = smpp_text(String::deserialize(deserializer)?, "password", 0..=PASSWORD_OCTETS_MAX)?;
    Ok(Some(Secret::new(text)))
}

/// The error never quotes the text: it may be a password.
fn smpp_text<E: Error>(text: String, what: &str, octets: RangeInclusive<usize>) -> Result<String, E> {
    let printable = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if printable && octets.contains(&text.len()) {
        return Ok(text);
    }
    Err(E::custom(format!("a {what} has {} to {} ASCII characters", octets.start(), octets.end())))
}

pub(super) fn api_secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let fits = (SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(Some(Secret::new(text)));
    }
    Err(D::Error::custom(format!(
        "a secret has {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} random ASCII characters without spaces; leave it out and \
         one is generated"
    )))
}

/// Never repeats the text.
pub(super) fn webhook_secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    let secret = webhook_secret::read(String::deserialize(deserializer)?);
    secret.map(Some).map_err(D::Error::custom)
}

pub(super) fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let window = number_within(deserializer, "a window", i64::from(WINDOW_MAX))?;
    Ok(Some(u16::try_from(window).expect("checked against the largest window")))
}

pub(super) fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let rate = number_within(deserializer, "a rate per second", i64::from(PER_SECOND_MAX))?;
    Ok(u32::try_from(rate).expect("checked against the highest rate"))
}

/// A customer's system_id: not empty and without spaces, for tables and metrics.
pub(super) fn customer_system_id<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if (1..=SYSTEM_ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(Some(text));
    }
    Err(D::Error::custom(format!(
        "a system_id has 1 to {SYSTEM_ID_CHARS_MAX} ASCII characters without spaces"
    )))
}

/// Never repeats the text.
pub(super) fn customer_password<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Secret>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.len() == SMPP_PASSWORD_CHARS && text.bytes().all(|b| b.is_ascii_graphic() || b == b' ') {
        return Ok(Some(Secret::new(text)));
    }
    Err(D::Error::custom(format!(
        "an SMPP password has exactly {SMPP_PASSWORD_CHARS} printable ASCII characters; leave it out, and a random one \
         is made"
    )))
}

pub(super) fn customer_window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let window = number_within(deserializer, "a customer's window", i64::from(CUSTOMER_WINDOW_MAX))?;
    Ok(Some(u16::try_from(window).expect("checked against the largest")))
}

pub(super) fn max_binds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let binds = number_within(deserializer, "a number of binds", BINDS_MAX)?;
    Ok(Some(u32::try_from(binds).expect("checked against the largest")))
}

/// An empty text means that any system_type is accepted.
pub(super) fn wanted_system_type<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let text = smpp_text(String::deserialize(deserializer)?, "system_type", 0..=SYSTEM_TYPE_OCTETS_MAX)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
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

/// Messages per day.
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
        return Err(D::Error::custom(format!(
            "\"{number}\" is alphanumeric and cannot receive messages; use a number"
        )));
    }
    Ok(number)
}

/// Converts to upper case, because keywords are not case-sensitive.
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

pub(super) fn stop_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    if words.len() > OPT_OUT_KEYWORDS_MAX {
        return Err(D::Error::custom(format!(
            "at most {OPT_OUT_KEYWORDS_MAX} opt-out keywords, not {}",
            words.len()
        )));
    }
    match words.iter().find(|word| !is_opt_out_keyword(word)) {
        None => Ok(words),
        Some(word) => Err(D::Error::custom(format!(
            "an opt-out keyword has 1 to {OPT_OUT_KEYWORD_CHARS_MAX} characters, a letter or digit among them, and is not START or \
             UNSTOP (not \"{word}\")"
        ))),
    }
}

pub(super) fn sender_reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.chars().count() <= SENDER_REASON_CHARS_MAX && !text.chars().any(char::is_control) {
        return Ok(Some(text).filter(|text| !text.is_empty()));
    }
    Err(D::Error::custom(format!("a reason has at most {SENDER_REASON_CHARS_MAX} characters in one line")))
}

/// The pattern is compiled when the catalogue is built.
pub(super) fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if (1..=PATTERN_CHARS_MAX).contains(&text.len()) {
        return Ok(Some(text));
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

pub(super) fn some_link_wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Period>, D::Error> {
    link_wait(deserializer).map(Some)
}

pub(super) fn retry_wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Period>, D::Error> {
    period_within(deserializer, LINK_WAIT_MIN, RETRY_WAIT_MAX).map(Some)
}

pub(super) fn receipt_wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Period>, D::Error> {
    let period = period_within(deserializer, Duration::ZERO, RECEIPT_WAIT_MAX)?;
    if period.0.subsec_millis() == 0 {
        return Ok(Some(period));
    }
    Err(D::Error::custom(format!("{period} is not in whole seconds")))
}

pub(super) fn some_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    rate(deserializer).map(Some)
}

pub(super) fn links<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let links = number_within(deserializer, "a number of links", i64::from(LINKS_MAX))?;
    Ok(Some(u8::try_from(links).expect("checked against the largest")))
}

pub(super) fn priority<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let priority = number_within(deserializer, "a priority", i64::from(u8::MAX))?;
    Ok(Some(u8::try_from(priority).expect("checked against the largest")))
}

pub(super) fn weight<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let weight = number_within(deserializer, "a weight", i64::from(WEIGHT_MAX))?;
    Ok(Some(u16::try_from(weight).expect("checked against the largest")))
}

pub(super) fn registered_delivery<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u8>, D::Error> {
    let octet = number_within(deserializer, "registered_delivery", i64::from(u8::MAX))?;
    Ok(Some(u8::try_from(octet).expect("checked against the largest")))
}

/// Must be quoted: 3.4 would be a float.
pub(super) fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SmppVersion>, D::Error> {
    let rule = "a version of SMPP is \"3.4\" or \"3.3\", in quotes";
    SmppVersion::deserialize(deserializer).map(Some).map_err(|_| D::Error::custom(rule))
}

pub(super) fn service_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    smpp_text(String::deserialize(deserializer)?, "service_type", 0..=SERVICE_TYPE_OCTETS_MAX)
}

pub(super) fn host_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':'));
    if plain && (1..=HOST_CHARS_MAX).contains(&text.len()) {
        return Ok(Some(text));
    }
    Err(D::Error::custom(format!("a name in a certificate looks like smsc.example (not \"{text}\")")))
}

/// The file may be created later, so its existence is not checked.
pub(super) fn file_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if (1..=PATH_CHARS_MAX).contains(&text.len()) && !text.chars().any(char::is_control) {
        return Ok(Some(text));
    }
    Err(D::Error::custom(format!("a file has a path of 1 to {PATH_CHARS_MAX} characters")))
}

/// With or without the colons that openssl writes.
pub(super) fn fingerprint<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?.replace(':', "").to_ascii_lowercase();
    if text.len() == SHA256_DIGITS && text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(Some(text));
    }
    Err(D::Error::custom(
        "a fingerprint is the SHA-256 of a certificate, 64 hexadecimal digits: \
         openssl x509 -in cert.pem -noout -fingerprint -sha256",
    ))
}

pub(super) fn tlv_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_tlv_text(&text) {
        return Ok(Some(text));
    }
    let rule = format!(
        "a parameter's text has 1 to {TLV_OCTETS_MAX} printable ASCII characters; use hex for others"
    );
    Err(D::Error::custom(rule))
}

pub(super) fn is_tlv_text(text: &str) -> bool {
    (1..=TLV_OCTETS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
}

pub(super) fn hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if octets(&text).is_some_and(|octets| octets.len() <= TLV_OCTETS_MAX) {
        return Ok(Some(text));
    }
    let rule =
        format!("a parameter's hex has two hexadecimal digits an octet, and at most {TLV_OCTETS_MAX} octets");
    Err(D::Error::custom(rule))
}

pub(super) fn octets(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

//! Validates the values of entries as they are parsed, by one table of checks. A value that is rejected gets a sentence that
//! describes a valid one.

use crate::entry::names::canonical_email;
use hermod_domain::carrier::{LINKS_MAX, RECEIPT_WAIT_MAX_S, SmppVersion, TLV_OCTETS_MAX};
use hermod_domain::catalogue::{SMPP_PASSWORD_CHARS, SYSTEM_ID_CHARS_MAX, WINDOW_MAX as CUSTOMER_WINDOW_MAX};
use hermod_domain::inbound::{OPT_OUT_KEYWORD_CHARS_MAX, OPT_OUT_KEYWORDS_MAX, is_opt_out_keyword};
use hermod_domain::pace::PER_SECOND_MAX;
use hermod_domain::rate_profile::UtcOffset;
use hermod_domain::route::WEIGHT_MAX;
use hermod_domain::sender::{Sender, SenderKind};
use hermod_gateway::config::Period;
use hermod_gateway::secrets::{Secret, webhook_secret};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

const NAME_CHARS_MAX: usize = 64;
const LABEL_CHARS_MAX: usize = 60;
/// SMPP v3.4 section 5.2.1 to 5.2.3: sizes without the terminating zero.
const SYSTEM_ID_OCTETS_MAX: usize = 15;
const PASSWORD_OCTETS_MAX: usize = 8;
const SYSTEM_TYPE_OCTETS_MAX: usize = 12;
/// More is certainly a mistake: one bind carries ten thousand messages a second.
const BINDS_MAX: u32 = 10_000;
/// SMPP v3.4 section 5.2.11.
const SERVICE_TYPE_OCTETS_MAX: usize = 5;
/// RFC 1035 section 2.3.4.
const HOST_CHARS_MAX: usize = 253;
const PATH_CHARS_MAX: usize = 4_096;
const SHA256_DIGITS: usize = 64;
const WINDOW_MAX: u16 = 10_000;
/// 26 random characters of an alphabet of 32 have 130 bits. A generated secret has 32 characters.
const SECRET_CHARS: RangeInclusive<usize> = 26..=128;
const LINK_WAIT_MIN: Duration = Duration::from_millis(100);
const LINK_WAIT_MAX: Duration = Duration::from_secs(600);
const FAIL_OVER_WAIT_MAX: Duration = Duration::from_secs(3600);
const RETRY_WAIT_MAX: Duration = Duration::from_secs(24 * 3600);
const RECEIPT_WAIT_MAX: Duration = Duration::from_secs(RECEIPT_WAIT_MAX_S as u64);
const KEYWORD_CHARS_MAX: usize = 20;
const PATTERN_CHARS_MAX: usize = 1_000;
const SENDER_REASON_CHARS_MAX: usize = 200;
const SENDER_NOTE_CHARS_MAX: usize = 500;
const BLOCK_REASON_CHARS_MAX: usize = 200;
const SUSPENSION_CHARS_MAX: usize = 200;
const SHEET_TEXT_CHARS_MAX: usize = 100;
const NOTICE_DAYS_MAX: u16 = 365;
const PERSON_CHARS_MAX: usize = 100;
const MESSAGES_PER_DAY_MAX: u64 = 1_000_000_000;
const VELOCITY_MOST_MAX: u32 = 1_000_000;
const VELOCITY_PERIOD_MIN: Duration = Duration::from_secs(1);
const VELOCITY_PERIOD_MAX: Duration = Duration::from_secs(31 * 24 * 3600);

/// Makes deserializers: each reads a value of the first type and checks it. A field has the second type, or an `Option` of it.
macro_rules! checks {
    ($($(#[$doc:meta])* $name:ident($given:ty) -> $checked:ty = $check:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'de, D: Deserializer<'de>, T: From<$checked>>(deserializer: D) -> Result<T, D::Error> {
            let check: fn($given) -> Result<$checked, String> = $check;
            check(<$given>::deserialize(deserializer)?).map(T::from).map_err(D::Error::custom)
        }
    )*};
}

checks! {
    name(String) -> String = |text| plain_word(text, "name");
    key(String) -> String = |text| plain_word(text, "key");
    /// A label is for people: any printable characters.
    label(String) -> String = |text| {
        let text = text.trim().to_owned();
        let rule = || format!("a label has at most {LABEL_CHARS_MAX} characters and no control characters");
        fits(text, |text| is_line(text, LABEL_CHARS_MAX), rule)
    };
    person(String) -> String = |text| {
        let rule = || format!("a name has at most {PERSON_CHARS_MAX} characters and no control characters");
        fits(text, |text| is_line(text, PERSON_CHARS_MAX), rule)
    };
    email(String) -> String = |text| {
        canonical_email(&text)
            .ok_or_else(|| format!("\"{text}\" is not an e-mail address such as ann@example.com"))
    };
    address(String) -> String = |text| {
        let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        match port.map(|(_, port)| port.parse::<u16>()) {
            Some(Ok(1..)) => Ok(text),
            Some(_) | None => {
                Err(format!("an address is host:port, such as smsc.example:2775 (not \"{text}\")"))
            }
        }
    };
    system_id(String) -> String = |text| smpp_text(text, "system_id", 1..=SYSTEM_ID_OCTETS_MAX);
    system_type(String) -> String = |text| smpp_text(text, "system_type", 0..=SYSTEM_TYPE_OCTETS_MAX);
    service_type(String) -> String = |text| smpp_text(text, "service_type", 0..=SERVICE_TYPE_OCTETS_MAX);
    smpp_password(String) -> Secret =
        |text| smpp_text(text, "password", 0..=PASSWORD_OCTETS_MAX).map(Secret::new);
    /// An empty text means that any system_type is accepted.
    wanted_system_type(String) -> Option<String> = |text| {
        let text = smpp_text(text, "system_type", 0..=SYSTEM_TYPE_OCTETS_MAX)?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    };
    api_secret(String) -> Secret = |text| {
        let rule = || {
            let (least, most) = (SECRET_CHARS.start(), SECRET_CHARS.end());
            format!(
                "a secret has {least} to {most} random ASCII characters without spaces; leave it out and one is generated"
            )
        };
        fits(text, |text| SECRET_CHARS.contains(&text.len()) && is_graphic(text), rule).map(Secret::new)
    };
    /// Never repeats the text.
    webhook_secret(String) -> Secret = |text| webhook_secret::read(text).map_err(|error| error.to_string());
    /// A customer's system_id: not empty and without spaces, for tables and metrics.
    customer_system_id(String) -> String = |text| {
        let rule = || format!("a system_id has 1 to {SYSTEM_ID_CHARS_MAX} ASCII characters without spaces");
        fits(text, |text| (1..=SYSTEM_ID_CHARS_MAX).contains(&text.len()) && is_graphic(text), rule)
    };
    /// Never repeats the text.
    customer_password(String) -> Secret = |text| {
        let rule = || {
            format!(
                "an SMPP password has exactly {SMPP_PASSWORD_CHARS} printable ASCII characters; leave it out, and a random \
                 one is made"
            )
        };
        fits(text, |text| text.len() == SMPP_PASSWORD_CHARS && is_printable(text), rule).map(Secret::new)
    };
    window(i64) -> u16 = |number| within(number, "a window", WINDOW_MAX);
    rate(i64) -> u32 = |number| within(number, "a rate per second", PER_SECOND_MAX);
    customer_window(i64) -> u16 = |number| within(number, "a customer's window", CUSTOMER_WINDOW_MAX);
    max_binds(i64) -> u32 = |number| within(number, "a number of binds", BINDS_MAX);
    max_parts(i64) -> u8 = |number| within(number, "a number of parts", u8::MAX);
    /// Messages per day.
    messages(i64) -> u64 = |number| within(number, "a number of messages", MESSAGES_PER_DAY_MAX);
    most(i64) -> u32 = |number| within(number, "a number of messages", VELOCITY_MOST_MAX);
    links(i64) -> u8 = |number| within(number, "a number of links", LINKS_MAX);
    priority(i64) -> u8 = |number| within(number, "a priority", u8::MAX);
    weight(i64) -> u16 = |number| within(number, "a weight", WEIGHT_MAX);
    registered_delivery(i64) -> u8 = |number| within(number, "registered_delivery", u8::MAX);
    velocity_period(Period) -> Period = |period| period_within(period, VELOCITY_PERIOD_MIN, VELOCITY_PERIOD_MAX);
    link_wait(Period) -> Period = |period| period_within(period, LINK_WAIT_MIN, LINK_WAIT_MAX);
    fail_over_wait(Period) -> Period = |period| period_within(period, Duration::ZERO, FAIL_OVER_WAIT_MAX);
    retry_wait(Period) -> Period = |period| period_within(period, LINK_WAIT_MIN, RETRY_WAIT_MAX);
    receipt_wait(Period) -> Period = |period| {
        let period = period_within(period, Duration::ZERO, RECEIPT_WAIT_MAX)?;
        fits(period, |period| period.0.subsec_millis() == 0, || format!("{period} is not in whole seconds"))
    };
    number(Sender) -> Sender = |number| {
        let rule = || format!("\"{number}\" is alphanumeric and cannot receive messages; use a number");
        fits(number, |number| number.kind() != SenderKind::Alphanumeric, rule)
    };
    /// Converts to upper case, because keywords are not case-sensitive.
    keyword(String) -> String = |text| {
        let is_keyword = text.bytes().all(|b| b.is_ascii_alphanumeric()) && (1..=KEYWORD_CHARS_MAX).contains(&text.len());
        let rule = || format!("a keyword has 1 to {KEYWORD_CHARS_MAX} letters and digits (not \"{text}\")");
        fits(text.to_ascii_uppercase(), |_| is_keyword, rule)
    };
    stop_words(Vec<String>) -> Vec<String> = |words| {
        if words.len() > OPT_OUT_KEYWORDS_MAX {
            return Err(format!("at most {OPT_OUT_KEYWORDS_MAX} opt-out keywords, not {}", words.len()));
        }
        match words.iter().find(|word| !is_opt_out_keyword(word)) {
            None => Ok(words),
            Some(word) => Err(format!(
                "an opt-out keyword has 1 to {OPT_OUT_KEYWORD_CHARS_MAX} characters, a letter or digit among them, and is \
                 not START or UNSTOP (not \"{word}\")"
            )),
        }
    };
    sender_reason(String) -> Option<String> = |text| some_line(text, "reason", SENDER_REASON_CHARS_MAX);
    sender_note(String) -> Option<String> = |text| some_line(text, "note", SENDER_NOTE_CHARS_MAX);
    block_reason(String) -> Option<String> = |text| some_line(text, "reason", BLOCK_REASON_CHARS_MAX);
    /// The header or the position of a column, or the name of a sheet.
    sheet_text(String) -> Option<String> = |text| some_line(text, "column or sheet", SHEET_TEXT_CHARS_MAX);
    utc_offset(String) -> UtcOffset = |text| UtcOffset::parse(&text).map_err(|refusal| refusal.to_string());
    notice_days(i64) -> u16 = |number| within(number, "a notice in days", NOTICE_DAYS_MAX);
    /// Why an account is suspended. A blank text would suspend it without a reason.
    suspension(String) -> String = |text| {
        let rule = || format!("the reason of a suspension has 1 to {SUSPENSION_CHARS_MAX} characters in one line");
        let is_reason = |text: &String| !text.is_empty() && is_line(text, SUSPENSION_CHARS_MAX);
        fits(text.trim().to_owned(), is_reason, rule)
    };
    /// The pattern is compiled when the catalogue is built.
    pattern(String) -> String = |text| {
        let octets = text.len();
        let rule = || format!("a pattern has 1 to {PATTERN_CHARS_MAX} characters, not {octets}");
        fits(text, |text| (1..=PATTERN_CHARS_MAX).contains(&text.len()), rule)
    };
    host_name(String) -> String = |text| {
        let is_name = (1..=HOST_CHARS_MAX).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':'));
        if is_name { Ok(text) } else { Err(format!("a name in a certificate looks like smsc.example (not \"{text}\")")) }
    };
    /// The file may be created later, so its existence is not checked.
    file_path(String) -> String = |text| {
        let is_path = |text: &String| (1..=PATH_CHARS_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
        fits(text, is_path, || format!("a file has a path of 1 to {PATH_CHARS_MAX} characters"))
    };
    /// With or without the colons that openssl writes.
    fingerprint(String) -> String = |text| {
        let rule = || {
            "a fingerprint is the SHA-256 of a certificate, 64 hexadecimal digits: openssl x509 -in cert.pem -noout \
             -fingerprint -sha256"
        };
        let is_digest = |text: &String| text.len() == SHA256_DIGITS && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        fits(text.replace(':', "").to_ascii_lowercase(), is_digest, rule)
    };
    tlv_text(String) -> String = |text| {
        let rule = || format!("a parameter's text has 1 to {TLV_OCTETS_MAX} printable ASCII characters; use hex for others");
        fits(text, |text| is_tlv_text(text), rule)
    };
    hex(String) -> String = |text| {
        let rule = || {
            format!("a parameter's hex has two hexadecimal digits an octet, and at most {TLV_OCTETS_MAX} octets")
        };
        fits(text, |text| octets(text).is_some_and(|octets| octets.len() <= TLV_OCTETS_MAX), rule)
    };
}

/// Must be quoted: 3.4 would be a float.
pub(crate) fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SmppVersion>, D::Error> {
    let rule = "a version of SMPP is \"3.4\" or \"3.3\", in quotes";
    SmppVersion::deserialize(deserializer).map(Some).map_err(|_| D::Error::custom(rule))
}

/// Returns the value if it fits, else the rule.
fn fits<T, R: Display>(value: T, fits: impl Fn(&T) -> bool, rule: impl Fn() -> R) -> Result<T, String> {
    if fits(&value) { Ok(value) } else { Err(rule().to_string()) }
}

fn within<N: TryFrom<i64> + PartialOrd + Display>(number: i64, what: &str, most: N) -> Result<N, String> {
    let value = N::try_from(number).ok().filter(|value| number >= 1 && *value <= most);
    value.ok_or_else(|| format!("{what} is between 1 and {most}, not {number}"))
}

fn period_within(period: Period, least: Duration, most: Duration) -> Result<Period, String> {
    let rule = || format!("{period} is not between {} and {}", Period(least), Period(most));
    fits(period, |period| (least..=most).contains(&period.0), rule)
}

/// Names occur in log lines, metrics and other names; keys in headers, before a colon.
fn plain_word(text: String, what: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    if is_plain && (1..=NAME_CHARS_MAX).contains(&text.len()) {
        return Ok(text);
    }
    Err(format!("a {what} has 1 to {NAME_CHARS_MAX} letters, digits and - _ . (not \"{text}\")"))
}

/// The error never quotes the text: it may be a password.
fn smpp_text(text: String, what: &str, octets: RangeInclusive<usize>) -> Result<String, String> {
    let rule = || format!("a {what} has {} to {} ASCII characters", octets.start(), octets.end());
    fits(text, |text| is_printable(text) && octets.contains(&text.len()), rule)
}

fn is_graphic(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_graphic())
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
}

/// Returns nothing for an empty text.
fn some_line(text: String, what: &str, chars_max: usize) -> Result<Option<String>, String> {
    let rule = || format!("a {what} has at most {chars_max} characters in one line");
    let text = fits(text, |text| is_line(text, chars_max), rule)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn is_line(text: &str, chars_max: usize) -> bool {
    text.chars().count() <= chars_max && !text.chars().any(char::is_control)
}

pub(crate) fn is_tlv_text(text: &str) -> bool {
    (1..=TLV_OCTETS_MAX).contains(&text.len()) && is_printable(text)
}

pub(crate) fn octets(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

//! Parses the texts of requests: numbers, senders, days, times, notes.

use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};
use hermod_gateway::config::Period;
use std::fmt::Display;

/// Waiting messages that a request looks at, unless it says less, and at most.
pub(crate) const LOOKED_AT_MAX: u32 = 5_000;
const REASON_CHARS_MAX: usize = 200;

/// Returns the refusal of a field whose value breaks a rule.
pub(crate) fn invalid(field: &'static str, rule: impl Display) -> OperatorRefusal {
    OperatorRefusal::InvalidField { field, rule: rule.to_string() }
}

/// Parses a phone number. Query strings may have its plus as a space.
pub(crate) fn number(text: &str) -> Result<Msisdn> {
    Msisdn::parse(&plus(text)).map_err(|refusal| invalid("number", format!("\"{text}\": {refusal}")))
}

/// Parses a number of a query; a missing plus is added. A plus that the caller did not escape arrives as a blank.
pub(crate) fn number_in(field: &'static str, text: &str) -> Result<Msisdn> {
    let with_plus = if text.starts_with(['+', ' ']) { text.to_owned() } else { format!("+{text}") };
    number(&with_plus).map_err(|refusal| match refusal {
        OperatorRefusal::InvalidField { rule, .. } => OperatorRefusal::InvalidField { field, rule },
        other => other,
    })
}

/// Parses a sender. Query strings may have a leading plus as a space.
pub(crate) fn sender(text: &str) -> Result<Sender> {
    Sender::parse(&plus(text)).map_err(|refusal| invalid("from", format!("\"{text}\": {refusal}")))
}

fn plus(text: &str) -> String {
    match text.strip_prefix(' ') {
        Some(digits) => format!("+{digits}"),
        None => text.to_owned(),
    }
}

pub(crate) fn day(field: &'static str, text: &str) -> Result<Day> {
    Day::parse(text).ok_or_else(|| invalid(field, format!("\"{text}\" is not a day such as 2026-01-31")))
}

/// Parses a time, a UTC day, or how long ago it was.
pub(crate) fn time(field: &'static str, text: &str, now: Timestamp) -> Result<Timestamp> {
    if let Some(Period(ago)) = Period::parse(text) {
        return Ok(now.minus(ago));
    }
    // A query string may have the plus of an offset as a space.
    let parsed = Timestamp::parse(text).or_else(|| Timestamp::parse(&text.replace(' ', "+")));
    parsed.ok_or_else(|| {
        let forms = "a time such as 2026-11-15T09:30:00Z, a UTC day such as 2026-11-15, or how long ago such as 30m, 2h or 7d";
        invalid(field, format!("\"{text}\" is not {forms}"))
    })
}

/// Checks the length of a text for people, and that it has no control characters.
pub(crate) fn words(field: &'static str, text: String, least: usize, most: usize) -> Result<String> {
    let fits = (least..=most).contains(&text.chars().count());
    if fits && !text.chars().any(char::is_control) {
        return Ok(text);
    }
    Err(invalid(field, format!("must have {least} to {most} characters, none of them a control character")))
}

/// Checks the reason and the limit of a request about waiting messages. Without a limit it looks at [`LOOKED_AT_MAX`].
pub(crate) fn reason_and_limit(reason: Option<String>, limit: Option<u32>) -> Result<(Option<String>, u32)> {
    let limit = limit.unwrap_or(LOOKED_AT_MAX);
    if !(1..=LOOKED_AT_MAX).contains(&limit) {
        return Err(invalid("limit", format!("must be 1 to {LOOKED_AT_MAX}")));
    }
    let reason = reason.map(|reason| words("reason", reason, 1, REASON_CHARS_MAX)).transpose()?;
    Ok((reason, limit))
}

/// Finds the value that is written as `text`.
pub(crate) fn one_of<T: Copy>(
    field: &'static str,
    text: &str,
    known: impl IntoIterator<Item = T>,
    written: impl Fn(T) -> &'static str,
) -> Result<T> {
    let known: Vec<T> = known.into_iter().collect();
    known.iter().copied().find(|value| written(*value) == text).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|value| written(*value)).collect();
        let (last, rest) = names.split_last().expect("a choice has values");
        invalid(field, format!("\"{text}\" is none of {} and {last}", rest.join(", ")))
    })
}

//! Parses the filters of searches: numbers and their beginnings, times, ids and names.

use crate::input::{invalid, number, one_of, sender, time};
use crate::message::names::{carrier_named, connection_named, scope_of};
use crate::message::views::MessagesQuery;
use crate::refusal::OperatorRefusal;
use hermod_domain::ids::{MessageId, RemoteId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::phone::Msisdn;
use hermod_domain::submission::IdempotencyKey;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::event_number;
use hermod_gateway::app::key_digest;
use hermod_gateway::gateway::Gateway;
use hermod_store::EventId;
use hermod_store::record::{MessageFilter, RecipientFilter, Scope};
use std::time::Duration;

/// Digits of the longest phone number (E.164).
const DIGITS_MAX: usize = 15;
/// The longest `X-Request-Id` that can be looked for.
const REQUEST_CHARS_MAX: usize = 200;

/// Parses what to look for, and in whose messages.
pub(crate) fn filter_of(
    gateway: &Gateway,
    query: &MessagesQuery,
) -> Result<(Scope, MessageFilter), OperatorRefusal> {
    let scope = scope_of(gateway, query.account.as_deref())?;
    let now = gateway.clock.now();
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let (from, until) = range_of(query.since.as_deref(), query.until.as_deref(), now)?;
    let filter = MessageFilter {
        id: None,
        recipient: query.to.as_deref().map(recipient).transpose()?,
        sender: query.from.as_deref().map(sender).transpose()?,
        state: query.state.as_deref().map(state).transpose()?,
        country: query.country.as_deref().map(country).transpose()?,
        network: query.network.as_deref().map(network).transpose()?,
        carrier: query.carrier.as_deref().map(|name| carrier_named(gateway, name)).transpose()?,
        connection: query.connection.as_deref().map(|name| connection_named(gateway, name)).transpose()?,
        carrier_id: query.carrier_id.as_deref().map(carrier_id).transpose()?,
        request: text(&query.request).map(request).transpose()?,
        key: query.key.as_deref().map(|key| key_of(scope, key)).transpose()?,
        event: query.event.as_deref().map(|name| event(gateway, name)).transpose()?,
        from,
        until,
    };
    Ok((scope, filter))
}

/// Parses the cursor of a list of messages.
pub(crate) fn cursor(text: Option<&str>) -> Result<Option<MessageId>, OperatorRefusal> {
    let wrong = |text| invalid("cursor", format!("\"{text}\" is not the next of an earlier page"));
    text.map(|text| MessageId::parse(text).ok_or_else(|| wrong(text))).transpose()
}

type Range = (Option<Timestamp>, Option<Timestamp>);

/// Parses a range of time, which must not be empty.
pub(crate) fn range_of(
    since: Option<&str>,
    until: Option<&str>,
    now: Timestamp,
) -> Result<Range, OperatorRefusal> {
    let from = since.map(|text| time("since", text, now)).transpose()?;
    let until = until.map(|text| time("until", text, now)).transpose()?;
    match (from, until) {
        (Some(from), Some(until)) if from >= until => {
            Err(invalid("until", format!("{until} is not after since, which is {from}")))
        }
        range => Ok(range),
    }
}

/// Returns the end of a range that ends now: just after now, so that what happened now is in it.
pub(crate) fn end_or_now(until: Option<Timestamp>, now: Timestamp) -> Timestamp {
    until.unwrap_or_else(|| now.plus(Duration::from_millis(1)))
}

/// Parses a number, or the beginning of numbers before `*`.
fn recipient(text: &str) -> Result<RecipientFilter, OperatorRefusal> {
    let Some(prefix) = text.strip_suffix('*') else {
        return number_in("to", text).map(RecipientFilter::Exact);
    };
    let digits = prefix.strip_prefix(['+', ' ']).unwrap_or(prefix);
    if !digits.is_empty() && digits.len() <= DIGITS_MAX && digits.bytes().all(|octet| octet.is_ascii_digit())
    {
        return Ok(RecipientFilter::Prefix(digits.to_owned()));
    }
    let rule = format!(
        "\"{text}\" is not the beginning of numbers such as +49151*: 1 to {DIGITS_MAX} digits and a star"
    );
    Err(invalid("to", rule))
}

/// Parses a number; a missing plus is added.
fn number_in(field: &'static str, text: &str) -> Result<Msisdn, OperatorRefusal> {
    let with_plus = if text.starts_with(['+', ' ']) { text.to_owned() } else { format!("+{text}") };
    number(&with_plus).map_err(|refusal| match refusal {
        OperatorRefusal::InvalidField { rule, .. } => {
            invalid(field, format!("{rule}; end the beginning of a number with *, as in +49151*"))
        }
        other => other,
    })
}

fn state(text: &str) -> Result<MessageState, OperatorRefusal> {
    one_of("state", text, MessageState::ALL, MessageState::as_str)
}

fn country(text: &str) -> Result<Country, OperatorRefusal> {
    Country::parse(text).map_err(|_| {
        invalid("country", format!("\"{text}\" is not a country code of two letters such as DE"))
    })
}

fn network(text: &str) -> Result<Network, OperatorRefusal> {
    Network::parse(text).map_err(|refusal| {
        invalid("network", format!("\"{text}\" is not an MCC and an MNC such as 262-01: {refusal}"))
    })
}

fn carrier_id(text: &str) -> Result<RemoteId, OperatorRefusal> {
    RemoteId::from_text(text).map_err(|refusal| invalid("carrier_id", format!("\"{text}\": {refusal}")))
}

fn request(text: String) -> Result<String, OperatorRefusal> {
    if text.chars().count() <= REQUEST_CHARS_MAX {
        return Ok(text);
    }
    Err(invalid("request", format!("has more than {REQUEST_CHARS_MAX} characters")))
}

/// Returns the digest of an idempotency key, which belongs to an account.
fn key_of(scope: Scope, text: &str) -> Result<[u8; 16], OperatorRefusal> {
    let Scope::Account(account) = scope else {
        return Err(invalid("key", "give the account too: each account has its own keys"));
    };
    let key = IdempotencyKey::parse(text).map_err(|refusal| invalid("key", refusal))?;
    Ok(key_digest(account, &key))
}

fn event(gateway: &Gateway, text: &str) -> Result<EventId, OperatorRefusal> {
    let number = event_number(&gateway.numbers, text).filter(|number| i64::try_from(*number).is_ok());
    number.map(EventId).ok_or_else(|| {
        invalid("event", format!("\"{text}\" is not the webhook-id of an event, such as evt_4711"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipient_is_a_number_or_the_beginning_of_numbers() {
        let exact = |text: &str| recipient(text).unwrap();
        assert_eq!(exact("+4915112345678"), exact("4915112345678"));
        assert_eq!(exact(" 4915112345678"), exact("4915112345678"));
        assert_eq!(exact("+49151*"), RecipientFilter::Prefix("49151".to_owned()));
        assert_eq!(exact("49*"), RecipientFilter::Prefix("49".to_owned()));
        for wrong in ["*", "+*", "49 1*", "49a*", "1234567890123456*", "", "0151", "x"] {
            assert!(recipient(wrong).is_err(), "{wrong}");
        }
        let error = recipient("+49").unwrap_err().to_string();
        assert!(error.starts_with("to: ") && error.contains("+49151*"), "{error}");
    }

    #[test]
    fn time_is_a_moment_a_day_or_how_long_ago() {
        let now = Timestamp::parse("2026-11-16T12:00:00Z").unwrap();
        for (text, expect) in [
            ("2h", "2026-11-16T10:00:00Z"),
            ("7d", "2026-11-09T12:00:00Z"),
            ("2026-11-15", "2026-11-15T00:00:00Z"),
            ("2026-11-15T09:30:00+02:00", "2026-11-15T07:30:00Z"),
            ("2026-11-15T09:30:00 02:00", "2026-11-15T07:30:00Z"),
        ] {
            assert_eq!(time("since", text, now).unwrap().to_iso(), expect, "{text}");
        }
        let error = time("since", "yesterday", now).unwrap_err().to_string();
        assert!(error.contains("how long ago such as 30m"), "{error}");
        assert!(range_of(Some("1h"), Some("2h"), now).is_err());
    }
}

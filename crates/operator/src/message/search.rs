//! Searches for messages: by their properties, and by a text within one account.

use crate::find::{find_account, find_carrier, find_connection};
use crate::input::{invalid, number_in, one_of, sender, words};
use crate::message::views::{
    CountView, MessageView, MessagesQuery, MessagesView, TextSearchQuery, TextSearchView,
};
use crate::record::{Names, end_or_now, range_of, scope_of};
use crate::refusal::{OperatorRefusal, Result};
use crate::request::count_rejected;
use crate::views::paging::Limit;
use hermod_domain::ids::{MessageId, RemoteId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::submission::IdempotencyKey;
use hermod_domain::webhook::event_number;
use hermod_gateway::app::key_digest;
use hermod_gateway::gateway::Gateway;
use hermod_store::EventId;
use hermod_store::record::{
    Count, MessageFilter, RecipientFilter, RecordedMessage, Scope, SearchLimits, TextQuery,
};
use std::time::Duration;

/// How far back a text is looked for if the query does not say.
const TEXT_BACK: Duration = Duration::from_secs(2 * 86_400);
const TEXT_CHARS_MAX: usize = 200;

/// Returns a page of messages, newest first.
pub async fn search_messages(gateway: &Gateway, query: MessagesQuery) -> Result<MessagesView> {
    let (scope, filter) = filter_of(gateway, &query)?;
    let limits = SearchLimits { before: cursor(query.cursor.as_deref())?, rows: Limit::of(query.limit) };
    let rejected_requests = match &filter.recipient {
        Some(RecipientFilter::Exact(to)) => {
            Some(count_rejected(gateway, scope, *to, (filter.from, filter.until)).await?)
        }
        Some(RecipientFilter::Prefix(_) | RecipientFilter::Suffix(_)) | None => None,
    };
    let page = gateway.store.record().search_messages(scope, filter, limits).await?;
    let names = Names::of(gateway);
    Ok(MessagesView {
        items: page.rows.iter().map(|message| message_view(&names, message)).collect(),
        next: page.next.map(|next| next.to_string()),
        searched_to: page.searched_to.map(|at| at.to_iso()),
        rejected_requests,
        record: page.status.into(),
    })
}

/// Counts messages.
pub async fn count_messages(gateway: &Gateway, query: MessagesQuery) -> Result<CountView> {
    let (scope, filter) = filter_of(gateway, &query)?;
    let (count, exact) = match gateway.store.record().count_messages(scope, filter).await? {
        Count::Exactly(count) => (count, true),
        Count::AtLeast(count) => (count, false),
    };
    Ok(CountView { count, exact, record: gateway.store.record().status().into() })
}

/// Looks for a text in the messages of one account, one slice at a time.
pub async fn search_text(gateway: &Gateway, query: TextSearchQuery) -> Result<TextSearchView> {
    let TextSearchQuery { account, text, since, until, cursor: after, limit } = query;
    let account =
        account.ok_or_else(|| invalid("account", "a text is looked for in one account: give it"))?;
    let account = find_account(gateway, &account)?;
    let text = text.ok_or_else(|| invalid("text", "give the text to look for"))?;
    let text = words("text", text, 1, TEXT_CHARS_MAX)?;
    let now = gateway.clock.now();
    let (from, until) = range_of(since.as_deref(), until.as_deref(), now)?;
    let until = end_or_now(until, now);
    let query = TextQuery { text, from: from.unwrap_or_else(|| until.minus(TEXT_BACK)), until };
    let before = cursor(after.as_deref())?;
    let page = gateway.store.record().search_text(account, query, before, Limit::of(limit)).await?;
    let names = Names::of(gateway);
    Ok(TextSearchView {
        items: page.rows.iter().map(|message| message_view(&names, message)).collect(),
        next: page.next.map(|next| next.to_string()),
        searched_to: page.searched_to.to_iso(),
        looked_at: page.looked_at,
        record: page.status.into(),
    })
}

/// Returns the view of a message of the record.
pub(crate) fn message_view(names: &Names, message: &RecordedMessage) -> MessageView {
    let RecordedMessage { account, connection, carrier, .. } = message;
    let parties = [names.account(*account), names.connection(*connection), names.carrier(*carrier)];
    MessageView::new(message, parties, names.currency(*account))
}

/// Digits of the longest phone number (E.164).
const DIGITS_MAX: usize = 15;
/// The fewest digits that the end of a number may have: with fewer, every page is full of other people's messages.
const LAST_DIGITS_MIN: usize = 4;
/// The longest `X-Request-Id` that can be looked for.
const REQUEST_CHARS_MAX: usize = 200;

/// Parses what to look for, and in whose messages.
pub(crate) fn filter_of(gateway: &Gateway, query: &MessagesQuery) -> Result<(Scope, MessageFilter)> {
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
        carrier: query.carrier.as_deref().map(|name| find_carrier(gateway, name)).transpose()?,
        connection: query.connection.as_deref().map(|name| find_connection(gateway, name)).transpose()?,
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
pub(crate) fn cursor(text: Option<&str>) -> Result<Option<MessageId>> {
    let wrong = |text| invalid("cursor", format!("\"{text}\" is not the next of an earlier page"));
    text.map(|text| MessageId::parse(text).ok_or_else(|| wrong(text))).transpose()
}

/// Parses a number, the beginning of numbers before `*`, or the end of numbers after `*`.
fn recipient(text: &str) -> Result<RecipientFilter> {
    let are_digits = |digits: &str, least: usize| {
        (least..=DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|octet| octet.is_ascii_digit())
    };
    if let Some(prefix) = text.strip_suffix('*') {
        let digits = prefix.strip_prefix(['+', ' ']).unwrap_or(prefix);
        if are_digits(digits, 1) {
            return Ok(RecipientFilter::Prefix(digits.to_owned()));
        }
    } else if let Some(digits) = text.strip_prefix('*') {
        if are_digits(digits, LAST_DIGITS_MIN) {
            return Ok(RecipientFilter::Suffix(digits.to_owned()));
        }
    } else {
        return number_in("to", text).map(RecipientFilter::Exact).map_err(|refusal| match refusal {
            OperatorRefusal::InvalidField { field, rule } => invalid(
                field,
                format!("{rule}; the beginning of a number ends with *, as in +49151*, and its end begins with *, as in *5678"),
            ),
            other => other,
        });
    }
    let rule = format!(
        "\"{text}\" is neither the beginning of numbers such as +49151* (1 to {DIGITS_MAX} digits and a star) nor their end such \
         as *5678 (a star and {LAST_DIGITS_MIN} to {DIGITS_MAX} digits)"
    );
    Err(invalid("to", rule))
}

fn state(text: &str) -> Result<MessageState> {
    one_of("state", text, MessageState::ALL, MessageState::as_str)
}

fn country(text: &str) -> Result<Country> {
    Country::parse(text).map_err(|_| {
        invalid("country", format!("\"{text}\" is not a country code of two letters such as DE"))
    })
}

fn network(text: &str) -> Result<Network> {
    Network::parse(text).map_err(|refusal| {
        invalid("network", format!("\"{text}\" is not an MCC and an MNC such as 262-01: {refusal}"))
    })
}

fn carrier_id(text: &str) -> Result<RemoteId> {
    RemoteId::from_text(text).map_err(|refusal| invalid("carrier_id", format!("\"{text}\": {refusal}")))
}

fn request(text: String) -> Result<String> {
    if text.chars().count() <= REQUEST_CHARS_MAX {
        return Ok(text);
    }
    Err(invalid("request", format!("has more than {REQUEST_CHARS_MAX} characters")))
}

/// Returns the digest of an idempotency key, which belongs to an account.
fn key_of(scope: Scope, text: &str) -> Result<[u8; 16]> {
    let Scope::Account(account) = scope else {
        return Err(invalid("key", "give the account too: each account has its own keys"));
    };
    let key = IdempotencyKey::parse(text).map_err(|refusal| invalid("key", refusal))?;
    Ok(key_digest(account, &key))
}

pub(crate) fn event(gateway: &Gateway, text: &str) -> Result<EventId> {
    let number = event_number(&gateway.numbers, text).filter(|number| i64::try_from(*number).is_ok());
    number.map(EventId).ok_or_else(|| {
        invalid("event", format!("\"{text}\" is not the webhook-id of an event, such as evt_4711"))
    })
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;

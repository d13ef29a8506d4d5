//! `GET /inbound`: the account's MO messages, page by page. A client that passes `next_since` on reads every message once.

use super::query::{QueryParameter, parameter};
use super::responses::json;
use crate::app::{Caller, inbound_since};
use crate::gateway::Gateway;
use axum::http::StatusCode;
use axum::response::Response;
use hermod_domain::refusal::Refusal;
use hermod_store::InboundRecord;
use serde::Serialize;

const LIMIT_DEFAULT: u32 = 100;
const LIMIT_MAX: u32 = 500;

/// The largest id of the store.
const SINCE_MAX: u64 = i64::MAX.unsigned_abs();

#[derive(Debug, PartialEq, Eq)]
pub(super) struct InboundPoll {
    pub(super) since: u64,
    pub(super) limit: u32,
}

#[derive(Serialize)]
struct PageBody<'a> {
    messages: Vec<Message<'a>>,
    next_since: u64,
    count: usize,
}

#[derive(Serialize)]
struct Message<'a> {
    id: u64,
    message_id: String,
    from: &'a str,
    to: &'a str,
    text: &'a str,
    received_at: String,
}

pub(super) async fn poll(gateway: &Gateway, caller: &Caller, query: &str) -> Result<Response, Refusal> {
    let InboundPoll { since, limit } = page_of(query)?;
    let records = inbound_since(gateway, caller, since, limit).await?;
    let body = PageBody {
        messages: records.iter().map(message).collect(),
        next_since: records.last().map_or(since, |last| last.id),
        count: records.len(),
    };
    Ok(json(StatusCode::OK, serde_json::to_string(&body).expect("texts and numbers can be written")))
}

fn message(record: &InboundRecord) -> Message<'_> {
    let InboundRecord { id, message, from, to, text, received_at } = record;
    Message { id: *id, message_id: message.to_string(), from, to, text, received_at: received_at.to_iso() }
}

pub(super) fn page_of(query: &str) -> Result<InboundPoll, Refusal> {
    let refused = |field, rule| Refusal::InvalidField { field, rule };
    let since = match parameter(query, "since") {
        QueryParameter::Absent => 0,
        QueryParameter::Once(given) => whole_number(&given)
            .filter(|since| *since <= SINCE_MAX)
            .ok_or(refused("since", "it must be an integer from 0 on"))?,
        QueryParameter::Repeated => return Err(refused("since", "it must be given once")),
    };
    let limit = match parameter(query, "limit") {
        QueryParameter::Absent => LIMIT_DEFAULT,
        QueryParameter::Once(given) => match whole_number(&given) {
            None | Some(0) => return Err(refused("limit", "it must be an integer from 1 on")),
            Some(limit) => u32::try_from(limit).unwrap_or(LIMIT_MAX).min(LIMIT_MAX),
        },
        QueryParameter::Repeated => return Err(refused("limit", "it must be given once")),
    };
    Ok(InboundPoll { since, limit })
}

/// Parses digits; a number that is too large becomes the maximum.
fn whole_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "inbound_tests.rs"]
mod tests;

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
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expect: &str) {
        let actual = match page_of(query) {
            Ok(InboundPoll { since, limit }) => format!("{since}, {limit}"),
            Err(refusal) => refusal.sentence().into_owned(),
        };
        assert_eq!(actual, expect, "{query}");
    }

    #[test]
    fn since_and_limit_have_defaults_and_bounds() {
        check("", "0, 100");
        check("since=7", "7, 100");
        check("since=007&limit=020", "7, 20");
        check("limit=1", "0, 1");
        check("limit=500", "0, 500");
        check("limit=501", "0, 500");
        check("limit=99999999999999999999999", "0, 500");
        check("since=9223372036854775807", "9223372036854775807, 100");
        check("unknown=1&Limit=0", "0, 100");
    }

    #[test]
    fn invalid_since_or_limit_is_rejected() {
        for odd in ["", "-1", "+1", "1.0", "1e3", "0x10", "one", "%201", "1 ", "null", "\u{661}"] {
            check(&format!("since={odd}"), "`since` is not valid: it must be an integer from 0 on.");
            check(&format!("limit={odd}"), "`limit` is not valid: it must be an integer from 1 on.");
        }
        check("limit=0", "`limit` is not valid: it must be an integer from 1 on.");
        check("since=9223372036854775808", "`since` is not valid: it must be an integer from 0 on.");
        check("since=1&since=1", "`since` is not valid: it must be given once.");
        check("limit=1&limit=2", "`limit` is not valid: it must be given once.");
    }
}

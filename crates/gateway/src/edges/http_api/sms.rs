//! `POST /sms` and `GET /sms/{id}`: submits a message, and returns its status.
//!
//! Bodies are written by hand: ids, numbers, senders and states need no JSON escapes, and amounts must be exact decimal
//! numbers.

use super::body::RequestBody;
use super::headers::{
    IDEMPOTENCY_KEY, IDEMPOTENCY_MISMATCH, Occurrence, X_SMS_ENCODING, X_SMS_PARTS, single,
};
use super::request_metrics::Seen;
use super::responses::json;
use super::send_request::{KEY_TOO_LONG, SendRequest};
use crate::app::{Accepted, Caller, Submitted, find_replay, message_status, submit_message};
use crate::gateway::Gateway;
use crate::http::no_answer::no_answer;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use hermod_domain::ids::MessageId;
use hermod_domain::numbers::Numbers;
use hermod_domain::refusal::Refusal;
use hermod_domain::submission::{IdempotencyKey, KeyRefusal};
use hermod_store::record::Replay;
use hermod_store::{Duplicate, MessageRecord};

const KEY_FIELD: &str = "Idempotency-Key";

pub(super) async fn send(
    gateway: &Gateway,
    caller: &Caller,
    headers: &HeaderMap,
    body: &mut RequestBody,
    id: &HeaderValue,
    seen: &mut Seen,
) -> Result<Response, Refusal> {
    check_content_type(headers)?;
    let bytes = body.read().await?;
    let request = SendRequest::parse(&bytes)?;
    seen.recipient = request.recipient().ok();
    let key = choose_key(headers, &request)?;
    let refusal = match request.submission(key.clone()) {
        Ok(mut submission) => {
            submission.request = id.to_str().ok().map(Into::into);
            return match submit_message(gateway, caller, &submission).await? {
                Submitted::Accepted(accepted) => {
                    seen.message = Some(accepted.message);
                    Ok(accepted_response(&accepted))
                }
                Submitted::Replayed(replay) => Ok(replay_response(&replay, seen)),
                Submitted::Unknown => Ok(no_answer()),
            };
        }
        Err(refusal) => refusal,
    };
    // A retry of an accepted message must not be rejected, not even for invalid fields.
    let Some(key) = key else { return Err(refusal) };
    match find_replay(gateway, caller, &key, 0).await? {
        Some(Duplicate { message, .. }) => {
            Ok(replay_response(&Duplicate { message, is_same_request: false }, seen))
        }
        None => Err(refusal),
    }
}

pub(super) async fn status(gateway: &Gateway, caller: &Caller, id: &str) -> Result<Response, Refusal> {
    let record = message_status(gateway, caller, id).await?;
    Ok(json(StatusCode::OK, status_record(&record)))
}

/// Checks for `application/json` in any case. Parameters are ignored: JSON is always UTF-8.
fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let Occurrence::Once(value) = single(headers, &header::CONTENT_TYPE) else {
        return Err(Refusal::InvalidContentType);
    };
    let value = value.as_bytes();
    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
    if value[..end].trim_ascii().eq_ignore_ascii_case(b"application/json") {
        Ok(())
    } else {
        Err(Refusal::InvalidContentType)
    }
}

/// Returns the idempotency key of the header, else of the body. An empty one counts as absent.
fn choose_key(headers: &HeaderMap, request: &SendRequest<'_>) -> Result<Option<IdempotencyKey>, Refusal> {
    let refused = |rule| Refusal::InvalidField { field: KEY_FIELD, rule };
    let in_header = match single(headers, &IDEMPOTENCY_KEY) {
        Occurrence::Absent => None,
        Occurrence::Once(value) => {
            Some(str::from_utf8(value.as_bytes()).map_err(|_| refused("it must be UTF-8"))?)
        }
        Occurrence::Repeated => return Err(refused("it must be given once")),
    };
    let chosen = match in_header.filter(|key| !key.is_empty()) {
        Some(key) => Some(key),
        None => request.idempotency_key()?,
    };
    match chosen.map(IdempotencyKey::parse) {
        None | Some(Err(KeyRefusal::Empty)) => Ok(None),
        Some(Ok(key)) => Ok(Some(key)),
        Some(Err(KeyRefusal::TooLong)) => Err(refused(KEY_TOO_LONG)),
    }
}

fn accepted_response(accepted: &Accepted) -> Response {
    let Accepted { message, alias: _, to, from, cost, balance, parts, encoding } = accepted;
    let body = format!(
        concat!(
            r#"{{"message_id":"{}","status":"queued","to":"{}","from":"{}","#,
            r#""charged":true,"cost":{},"balance":{}}}"#
        ),
        message, to, from, cost, balance
    );
    let mut response = json(StatusCode::ACCEPTED, body);
    let headers = response.headers_mut();
    headers.insert(X_SMS_PARTS, u16::from(*parts).into());
    headers.insert(X_SMS_ENCODING, HeaderValue::from_static(encoding.as_str()));
    response
}

fn replay_response(replay: &Duplicate, seen: &mut Seen) -> Response {
    let Duplicate { message, is_same_request } = replay;
    seen.message = Some(*message);
    seen.replay = if *is_same_request { Replay::Same } else { Replay::Mismatch };
    let mut response = json(StatusCode::OK, replay_body(*message));
    if !is_same_request {
        response.headers_mut().insert(IDEMPOTENCY_MISMATCH, HeaderValue::from_static("true"));
    }
    response
}

fn replay_body(message: MessageId) -> String {
    format!(r#"{{"message_id":"{message}","status":"duplicate","duplicate":true,"charged":false,"cost":0}}"#)
}

fn status_record(record: &MessageRecord) -> String {
    // Lists all fields, so that a new one is considered here.
    let MessageRecord {
        id,
        account: _,
        carrier: _,
        from,
        to,
        state,
        dlr,
        err: _,
        parts: _,
        cost: _,
        settled_at: _,
    } = record;
    let destination = Numbers::embedded().find(*to);
    // Names may contain any character.
    let (country, operator) = (quoted(destination.country_name()), quoted(destination.operator));
    format!(
        concat!(
            r#"{{"message_id":"{}","source":"{}","dest":"{}","status":"{}","dlr":"{}","#,
            r#""direction":"MT","country":{},"operator":{}}}"#
        ),
        id,
        from,
        to.number(),
        state,
        dlr,
        country,
        operator
    )
}

/// Returns a text as a quoted JSON string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text can be written")
}

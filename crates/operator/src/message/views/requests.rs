//! The request log: what customers called, and why it was rejected.

use crate::message::views::RecordView;
use crate::views::paging::{Limit, RowNumber};
use hermod_store::record::{Replay, RequestEntry, RequestKind};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct RequestsQuery {
    /// Only requests of this account.
    pub account: Option<String>,
    /// Only requests that were rejected with this code.
    #[param(example = "INSUFFICIENT_CREDIT")]
    pub code: Option<String>,
    /// `http`, `submit` or `bind`.
    #[param(pattern = "^(http|submit|bind)$")]
    pub kind: Option<String>,
    /// The `X-Request-Id` of an HTTP request.
    pub request: Option<String>,
    /// `true`: only rejected requests.
    pub rejected: Option<bool>,
    /// At this time or later: a time such as `2026-11-15T09:30:00Z`, a UTC day, or how long ago, such as `2h`.
    pub since: Option<String>,
    /// Before this time.
    pub until: Option<String>,
    /// `next` of the previous page.
    pub cursor: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A request of a customer. Has no body, no secret and no phone number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestView {
    pub at: String,
    /// Null if the credentials name no account.
    #[schema(examples("shop"))]
    pub account: Option<String>,
    pub connection: Option<String>,
    /// `http`, `submit` or `bind`.
    #[schema(examples("http"))]
    pub kind: String,
    /// What was called.
    #[schema(examples("POST /api/v1/sms"))]
    pub operation: String,
    /// The API key or system_id as given.
    pub who: String,
    pub address: Option<String>,
    /// The HTTP status or the `command_status` of SMPP.
    #[schema(examples(402))]
    pub status: u32,
    /// The code of the error; null if the request succeeded.
    #[schema(examples("INSUFFICIENT_CREDIT"))]
    pub code: Option<String>,
    /// Why it was rejected, in the words that the customer got; empty if it succeeded.
    pub reason: String,
    pub took_ms: u32,
    /// The `X-Request-Id` of an HTTP request.
    pub request: Option<String>,
    /// Whether its idempotency key was used before: `no`, `same` (with the same request) or `mismatch`.
    #[schema(examples("no"))]
    pub replay: String,
    /// The message that it submitted or named.
    pub message_id: Option<String>,
}

impl RequestView {
    /// Makes the view of a request whose account and connection have these names.
    pub fn new(entry: &RequestEntry, account: Option<String>, connection: Option<String>) -> RequestView {
        RequestView {
            at: entry.at.to_iso(),
            account,
            connection,
            kind: kind_text(entry.kind).to_owned(),
            operation: entry.operation.to_string(),
            who: entry.who.to_string(),
            address: entry.address.map(|address| address.to_string()),
            status: entry.status,
            code: entry.code.as_ref().map(ToString::to_string),
            reason: entry.reason.to_string(),
            took_ms: entry.took_ms,
            request: entry.request.as_ref().map(ToString::to_string),
            replay: replay_text(entry.replay).to_owned(),
            message_id: entry.message.map(|message| message.to_string()),
        }
    }
}

/// Returns a kind of request as it is written.
pub(crate) const fn kind_text(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Http => "http",
        RequestKind::Submit => "submit",
        RequestKind::Bind => "bind",
    }
}

const fn replay_text(replay: Replay) -> &'static str {
    match replay {
        Replay::No => "no",
        Replay::Same => "same",
        Replay::Mismatch => "mismatch",
    }
}

/// A page of the request log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestsView {
    /// The newest first.
    pub items: Vec<RequestView>,
    /// The cursor of the next page; null on the last page.
    pub next: Option<u64>,
    pub record: RecordView,
}

/// Rejected requests by code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestGroupsView {
    pub since: String,
    pub until: String,
    /// The most frequent code first.
    pub items: Vec<RequestGroupView>,
    pub record: RecordView,
}

/// The rejected requests with one code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestGroupView {
    #[schema(examples("INSUFFICIENT_CREDIT"))]
    pub code: String,
    pub count: u64,
    /// What the customer or the operator can do.
    pub what_to_do: String,
    /// The latest one.
    pub last: Option<RequestView>,
}

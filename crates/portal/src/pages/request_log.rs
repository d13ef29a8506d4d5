//! The request log: what clients called, and why it was rejected.

use crate::elements::{Chip, Freshness};
use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/request-log`. The filters are the query: `code`, `kind`, `rejected`, `since`, `until`, `request`.
#[derive(Clone, Debug, Template)]
#[template(path = "request_log.html")]
pub struct RequestLogPage {
    pub shell: Shell,
    /// Rejected requests by code, the most frequent first.
    pub groups: Vec<RejectedGroup>,
    /// Such as `in the last 24 hours`.
    pub period: String,
    /// Any code, or one.
    pub code: Select,
    /// `http`, `submit` or `bind`.
    pub kind: Select,
    /// All, or rejected only.
    pub rejected: Select,
    pub since: Field,
    pub until: Field,
    /// The `X-Request-Id`.
    pub request: Field,
    pub is_filtered: bool,
    pub rows: Vec<LoggedRequestRow>,
    pub next: Option<String>,
    pub freshness: Freshness,
}

/// The rejected requests with one code.
#[derive(Clone, Debug)]
pub struct RejectedGroup {
    pub code: String,
    pub count: String,
    pub what_to_do: String,
    /// The place to do it, or the error's entry in the catalogue.
    pub remedy: String,
    /// The words of that link.
    pub remedy_label: String,
    pub last: Option<Time>,
    /// The log filtered by this code.
    pub href: String,
}

/// One request.
#[derive(Clone, Debug)]
pub struct LoggedRequestRow {
    pub at: Time,
    /// Such as `POST /api/v1/sms` or `submit_sm`.
    pub operation: String,
    /// The API key or system_id as given.
    pub who: String,
    pub address: Option<String>,
    /// The status as a chip: `202`, `402`, `ESME_RTHROTTLED`.
    pub status: Chip,
    pub code: Option<String>,
    /// Why it was rejected; empty if it succeeded.
    pub reason: String,
    pub took: String,
    pub request: Option<String>,
    /// Whether its idempotency key was used before: `no`, `same` or `mismatch`.
    pub replay: String,
    /// The message that it submitted or named.
    pub message: Option<String>,
}

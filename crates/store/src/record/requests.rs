//! The request log: rejected API calls, submits and binds with the reason, and some of the successful ones. It holds no
//! body, no secret and no phone number: of a recipient it has the beginning of a keyed digest.

use crate::record::RecordStatus;
use hermod_domain::erasure::ShortDigest;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What a customer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RequestKind {
    /// A call of the HTTP API.
    Http,
    /// A `submit_sm`, `data_sm` or `submit_multi`.
    Submit,
    Bind,
}

/// Whether an idempotency key was used before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Replay {
    /// No.
    #[default]
    No,
    /// With the same request.
    Same,
    /// With another request.
    Mismatch,
}

/// One line of the request log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestEntry {
    pub at: Timestamp,
    /// None if the credentials name no account.
    pub account: Option<AccountId>,
    pub connection: Option<ConnectionId>,
    pub kind: RequestKind,
    /// What was called: `POST /api/v1/sms`, `submit_sm`, `bind_transceiver`. An unknown path is cut and without its query.
    pub operation: Box<str>,
    /// The API key or `system_id` as given, cut and without control characters.
    pub who: Box<str>,
    pub address: Option<IpAddr>,
    /// The HTTP status or the SMPP `command_status`.
    pub status: u32,
    /// The code of the error catalogue, or the name of the SMPP status; none if it succeeded.
    pub code: Option<Box<str>>,
    /// Why it was rejected, in the words that the customer got; of invalid credentials what is wrong with them. Empty if it
    /// succeeded.
    pub reason: Box<str>,
    pub took_ms: u32,
    /// The id of an HTTP request.
    pub request: Option<Box<str>>,
    pub replay: Replay,
    pub message: Option<MessageId>,
    /// Of a send request, the recipient. None if it has no valid one, or if the number was erased.
    pub recipient: Option<ShortDigest>,
}

/// The lines to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// The API key or `system_id`, as it is in the log.
    pub who: Option<String>,
    pub code: Option<String>,
    pub kind: Option<RequestKind>,
    pub request: Option<String>,
    pub recipient: Option<ShortDigest>,
    /// Only rejected ones.
    pub rejected: bool,
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

/// A page of the request log, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPage {
    /// Each with its number, which rises.
    pub rows: Vec<(u64, RequestEntry)>,
    pub next: Option<u64>,
    pub status: RecordStatus,
}

/// Rejected requests with one code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestGroup {
    pub code: Box<str>,
    pub count: u64,
    /// The last one; none if the log does not have it any more.
    pub last: Option<RequestEntry>,
}

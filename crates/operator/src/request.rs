//! The request log: what customers called, why it was rejected, and what to do about it.

use crate::csv::{Cell, push_row};
use crate::export::{PAGE_ROWS, PageRead, Pages, Rows};
use crate::http::response::CSV;
use crate::http::routes::{Routes, doc};
use crate::input::{number_in, one_of};
use crate::record::{ERRORS, Names, RecordView, end_or_now, range_of, scope_of};
use crate::refusal::Result;
use crate::views::paging::{Limit, RowNumber};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::phone::Msisdn;
use hermod_domain::refusal::published::PUBLISHED;
use hermod_domain::time::Timestamp;
use hermod_gateway::app::{SignInFault, recipient_digest};
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{Replay, RequestEntry, RequestFilter, RequestKind, Scope};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
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
    /// Only send requests to this number. The log has a keyed digest of it, not the number.
    #[param(pattern = r"^[+ ]?[1-9][0-9]{6,14}$", example = "+4915112345678")]
    pub to: Option<String>,
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
    /// The account of the API key or system_id, even if it is rejected; null if there is none.
    #[schema(examples("shop"))]
    pub account: Option<String>,
    pub connection: Option<String>,
    /// `http`, `submit` or `bind`.
    #[schema(examples("http"))]
    pub kind: String,
    /// What was called: method and path. An unknown path is cut and without its query.
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
    /// Why it was rejected, in the words that the customer got; of invalid credentials what is wrong with them. Empty if it succeeded.
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

/// How many requests to a number were rejected. `GET /requests` with the same `to` and `rejected=true` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RejectedRequestsView {
    pub count: u64,
    /// Whether the count is exact. If not, there are at least as many.
    pub exact: bool,
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
    /// What the operator can do.
    pub what_to_do: String,
    /// The latest one.
    pub last: Option<RequestView>,
}

/// How far back rejected requests are grouped if the query does not say.
const GROUPS_BACK: Duration = Duration::from_secs(86_400);
/// Rejected requests to a number that are counted.
const COUNTED_MAX: u32 = 1_000;
const KINDS: [RequestKind; 3] = [RequestKind::Http, RequestKind::Submit, RequestKind::Bind];

/// Parses what to look for, and in whose requests.
fn request_filter(gateway: &Gateway, query: &RequestsQuery) -> Result<(Scope, RequestFilter)> {
    let scope = scope_of(gateway, query.account.as_deref())?;
    let kind = query.kind.as_deref().map(|text| one_of("kind", text, KINDS, kind_text)).transpose()?;
    let to = query.to.as_deref().map(|to| number_in("to", to)).transpose()?;
    let (from, until) = range_of(query.since.as_deref(), query.until.as_deref(), gateway.clock.now())?;
    let filter = RequestFilter {
        who: None,
        code: query.code.clone(),
        kind,
        request: query.request.clone(),
        recipient: to.map(|to| recipient_digest(&gateway.pepper, to)),
        rejected: query.rejected.unwrap_or(false),
        from,
        until,
    };
    Ok((scope, filter))
}

/// Returns a page of the request log, newest first.
pub async fn list_requests(gateway: &Gateway, query: RequestsQuery) -> Result<RequestsView> {
    let (scope, filter) = request_filter(gateway, &query)?;
    let before = query.cursor.map(u64::from);
    let page = gateway.store.record().request_log(scope, filter, before, Limit::of(query.limit)).await?;
    let names = Names::of(gateway);
    Ok(RequestsView {
        items: page.rows.iter().map(|(_, entry)| request_view(&names, entry)).collect(),
        next: page.next,
        record: page.status.into(),
    })
}

/// Counts the rejected requests to a number in a range of time, as far as the first page of them goes.
pub(crate) async fn count_rejected(
    gateway: &Gateway,
    scope: Scope,
    to: Msisdn,
    (from, until): (Option<Timestamp>, Option<Timestamp>),
) -> Result<RejectedRequestsView> {
    let recipient = Some(recipient_digest(&gateway.pepper, to));
    let filter = RequestFilter { recipient, rejected: true, from, until, ..RequestFilter::default() };
    let page = gateway.store.record().request_log(scope, filter, None, COUNTED_MAX).await?;
    Ok(RejectedRequestsView {
        count: u64::try_from(page.rows.len()).unwrap_or(u64::MAX),
        exact: page.next.is_none(),
    })
}

/// Returns the rejected requests by code, with what to do about each.
pub async fn group_requests(gateway: &Gateway, query: RequestsQuery) -> Result<RequestGroupsView> {
    let scope = scope_of(gateway, query.account.as_deref())?;
    let now = gateway.clock.now();
    let (from, until) = range_of(query.since.as_deref(), query.until.as_deref(), now)?;
    let until = end_or_now(until, now);
    let from = from.unwrap_or_else(|| until.minus(GROUPS_BACK));
    let groups = gateway.store.record().refusal_groups(scope, from, until).await?;
    let names = Names::of(gateway);
    let items = groups.iter().map(|group| RequestGroupView {
        code: group.code.to_string(),
        count: group.count,
        what_to_do: remedy(&group.code, group.last.as_ref()),
        last: group.last.as_ref().map(|last| request_view(&names, last)),
    });
    Ok(RequestGroupsView {
        since: from.to_iso(),
        until: until.to_iso(),
        items: items.collect(),
        record: gateway.store.record().status().into(),
    })
}

fn request_view(names: &Names, entry: &RequestEntry) -> RequestView {
    let account = entry.account.map(|account| names.account(account));
    let connection = entry.connection.map(|connection| names.connection(connection));
    RequestView::new(entry, account, connection)
}

/// Exports the request log, newest first.
pub async fn export_requests(gateway: &Arc<Gateway>, query: RequestsQuery) -> Result<Rows> {
    let (scope, filter) = request_filter(gateway, &query)?;
    Rows::begin(gateway, "requests", scope, &REQUEST_HEADINGS, RequestPages { scope, filter, before: None })
        .await
}

struct RequestPages {
    scope: Scope,
    filter: RequestFilter,
    before: Option<u64>,
}

impl Pages for RequestPages {
    fn read<'a>(&'a mut self, gateway: &'a Gateway, csv: &'a mut String) -> PageRead<'a> {
        Box::pin(async move {
            let log = gateway.store.record();
            let page = log.request_log(self.scope, self.filter.clone(), self.before, PAGE_ROWS).await?;
            let names = Names::of(gateway);
            page.rows.iter().for_each(|(_, entry)| push_request(csv, &request_view(&names, entry)));
            self.before = page.next;
            Ok(page.next.is_some())
        })
    }
}

const REQUEST_HEADINGS: [&str; 14] = [
    "at",
    "account",
    "connection",
    "kind",
    "operation",
    "who",
    "address",
    "status",
    "code",
    "reason",
    "took_ms",
    "request",
    "replay",
    "message_id",
];

fn push_request(csv: &mut String, request: &RequestView) {
    let cells = [
        Cell::Text(&request.at),
        Cell::text(request.account.as_ref()),
        Cell::text(request.connection.as_ref()),
        Cell::Text(&request.kind),
        Cell::Text(&request.operation),
        Cell::Text(&request.who),
        Cell::text(request.address.as_ref()),
        Cell::Number(request.status.to_string()),
        Cell::text(request.code.as_ref()),
        Cell::Text(&request.reason),
        Cell::Number(request.took_ms.to_string()),
        Cell::text(request.request.as_ref()),
        Cell::Text(&request.replay),
        Cell::text(request.message_id.as_ref()),
    ];
    push_row(csv, &cells);
}

/// Where no row fits.
const UNKNOWN: &str = "Read the reason of the latest request; docs/smpp.md lists the statuses of SMPP.";

/// Reasons of rejected binds, as the request log has them.
const BIND_REASONS: &[(&str, &str)] = &[
    ("wrong credentials", "Check the system_id and the password; set a new one with hermod connection set."),
    ("password too long", "A password has 8 characters: check the settings of the customer's software."),
    (
        "invalid length of system_id",
        "A system_id has 1 to 15 characters: check the settings of the customer's software.",
    ),
    (
        "wrong system_type",
        "Set the system_type of the connection in the customer's software, or remove it from the connection.",
    ),
    (
        "address not allowed",
        "Add the address to the allow-list of the connection with hermod connection set.",
    ),
    ("TLS required", "Bind to the TLS port, or allow plain binds on the connection."),
    ("bind type not allowed", "Use a bind type that the connection allows, or allow this one."),
    (
        "maximum number of binds reached",
        "Close binds that are not used (hermod binds), or raise max_binds of the connection.",
    ),
    (
        "closed",
        "The account or the connection is closed: open it again with hermod account set or hermod connection set.",
    ),
    (
        "account suspended",
        "The account is suspended: hermod account show NAME has the reason, hermod account resume NAME ends it.",
    ),
    ("stopping", "The gateway was shutting down: the customer's software binds again by itself."),
    (
        "held",
        "The gateway was restored from a backup or started with --hold: hermod restore review, then release it.",
    ),
    ("too many sessions", "Raise [smpp] max_sessions, or find out who opens so many connections."),
    (
        "too many password checks in progress",
        "Many binds came at once: the customer's software tries again by itself.",
    ),
];

/// What is wrong with the credentials of a request, as the request log has it.
const SIGN_IN_REMEDIES: &[(SignInFault, &str)] = &[
    (
        SignInFault::NoCredentials,
        "For the customer: send the key and its secret, as Basic or Bearer or in X-API-Key and X-API-Secret.",
    ),
    (
        SignInFault::UnknownKey,
        "For the customer: check the API key. hermod key list shows the keys that exist.",
    ),
    (
        SignInFault::KeyRevoked,
        "A revoked key is used. If the address is the customer's, hermod key add makes another. If not, the key has leaked: leave it revoked.",
    ),
    (
        SignInFault::KeyExpired,
        "The customer's software uses an expired key: hermod key add makes another, hermod key set KEY expires_at=TIME extends it.",
    ),
    (
        SignInFault::AccountClosed,
        "The account is closed: hermod account set NAME closed=false opens it again.",
    ),
    (
        SignInFault::ConnectionClosed,
        "The connection is closed: hermod connection set NAME closed=false opens it again.",
    ),
    (
        SignInFault::WrongSecret,
        "If the address is the customer's, hermod key rotate KEY makes another secret, which the customer then uses. If not, somebody guesses.",
    ),
];

/// Codes of the catalogue about which the operator can do something. The catalogue says what the customer can do.
const OPERATOR_REMEDIES: &[(&str, &str)] = &[
    (
        "INVALID_API_KEY",
        "The reason of the latest request says what was wrong: hermod key list shows the keys, hermod key rotate KEY makes another secret.",
    ),
    (
        "IP_NOT_ALLOWED",
        "If the address is the customer's, add it to the lists: hermod key set KEY allow=..., hermod connection set NAME allow=...",
    ),
    (
        "RATE_LIMITED",
        "The customer's software has to send more slowly, or raise the rate: hermod connection set NAME rate=N.",
    ),
    (
        "ACCOUNT_SUSPENDED",
        "hermod account show NAME has the reason, hermod account resume NAME ends the suspension.",
    ),
    (
        "VERIFICATION_REQUIRED",
        "Verify the identity of the customer, then hermod account set NAME verified=true.",
    ),
    (
        "SENDER_NOT_APPROVED",
        "If the customer may use the sender: hermod sender approve SENDER --account NAME.",
    ),
    ("SENDER_BLOCKED", "hermod sender list --account NAME shows why the sender is blocked."),
    (
        "COUNTRY_BLOCKED",
        "If the customer may send there, enable the country: hermod account set NAME countries=...",
    ),
    (
        "DESTINATION_BLOCKED",
        "hermod lookup NUMBER --account NAME names the block, hermod block remove NAME ends it.",
    ),
    ("HELD_FOR_REVIEW", "hermod review list, then hermod review approve ID or hermod review reject ID."),
    ("NO_PRICE", "If the destination is to be sold, add a price: hermod price set AREA per_part=..."),
    (
        "NO_ROUTE",
        "If the destination is to be served, add a route: hermod route explain NUMBER shows those that there are.",
    ),
    (
        "TRAFFIC_CONTROL",
        "hermod account traffic NAME shows the controls and their counts; hermod control set NAME changes a limit.",
    ),
    (
        "INSUFFICIENT_CREDIT",
        "hermod topup NAME AMOUNT after a payment, or hermod account set NAME credit_limit=...",
    ),
    ("SUBMIT_FAILED", "The log of the gateway has the cause."),
    ("GATEWAY_UNAVAILABLE", "hermod alarms and the log of the gateway have the cause."),
];

/// Statuses of SMPP that have no row in the catalogue of errors.
const STATUSES: &[(&str, &str)] = &[
    ("ESME_RINVMSGLEN", "Correct the length of the text or of short_message: sm_length must match it."),
    (
        "ESME_RINVCMDLEN",
        "The PDU could not be parsed: check the customer's software, or trace it with hermod links.",
    ),
    ("ESME_RINVCMDID", "The operation is not supported: use submit_sm."),
    ("ESME_RINVBNDSTS", "A receiver cannot submit: bind as a transmitter or transceiver."),
    ("ESME_RINVSRCADR", "Correct source_addr, its TON and its NPI."),
    ("ESME_RINVDSTADR", "Correct destination_addr: digits in international form, with TON 1."),
    ("ESME_RINVPASWD", "Check the system_id and the password."),
    ("ESME_RINVSYSID", "A system_id has 1 to 15 characters."),
    ("ESME_RINVSYSTYP", "Set the system_type of the connection in the customer's software."),
    ("ESME_RBINDFAIL", "The reason of the latest bind says what was not allowed."),
    ("ESME_RALYBND", "The session is bound already: do not bind twice on one connection."),
    (
        "ESME_RTHROTTLED",
        "Send more slowly, or raise the rate of the account with hermod account set NAME smpp_rate=N.",
    ),
    ("ESME_RMSGQFUL", "Try again later: a limit or the queue is full."),
    (
        "ESME_RSYSERR",
        "The gateway could not store the message: its log has the cause. The customer tries again.",
    ),
    ("ESME_RINVSCHED", "Correct schedule_delivery_time."),
    ("ESME_RINVEXPIRY", "Correct validity_period."),
    ("ESME_RINVESMCLASS", "Correct esm_class."),
    ("ESME_RINVREGDLVFLG", "Correct registered_delivery."),
    ("ESME_RINVNUMDESTS", "Correct the number of destinations of submit_multi."),
    ("ESME_RSUBMITFAIL", "The reason of the latest submit says what was rejected."),
];

/// Returns what the operator can do about requests with this code, of which `last` is the latest. Where only the customer can do
/// something, it says so.
pub(crate) fn remedy(code: &str, last: Option<&RequestEntry>) -> String {
    let by_reason = || {
        let last = last?;
        match last.kind {
            RequestKind::Bind => found(BIND_REASONS, &last.reason),
            RequestKind::Http => {
                let known = SIGN_IN_REMEDIES.iter().find(|(fault, _)| fault.as_str() == &*last.reason);
                known.map(|(_, words)| *words)
            }
            RequestKind::Submit => None,
        }
    };
    let own = || found(OPERATOR_REMEDIES, code).or_else(|| found(STATUSES, code));
    let for_customer = || {
        let published = PUBLISHED.iter().find(|row| row.code == code)?;
        Some(format!("For the customer: {}", published.what_to_do))
    };
    by_reason().or_else(own).map(str::to_owned).or_else(for_customer).unwrap_or_else(|| UNKNOWN.to_owned())
}

fn found(rows: &[(&str, &'static str)], wanted: &str) -> Option<&'static str> {
    rows.iter().find(|(name, _)| *name == wanted).map(|(_, remedy)| *remedy)
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section(
        "Requests",
        "Which calls, submits and binds of customers were rejected, and why. Kept for [retention] requests, 7 days by default.",
    );
    routes.get(
        "/requests",
        list_requests,
        doc("listRequests", "List requests of customers", "The newest first.")
            .details("Every rejected request, and up to 5 successful ones per second and account.")
            .errors(&ERRORS)
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/requests.csv",
        export_requests,
        doc("exportRequests", "Export requests of customers", "A CSV file, the newest request first.")
            .errors(&ERRORS)
            .errors(&["EXPORTS_RUNNING"])
            .without("cursor")
            .without("limit")
            .media(CSV)
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/requests/groups",
        group_requests,
        doc(
            "groupRequests",
            "Group rejected requests by code",
            "The most frequent code first, with what to do about it.",
        )
        .errors(&ERRORS)
        .without("code")
        .without("kind")
        .without("to")
        .without("request")
        .without("rejected")
        .without("cursor")
        .without("limit")
        .least(OperatorPermission::Reading),
    );
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;

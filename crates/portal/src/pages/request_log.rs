//! The request log of an account: what clients called, and why it was rejected, also by code.

use crate::elements::{Chip, Freshness, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, encode_segment, url_query};
use crate::numbers::{duration, grouped};
use crate::request::extract::Query;
use crate::request::member::Member;
use crate::request::remedies;
use crate::request::reply::{NoPage, Reply, page, sentence};
use crate::request::shown::{freshness, time, time_of};
use crate::time::Time;
use askama::Template;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::{NumberKind, ShownNumbers};
use hermod_operator::record::RecordView;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::request::{
    RequestGroupView, RequestView, RequestsQuery, RequestsView, group_requests, list_requests,
};
use hermod_operator::views::paging::{Limit, RowNumber};
use serde::{Deserialize, Serialize};

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

/// Rows of a page.
const ROWS: u32 = 50;

const KINDS: [(&str, &str); 4] =
    [("", "Any"), ("http", "HTTP"), ("submit", "SMPP submit"), ("bind", "SMPP bind")];
const RESULTS: [(&str, &str); 2] = [("", "Any"), ("true", "Rejected")];

/// The filters of the URL, as the person typed them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RequestLogFilter {
    code: String,
    kind: String,
    rejected: String,
    since: String,
    until: String,
    request: String,
    cursor: String,
}

/// `GET /accounts/{account}/request-log`.
pub(crate) async fn list(member: Member, Query(filter): Query<RequestLogFilter>) -> Reply {
    member.require(Permission::ReadMessages)?;
    let query = filter.wanted(&member.gateway().numbers, &member.account_name);
    let (found, error) = match list_requests(member.gateway(), query.clone()).await {
        Ok(found) => (found, None),
        Err(OperatorRefusal::InvalidField { field, rule }) => (nothing(), Some((field, sentence(&rule)))),
        Err(refusal) => return Err(NoPage::from(refusal)),
    };
    let period = RequestsQuery { since: query.since, until: query.until, ..RequestsQuery::default() };
    let groups = match &error {
        None => {
            let query = RequestsQuery { account: Some(member.account_name.clone()), ..period };
            group_requests(member.gateway(), query).await?.items
        }
        Some(_) => Vec::new(),
    };
    let shell = member.shell(NavEntry::RequestLog);
    let next = found.next.map(|cursor| {
        let shown = member.gateway().numbers.show(NumberKind::LoggedRequest, cursor);
        let next = RequestLogFilter { cursor: shown.to_string(), ..filter.clone() };
        format!("{}?{}", shell.path("request-log"), next.query())
    });
    let field = |name: &str, value: &str| match &error {
        Some((field, rule)) if *field == name => Field::invalid(value, rule.clone()),
        _ => Field::new(value),
    };
    Ok(page(&RequestLogPage {
        period: if filter.since.is_empty() { "in the last 24 hours" } else { "in this period" }.to_owned(),
        code: codes(&groups, &filter.code),
        kind: Select::new(KINDS, &filter.kind),
        rejected: Select::new(RESULTS, &filter.rejected),
        since: field("since", &filter.since),
        until: field("until", &filter.until),
        request: field("request", &filter.request),
        is_filtered: !RequestLogFilter { cursor: String::new(), ..filter.clone() }.query().is_empty(),
        groups: groups.into_iter().map(|view| group(&shell, view)).collect(),
        rows: found.items.into_iter().map(row).collect(),
        next,
        freshness: freshness(&member.gateway().clock, found.record),
        shell,
    }))
}

fn nothing() -> RequestsView {
    RequestsView { items: Vec::new(), next: None, record: RecordView::default() }
}

impl RequestLogFilter {
    fn wanted(&self, numbers: &ShownNumbers, account: &str) -> RequestsQuery {
        let read = |shown| RowNumber::from(numbers.read(NumberKind::LoggedRequest, shown));
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let kind = KINDS.iter().any(|(kind, _)| *kind == self.kind).then(|| given(&self.kind)).flatten();
        RequestsQuery {
            account: Some(account.to_owned()),
            code: given(&self.code),
            kind,
            request: given(&self.request),
            to: None,
            rejected: (self.rejected == "true").then_some(true),
            since: given(&self.since),
            until: given(&self.until),
            cursor: self.cursor.parse::<u64>().ok().map(read),
            limit: Limit::try_from(ROWS.to_string()).ok(),
        }
    }

    /// Returns the filter as the query of a URL, without empty fields.
    fn query(&self) -> String {
        let RequestLogFilter { code, kind, rejected, since, until, request, cursor } = self;
        url_query(&[
            ("code", code),
            ("kind", kind),
            ("rejected", rejected),
            ("since", since),
            ("until", until),
            ("request", request),
            ("cursor", cursor),
        ])
    }
}

/// Returns the codes of the period, and the chosen one.
fn codes(groups: &[RequestGroupView], chosen: &str) -> Select {
    let mut codes: Vec<&str> = groups.iter().map(|group| group.code.as_str()).collect();
    codes.push(chosen);
    codes.retain(|code| !code.is_empty());
    codes.sort_unstable();
    codes.dedup();
    let any = ("".to_owned(), "Any".to_owned());
    let codes = codes.into_iter().map(|code| (code.to_owned(), code.to_owned()));
    Select::new(std::iter::once(any).chain(codes), chosen)
}

fn group(shell: &Shell, view: RequestGroupView) -> RejectedGroup {
    let remedy = remedies::place(shell, &view.code);
    RejectedGroup {
        count: grouped(view.count),
        what_to_do: remedies::words(&view.code),
        remedy: remedy.href,
        remedy_label: remedy.label,
        last: view.last.as_ref().and_then(|last| time(&last.at)),
        href: format!("{}?code={}", shell.path("request-log"), encode_segment(&view.code)),
        code: view.code,
    }
}

fn row(view: RequestView) -> LoggedRequestRow {
    let tone = if view.code.is_none() { Tone::Good } else { Tone::Bad };
    let status = match view.kind.as_str() {
        "http" => view.status.to_string(),
        _ => format!("0x{:02X}", view.status),
    };
    LoggedRequestRow {
        at: time_of(&view.at),
        operation: view.operation,
        who: view.who,
        address: view.address,
        status: Chip::new(tone, status),
        code: view.code,
        reason: view.reason,
        took: duration(u64::from(view.took_ms)),
        request: view.request,
        replay: view.replay,
        message: view.message_id,
    }
}

//! The request log of an account, and its rejected requests by code.

use super::State;
use super::extract::Query;
use super::member::Member;
use super::remedies;
use super::reply::{NoPage, Reply, page, sentence};
use super::shown::{freshness, time};
use crate::elements::{Chip, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::numbers::{duration, grouped};
use crate::pages::request_log::{LoggedRequestRow, RejectedGroup, RequestLogPage};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::{NumberKind, ShownNumbers};
use hermod_operator::record::RecordView;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::request::{
    RequestGroupView, RequestView, RequestsQuery, RequestsView, group_requests, list_requests,
};
use hermod_operator::views::paging::{Limit, RowNumber};
use serde::{Deserialize, Serialize};

/// Rows of a page.
const ROWS: u32 = 50;

const KINDS: [(&str, &str); 4] =
    [("", "Any"), ("http", "HTTP"), ("submit", "SMPP submit"), ("bind", "SMPP bind")];
const RESULTS: [(&str, &str); 2] = [("", "Any"), ("true", "Rejected")];

/// The filters of the URL, as the person typed them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RequestLogFilter {
    code: String,
    kind: String,
    rejected: String,
    since: String,
    until: String,
    request: String,
    cursor: String,
}

/// `GET /accounts/{account}/request-log`.
pub(super) async fn list(
    axum::extract::State(portal): State,
    member: Member,
    Query(filter): Query<RequestLogFilter>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let query = filter.wanted(&portal.gateway.numbers, &member.account_name);
    let (found, error) = match list_requests(&portal.gateway, query.clone()).await {
        Ok(found) => (found, None),
        Err(OperatorRefusal::InvalidField { field, rule }) => (nothing(), Some((field, sentence(&rule)))),
        Err(refusal) => return Err(NoPage::from(refusal)),
    };
    let period = RequestsQuery { since: query.since, until: query.until, ..RequestsQuery::default() };
    let groups = match &error {
        None => {
            let query = RequestsQuery { account: Some(member.account_name.clone()), ..period };
            group_requests(&portal.gateway, query).await?.items
        }
        Some(_) => Vec::new(),
    };
    let shell = member.shell(NavEntry::RequestLog);
    let next = found.next.map(|cursor| {
        let shown = portal.gateway.numbers.show(NumberKind::LoggedRequest, cursor);
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
        freshness: freshness(&portal.gateway.clock, found.record),
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
        let fields = [
            ("code", code),
            ("kind", kind),
            ("rejected", rejected),
            ("since", since),
            ("until", until),
            ("request", request),
            ("cursor", cursor),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", encode_segment(value))).collect();
        pairs.join("&")
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
        at: time(&view.at).unwrap_or(Time(0)),
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

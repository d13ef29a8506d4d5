//! The request log, and its rejected requests by code.

use crate::input::one_of;
use crate::message::filter::{end_or_now, range_of};
use crate::message::names::{Names, scope_of};
use crate::message::remedies::remedy;
use crate::message::views::{
    RequestGroupView, RequestGroupsView, RequestView, RequestsQuery, RequestsView, kind_text,
};
use crate::refusal::OperatorRefusal;
use crate::views::paging::Limit;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{RequestEntry, RequestFilter, RequestKind, Scope};
use std::time::Duration;

/// How far back rejected requests are grouped if the query does not say.
const GROUPS_BACK: Duration = Duration::from_secs(86_400);
const KINDS: [RequestKind; 3] = [RequestKind::Http, RequestKind::Submit, RequestKind::Bind];

/// Parses what to look for, and in whose requests.
pub(crate) fn request_filter(
    gateway: &Gateway,
    query: &RequestsQuery,
) -> Result<(Scope, RequestFilter), OperatorRefusal> {
    let scope = scope_of(gateway, query.account.as_deref())?;
    let kind = query.kind.as_deref().map(|text| one_of("kind", text, KINDS, kind_text)).transpose()?;
    let (from, until) = range_of(query.since.as_deref(), query.until.as_deref(), gateway.clock.now())?;
    let filter = RequestFilter {
        who: None,
        code: query.code.clone(),
        kind,
        request: query.request.clone(),
        rejected: query.rejected.unwrap_or(false),
        from,
        until,
    };
    Ok((scope, filter))
}

/// Returns a page of the request log, newest first.
pub async fn list_requests(gateway: &Gateway, query: RequestsQuery) -> Result<RequestsView, OperatorRefusal> {
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

/// Returns the rejected requests by code, with what to do about each.
pub async fn group_requests(
    gateway: &Gateway,
    query: RequestsQuery,
) -> Result<RequestGroupsView, OperatorRefusal> {
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
        what_to_do: remedy(&group.code, group.last.as_ref()).to_owned(),
        last: group.last.as_ref().map(|last| request_view(&names, last)),
    });
    Ok(RequestGroupsView {
        since: from.to_iso(),
        until: until.to_iso(),
        items: items.collect(),
        record: gateway.store.record().status().into(),
    })
}

pub(crate) fn request_view(names: &Names, entry: &RequestEntry) -> RequestView {
    let account = entry.account.map(|account| names.account(account));
    let connection = entry.connection.map(|connection| names.connection(connection));
    RequestView::new(entry, account, connection)
}

//! The audit log: who changed what.

use crate::find::{account_name, find_account};
use crate::http::routes::{Routes, doc};
use crate::input::time;
use crate::refusal::Result;
use crate::views::masking::{NamesHandsets, texts_masked};
use crate::views::paging::{Limit, Page, RowNumber, paged};
use hermod_domain::audit::{AuditFilter, AuditRow};
use hermod_domain::operator_role::OperatorPermission;
use hermod_gateway::gateway::Gateway;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct AuditLogQuery {
    /// Only changes that concern this account.
    pub account: Option<String>,
    /// Only changes by authors whose name contains this text, such as `operator ann` or an e-mail address.
    #[param(example = "operator")]
    pub by: Option<String>,
    /// Only changes of this kind, such as `key`, or with this action, such as `key.update`.
    #[param(example = "key")]
    pub action: Option<String>,
    /// At this time or later: a time such as `2026-11-15T09:30:00Z`, a UTC day, or how long ago, such as `7d`.
    pub since: Option<String>,
    /// `next` of the previous page.
    pub before: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditRowView {
    /// 1 for the first; no number is left out.
    #[schema(examples(42))]
    pub number: u64,
    pub at: String,
    /// Who made it: `operator`, `operator` with a name, `user` with an e-mail address, or `file` with the name of a provision file.
    #[schema(examples("operator"))]
    pub by: String,
    /// The address that the request came from; empty for a command on the gateway's own machine.
    #[schema(examples("192.0.2.7"))]
    pub from: String,
    /// What was done.
    #[schema(examples("key.update"))]
    pub action: String,
    /// What it was done to.
    pub subject: NamesHandsets,
    /// The account that it concerns; null if it concerns the whole gateway.
    #[schema(examples("shop"))]
    pub account: Option<String>,
    /// More about it. For a change of the setup: each field with its values before and after, secrets hidden.
    #[serde(serialize_with = "texts_masked")]
    #[schema(value_type = Object)]
    pub detail: Value,
    /// The beginning of the row's hash, which covers the row before it.
    #[schema(examples("9f86d081884c7d65"))]
    pub hash: String,
}

impl AuditRowView {
    /// Makes the view of a row about the account with this name.
    pub fn new(row: AuditRow, account: Option<String>) -> AuditRowView {
        let AuditRow { number, entry, posting: _, hash } = row;
        AuditRowView {
            number,
            at: entry.at.to_iso(),
            by: entry.by,
            from: entry.from,
            action: entry.action,
            subject: entry.subject.into(),
            account,
            detail: serde_json::from_str(&entry.detail).map_or_else(|_| Value::Object(Map::new()), or_empty),
            hash: hash.short(),
        }
    }
}

/// Returns an object: an empty one if there is nothing to say.
fn or_empty(detail: Value) -> Value {
    if detail.is_object() { detail } else { Value::Object(Map::new()) }
}

paged!(AuditRowView, u64, |row| row.number);

/// Lists changes, the newest first.
pub async fn list_audit_log(gateway: &Gateway, query: AuditLogQuery) -> Result<Page<AuditRowView>> {
    let account = query.account.map(|name| find_account(gateway, &name)).transpose()?;
    let since = query.since.filter(|text| !text.is_empty());
    let since = since.map(|text| time("since", &text, gateway.clock.now())).transpose()?;
    let filter = AuditFilter {
        account,
        by: query.by.unwrap_or_default(),
        action: query.action.unwrap_or_default(),
        since,
    };
    let limit = Limit::of(query.limit);
    let before = query.before.map(u64::from);
    let rows = gateway.store.audit_log(filter, before, limit).await?;
    let views = rows.into_iter().map(|row| {
        let account = row.entry.account.map(|account| account_name(gateway, account));
        AuditRowView::new(row, account)
    });
    Ok(Page::new(views.collect(), limit))
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Audit log", "Who changed what, from where.");
    routes.get(
        "/audit-log",
        list_audit_log,
        doc("listAuditLog", "List changes", "The newest first.")
            .details(
                "Each row was written in the transaction of its change. Its hash covers the row before it, so that \
                 `hermod audit` finds rows that were altered or removed.",
            )
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
}

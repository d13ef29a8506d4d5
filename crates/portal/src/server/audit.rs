//! The audit log of an account.

use super::State;
use super::member::Member;
use super::reply::{Reply, page};
use super::shown::time;
use crate::forms::{Field, Select};
use crate::layout::Entry;
use crate::pages::audit::{Audit, AuditRow, FieldChange};
use crate::time::Time;
use axum::extract::Query;
use hermod_domain::permission::Permission;
use hermod_gateway::app::operator;
use hermod_gateway::views::audit_log::{AuditLogQuery, AuditRowView};
use hermod_gateway::views::paging::{Limit, RowNumber};
use serde::Deserialize;
use serde_json::Value;

/// Rows of a page.
const ROWS: u32 = 50;

#[derive(Deserialize)]
pub(super) struct AuditQuery {
    #[serde(default)]
    before: Option<u64>,
}

/// `GET /accounts/{account}/audit`.
pub(super) async fn list(
    axum::extract::State(portal): State,
    member: Member,
    Query(AuditQuery { before }): Query<AuditQuery>,
) -> Reply {
    member.require(Permission::ReadTeam)?;
    let query = AuditLogQuery {
        account: Some(member.account_name.clone()),
        by: None,
        action: None,
        since: None,
        before: before.map(RowNumber::from),
        limit: Limit::try_from(ROWS.to_string()).ok(),
    };
    let found = operator::list_audit_log(&portal.world, query).await?;
    let shell = member.shell(Entry::Audit);
    Ok(page(&Audit {
        who: Field::default(),
        action: Select::default(),
        since: Field::default(),
        is_filtered: false,
        next: found.next.map(|next| format!("{}?before={next}", shell.path("audit"))),
        rows: found.items.into_iter().map(row).collect(),
        shell,
    }))
}

fn row(view: AuditRowView) -> AuditRow {
    AuditRow {
        number: view.number,
        at: time(&view.at).unwrap_or(Time(0)),
        who: view.by.strip_prefix("user ").map(str::to_owned).unwrap_or(view.by),
        from: view.from,
        action: format!("{} {}", words(&view.action), view.subject),
        changes: changes(&view.detail),
    }
}

/// Says an action in words: `key.update` is `Changed key`.
fn words(action: &str) -> String {
    let (kind, verb) = action.split_once('.').unwrap_or((action, ""));
    let verb = match verb {
        "create" => "Created",
        "update" => "Changed",
        "remove" => "Removed",
        "invite" => "Invited",
        "reset" => "Made a password link for",
        "approve" => "Approved",
        "reject" => "Rejected",
        "replay" | "replay_failed" => "Replayed",
        other => return format!("{} {}", kind.replace('_', "-"), other.replace('_', " ")),
    };
    format!("{verb} {}", kind.replace('_', "-"))
}

fn changes(detail: &Value) -> Vec<FieldChange> {
    let fields = detail.as_object().into_iter().flatten();
    let change = |(field, value): (&String, &Value)| {
        let (before, after) = match value.as_array().map(Vec::as_slice) {
            Some([before, after]) => (shown(before), shown(after)),
            _ => (None, shown(value)),
        };
        FieldChange { field: field.clone(), before, after }
    };
    fields.map(change).collect()
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn actions_and_changes_are_said_in_words() {
        assert_eq!(words("key.update"), "Changed key");
        assert_eq!(words("opt_out.create"), "Created opt-out");
        assert_eq!(words("ledger.top-up"), "ledger top-up");
        let expect = FieldChange {
            field: "revoked".to_owned(),
            before: Some("false".to_owned()),
            after: Some("true".to_owned()),
        };
        assert_eq!(changes(&json!({ "revoked": [false, true] })), [expect]);
        assert_eq!(changes(&Value::Null), []);
    }
}

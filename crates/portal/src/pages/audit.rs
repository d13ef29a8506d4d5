//! The audit log of an account: who changed what.

use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, url_query};
use crate::request::extract::Query;
use crate::request::member::Member;
use crate::request::reply;
use crate::request::reply::{Reply, page_with_status};
use crate::request::shown::time_of;
use crate::time::Time;
use askama::Template;
use axum::http::StatusCode;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::NumberKind;
use hermod_operator::audit_log::{AuditLogQuery, AuditRowView, list_audit_log};
use hermod_operator::views::masking::REASON_GIVEN;
use hermod_operator::views::paging::{Limit, Page};
use serde::Deserialize;
use serde_json::Value;

/// `GET /accounts/{account}/audit`. The filters are the query: `who`, `action`, `since`.
#[derive(Clone, Debug, Template)]
#[template(path = "audit.html")]
pub struct AuditPage {
    pub shell: Shell,
    pub who: Field,
    /// Without choices the filters are left out.
    pub action: Select,
    pub since: Field,
    pub is_filtered: bool,
    pub rows: Vec<AuditedChange>,
    pub next: Option<String>,
}

/// One change.
#[derive(Clone, Debug)]
pub struct AuditedChange {
    pub at: Time,
    /// An e-mail address, or `operator`.
    pub who: String,
    /// `portal`, `operator API` or `command line`, and the address.
    pub from: String,
    /// Such as `Changed the allow-list of key lk_live_1`.
    pub action: String,
    /// The fields that changed, without secrets.
    pub changes: Vec<ChangedField>,
}

/// A field before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedField {
    pub field: String,
    /// `None` if there was nothing before.
    pub before: Option<String>,
    /// `None` if there is nothing now.
    pub after: Option<String>,
}

/// Rows of a page.
const ROWS: u32 = 50;

/// The kinds of changes of the filter.
const ACTIONS: [(&str, &str); 17] = [
    ("", "Any change"),
    ("account", "Account"),
    ("connection", "Connections"),
    ("key", "API keys"),
    ("sender", "Senders"),
    ("number", "Numbers"),
    ("user", "Users"),
    ("request", "Requests"),
    ("ledger", "Ledger"),
    ("review", "Held messages"),
    ("opt_out", "Opt-outs"),
    ("webhook", "Webhooks"),
    ("price", "Prices"),
    ("route", "Routes"),
    ("control", "Traffic controls"),
    ("screen", "Screening rules"),
    ("block", "Blocked numbers"),
];

/// The filters of the URL, as the person typed them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuditQuery {
    who: String,
    action: String,
    since: String,
    before: Option<u64>,
}

/// `GET /accounts/{account}/audit`.
pub(crate) async fn list(
    member: Member,
    Query(AuditQuery { who, action, since, before }): Query<AuditQuery>,
) -> Reply {
    member.require(Permission::ReadTeam)?;
    let query = AuditLogQuery {
        account: Some(member.account_name.clone()),
        by: Some(who.trim().to_owned()),
        action: Some(action.clone()),
        since: Some(since.trim().to_owned()),
        before: member.row_number(NumberKind::AuditRow, before),
        limit: Limit::try_from(ROWS.to_string()).ok(),
    };
    let found = list_audit_log(member.gateway(), query).await;
    let (status, found, error) = match found {
        Ok(found) => (StatusCode::OK, found, None),
        Err(refusal) => {
            let error = reply::fault(refusal)?;
            (StatusCode::BAD_REQUEST, Page { items: Vec::new(), next: None }, Some(error))
        }
    };
    let filters = url_query(&[("who", &who), ("action", &action), ("since", &since)]);
    let next = member.next_rows("audit", NumberKind::AuditRow, found.next);
    let audit = AuditPage {
        next: next.map(|next| if filters.is_empty() { next } else { format!("{next}&{filters}") }),
        rows: found.items.into_iter().filter(is_change).map(row).collect(),
        action: Select::new(ACTIONS, &action),
        who: Field::new(who),
        since: Field { value: since, error },
        is_filtered: !filters.is_empty(),
        shell: member.shell(NavEntry::Audit),
    };
    Ok(page_with_status(status, &audit))
}

/// Whether a row is about a change. The reasons for which operators look at messages are the operator's own.
fn is_change(view: &AuditRowView) -> bool {
    view.action != REASON_GIVEN
}

fn row(view: AuditRowView) -> AuditedChange {
    AuditedChange {
        at: time_of(&view.at),
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
        "join" => "Joined the account as",
        "reset" => "Made a password link for",
        "approve" => "Approved",
        "reject" => "Rejected",
        "replay" | "replay_all" => "Replayed",
        "accept" => "Accepted",
        "decline" => "Declined",
        "withdraw" => "Withdrew",
        "trace" => "Traced the PDUs of",
        other => return format!("{} {}", kind.replace('_', "-"), other.replace('_', " ")),
    };
    format!("{verb} {}", kind.replace('_', "-"))
}

fn changes(detail: &Value) -> Vec<ChangedField> {
    let fields = detail.as_object().into_iter().flatten();
    let change = |(field, value): (&String, &Value)| {
        let (before, after) = match value.as_array().map(Vec::as_slice) {
            Some([before, after]) => (shown(before), shown(after)),
            _ => (None, shown(value)),
        };
        ChangedField { field: field.clone(), before, after }
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
        let expect = ChangedField {
            field: "revoked".to_owned(),
            before: Some("false".to_owned()),
            after: Some("true".to_owned()),
        };
        assert_eq!(changes(&json!({ "revoked": [false, true] })), [expect]);
        assert_eq!(changes(&Value::Null), []);
    }

    #[test]
    fn reason_of_an_operator_is_not_shown_to_customers() {
        let row = |action: &str| AuditRowView {
            number: 7,
            at: "2026-11-15T09:30:00Z".to_owned(),
            by: "operator ann".to_owned(),
            from: String::new(),
            action: action.to_owned(),
            subject: "GET /messages".to_owned().into(),
            account: Some("shop".to_owned()),
            detail: json!({ "reason": "ticket 4711" }),
            hash: String::new(),
        };
        assert!(is_change(&row("key.update")) && !is_change(&row(REASON_GIVEN)));
    }
}

//! The changes of a plan as entries for the audit log: each field before and after, without secrets.

use crate::author::Author;
use crate::entry::documents::EntryNames;
use crate::entry::fields::field_of;
use crate::entry::plan::{Change, Effect, Plan};
use crate::entry::{documents, export};
use crate::kind::Kind;
use crate::refusal::ProvisionResult;
use hermod_domain::audit::AuditEntry;
use hermod_domain::catalogue::User;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_store::CatalogueRow;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The most changes of one plan that are listed. A price list can have a hundred thousand.
const LISTED_MAX: usize = 1_000;

/// Returns an entry for each change of the plan, up to [`LISTED_MAX`], and the number of the others.
pub(crate) fn entries(plan: &Plan, author: &Author, now: Timestamp) -> ProvisionResult<Vec<AuditEntry>> {
    let mut changes = plan.changes.iter().filter(|change| change.effect.is_change());
    let mut entries = Vec::new();
    for change in changes.by_ref().take(LISTED_MAX) {
        add(plan, change, author, now, &mut entries)?;
    }
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    changes.for_each(|change| *others.entry(change.kind.plural()).or_default() += 1);
    if !others.is_empty() {
        entries.push(author.entry(now, None, "setup.more", "entries that are not listed", &json!(others)));
    }
    Ok(entries)
}

/// Adds the entries of a change: one for each account that it concerns.
fn add(
    plan: &Plan,
    change: &Change,
    author: &Author,
    now: Timestamp,
    entries: &mut Vec<AuditEntry>,
) -> ProvisionResult<()> {
    let Change { kind, name, effect, fields, left: _ } = change;
    let row = match plan.rows.get(&(*kind, name.clone())) {
        Some(row) => Some(row),
        None => plan.removed.iter().find(|row| row.kind == kind.as_str() && row.name == *name),
    };
    let verb = match effect {
        Effect::Created => "create",
        Effect::Updated => "update",
        Effect::Removed => "remove",
        Effect::Same | Effect::Absent | Effect::Left => "keep",
    };
    let fields = match effect {
        Effect::Updated => {
            fields.iter().map(|field| (field.field.clone(), json!([field.before, field.after]))).collect()
        }
        Effect::Created => all_fields(*kind, row, &plan.names, |value| json!([null, value]))?,
        Effect::Removed => all_fields(*kind, row, &plan.names, |value| json!([value, null]))?,
        Effect::Same | Effect::Absent | Effect::Left => Map::new(),
    };
    if *kind == Kind::User {
        let rows = rows_of_user(plan, row, &fields, verb);
        let entry = |row: UserRow| {
            author.entry(now, row.account, &format!("{kind}.{}", row.verb), name, &Value::Object(row.fields))
        };
        entries.extend(rows.into_iter().map(entry));
        return Ok(());
    }
    let account = row.and_then(|row| owner(plan, row));
    let is_private = |field: &str| field_of(*kind, field).is_some_and(|field| field.is_private);
    let (private, shared): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(field, _)| account.is_some() && is_private(field));
    let action = format!("{kind}.{verb}");
    // Fields that only operators see are in an entry of their own, which no account reads.
    if !shared.is_empty() || private.is_empty() {
        entries.push(author.entry(now, account, &action, name, &Value::Object(shared)));
    }
    if !private.is_empty() {
        entries.push(author.entry(now, None, &action, name, &Value::Object(private)));
    }
    Ok(())
}

/// The field of a user with the roles.
const ROLES: &str = "accounts";
/// The field of a user with the accounts that are not accepted.
const PENDING: &str = "pending";

/// What an account sees of the change of a user.
struct UserRow {
    account: Option<AccountId>,
    verb: &'static str,
    fields: Map<String, Value>,
}

/// Returns what each account of a user sees of a change, before and after it. Of memberships it sees its own; of other fields
/// nothing until the user has accepted, so that nothing tells whether an invited person was a user before. An account that sees
/// nothing of the change has no row. The change of a user without accounts belongs to none.
fn rows_of_user(
    plan: &Plan,
    row: Option<&CatalogueRow>,
    fields: &Map<String, Value>,
    verb: &'static str,
) -> Vec<UserRow> {
    let user = row.and_then(|row| documents::read::<User>(row).ok());
    let mut accounts: BTreeSet<AccountId> = user.iter().flat_map(User::owners).collect();
    let roles = fields.get(ROLES).and_then(Value::as_array).into_iter().flatten();
    let names = roles.filter_map(Value::as_array).flatten().filter_map(|role| role["account"].as_str());
    accounts.extend(names.filter_map(|name| plan.number(Kind::Account, name)).map(AccountId::new));
    if accounts.is_empty() {
        return vec![UserRow { account: None, verb, fields: fields.clone() }];
    }
    let seen_by = |account: AccountId| {
        let name = plan.names.of(Kind::Account, account.get());
        let has_accepted = user.as_ref().is_some_and(|user| user.role_in(account).is_some());
        let role = fields.get(ROLES).and_then(|change| role_change(change, &name));
        let pending = fields.get(PENDING).and_then(|change| pending_change(change, &name));
        let verb = match &role {
            Some([Value::Null, _]) => "create",
            Some([_, Value::Null]) => "remove",
            Some(_) => "update",
            None if pending == Some([true, false]) => "join",
            None => verb,
        };
        let shown = fields.iter().filter(|(field, _)| has_accepted && *field != ROLES && *field != PENDING);
        let mut shown: Map<String, Value> =
            shown.map(|(field, value)| (field.clone(), value.clone())).collect();
        shown.extend(role.map(|change| ("role".to_owned(), json!(change))));
        shown.extend(pending.map(|change| (PENDING.to_owned(), json!(change))));
        (!shown.is_empty()).then_some(UserRow { account: Some(account), verb, fields: shown })
    };
    accounts.into_iter().filter_map(seen_by).collect()
}

/// Returns the role in one account before and after a change; none if it stays.
fn role_change(change: &Value, account: &str) -> Option<[Value; 2]> {
    let role = |side: usize| {
        let mut roles = change[side].as_array().into_iter().flatten();
        roles.find(|role| role["account"] == account).map_or(Value::Null, |role| role["role"].clone())
    };
    let (before, after) = (role(0), role(1));
    (before != after).then_some([before, after])
}

/// Returns whether the membership in one account was pending before a change and is after it; none if that stays.
fn pending_change(change: &Value, account: &str) -> Option<[bool; 2]> {
    let is_pending =
        |side: usize| change[side].as_array().is_some_and(|names| names.iter().any(|name| name == account));
    let (before, after) = (is_pending(0), is_pending(1));
    (before != after).then_some([before, after])
}

/// Returns all fields of an entry, each as `shown` shows it.
fn all_fields(
    kind: Kind,
    row: Option<&CatalogueRow>,
    names: &EntryNames,
    shown: impl Fn(Value) -> Value,
) -> ProvisionResult<Map<String, Value>> {
    let Some(row) = row else { return Ok(Map::new()) };
    let fields = export::entry(kind, row, names)?;
    Ok(fields.into_iter().map(|(field, value)| (field, shown(value))).collect())
}

/// Returns the account that an entry belongs to: itself, the one it names, or the one of the connection it names.
fn owner(plan: &Plan, row: &CatalogueRow) -> Option<AccountId> {
    if row.kind == Kind::Account.as_str() {
        return Some(AccountId::new(row.id));
    }
    let document: Value = documents::read(row).ok()?;
    let number =
        |field: &str| document.get(field).and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
    if let Some(account) = number("account") {
        return Some(AccountId::new(account));
    }
    let connection = number("connection")?;
    let mut rows = plan.rows.values().chain(&plan.removed);
    let connection = rows.find(|row| row.kind == Kind::Connection.as_str() && row.id == connection)?;
    owner(plan, connection)
}

//! The changes of a plan as entries for the audit log: each field before and after, without secrets.

use crate::author::Author;
use crate::provision::documents::{self, Names};
use crate::provision::kind::Kind;
use crate::provision::plan::{Change, Effect, Plan};
use crate::provision::{ProvisionRefusal, export};
use hermod_domain::audit::AuditEntry;
use hermod_domain::catalogue::User;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_store::CatalogueRow;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The most changes of one plan that are listed. A price list can have a hundred thousand.
const LISTED_MAX: usize = 1_000;

/// Returns an entry for each change of the plan, up to [`LISTED_MAX`], and the number of the others.
pub(super) fn entries(
    plan: &Plan,
    author: &Author,
    now: Timestamp,
) -> Result<Vec<AuditEntry>, ProvisionRefusal> {
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
) -> Result<(), ProvisionRefusal> {
    let Change { kind, name, effect, left: _ } = change;
    let row = match plan.rows.get(&(*kind, name.clone())) {
        Some(row) => Some(row),
        None => plan.removed.iter().find(|row| row.kind == kind.as_str() && row.name == *name),
    };
    let verb = match effect {
        Effect::Made => "create",
        Effect::Updated(_) => "update",
        Effect::Removed => "remove",
        Effect::Same | Effect::Absent | Effect::Left => "keep",
    };
    let fields = match effect {
        Effect::Updated(fields) => {
            fields.iter().map(|field| (field.field.clone(), json!([field.before, field.after]))).collect()
        }
        Effect::Made => all_fields(*kind, row, &plan.names, |value| json!([null, value]))?,
        Effect::Removed => all_fields(*kind, row, &plan.names, |value| json!([value, null]))?,
        Effect::Same | Effect::Absent | Effect::Left => Map::new(),
    };
    let (action, fields) = (format!("{kind}.{verb}"), Value::Object(fields));
    let mut owners = row.map(|row| owners(plan, row)).unwrap_or_default();
    if owners.is_empty() {
        owners.push(None);
    }
    entries.extend(owners.into_iter().map(|account| author.entry(now, account, &action, name, &fields)));
    Ok(())
}

/// Returns all fields of an entry, each as `shown` shows it.
fn all_fields(
    kind: Kind,
    row: Option<&CatalogueRow>,
    names: &Names,
    shown: impl Fn(Value) -> Value,
) -> Result<Map<String, Value>, ProvisionRefusal> {
    let Some(row) = row else { return Ok(Map::new()) };
    let fields = export::entry(kind, row, names)?;
    Ok(fields.into_iter().map(|(field, value)| (field, shown(value))).collect())
}

/// Returns the accounts that an entry concerns: those of a user, else the one that it belongs to.
fn owners(plan: &Plan, row: &CatalogueRow) -> Vec<Option<AccountId>> {
    if row.kind != Kind::User.as_str() {
        return vec![owner(plan, row)];
    }
    let user = documents::read::<User>(row);
    user.map(|user| user.owners().map(Some).collect()).unwrap_or_default()
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
    let mut rows = plan.rows.values();
    let connection = rows.find(|row| row.kind == Kind::Connection.as_str() && row.id == connection)?;
    owner(plan, connection)
}

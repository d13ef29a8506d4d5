//! The plan of a catalogue change, and how it shows what changes.

use crate::entry::documents::EntryNames;
use crate::kind::Kind;
use crate::refusal::{ProvisionError, ProvisionRefusal};
use hermod_domain::catalogue::{Catalogue, PreviousSecret};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_gateway::secrets::Secret;
use hermod_store::{CatalogueRow, EntryUse, ProvisionedRow, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The changes to apply, and the resulting catalogue.
#[derive(Debug)]
pub struct Plan {
    /// In the order of the kinds, removals last.
    pub changes: Vec<Change>,
    /// Generated secrets. They cannot be read again later.
    pub secrets: Vec<Made>,
    /// Entries that are valid but have no effect.
    pub warnings: Vec<String>,
    /// The resulting catalogue.
    pub catalogue: Catalogue,
    pub(crate) put: Vec<CatalogueRow>,
    /// All resulting rows, and their names.
    pub(crate) rows: BTreeMap<(Kind, String), CatalogueRow>,
    pub(crate) names: EntryNames,
    /// The removed rows.
    pub(crate) removed: Vec<CatalogueRow>,
    /// New accounts and their opening balances.
    pub(crate) openings: Vec<(AccountId, Money)>,
    /// The file's values, for the next time it is applied.
    pub(crate) provisioned: Vec<ProvisionedRow>,
}

impl Plan {
    /// Returns the number of an entry after the change.
    pub fn number(&self, kind: Kind, name: &str) -> Option<u32> {
        self.rows.get(&(kind, name.to_owned())).map(|row| row.id)
    }
}

impl Plan {
    /// Returns why an entry that this plan removes cannot be removed.
    pub(crate) fn refuse_removal(&self, used: &EntryUse) -> ProvisionError {
        let is_it = |row: &&CatalogueRow| row.kind == used.kind && row.id == used.id;
        match (Kind::named(&used.kind), self.removed.iter().find(is_it)) {
            (Some(kind), Some(row)) => ProvisionRefusal::in_use(kind, row.name.clone(), used).into(),
            _ => StoreError::EntryInUse(used.clone()).into(),
        }
    }

    /// Returns the users that are new, removed or disabled by this plan. A new one has no tokens unless a request of a removed
    /// user with the same number was under way.
    pub(crate) fn users_to_sign_out(&self) -> Vec<u32> {
        let removed = self.removed.iter().filter(|row| row.kind == Kind::User.as_str()).map(|row| row.id);
        let disabled = |change: &&Change| {
            let is_disabled = |field: &FieldChange| field.field == "disabled" && field.after == true;
            change.effect == Effect::Created || change.fields.iter().any(is_disabled)
        };
        let disabled = self.user_changes().filter(disabled);
        removed.chain(disabled.filter_map(|change| self.number(Kind::User, &change.name))).collect()
    }

    /// Returns the users who are in further accounts, or have another role in one, after this plan.
    pub(crate) fn users_with_other_roles(&self) -> Vec<u32> {
        let changed = self.user_changes().filter(|change| change.fields.iter().any(has_other_roles));
        changed.filter_map(|change| self.number(Kind::User, &change.name)).collect()
    }

    fn user_changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.kind == Kind::User)
    }
}

/// Whether a field is the accounts of a user, and has an account or a role that was not there before.
fn has_other_roles(field: &FieldChange) -> bool {
    let before = field.before.as_array().map_or(&[][..], Vec::as_slice);
    let is_known = |role: &Value| {
        before.iter().any(|known| known["account"] == role["account"] && known["role"] == role["role"])
    };
    field.field == "accounts" && !field.after.as_array().into_iter().flatten().all(is_known)
}

// The change of one entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangeView)]
pub struct Change {
    #[schema(value_type = String, examples("account"))]
    pub kind: Kind,
    #[schema(examples("shop"))]
    pub name: String,
    pub effect: Effect,
    /// The updated fields.
    pub fields: Vec<FieldChange>,
    /// Fields of the file that were not applied because they were changed since the file was last applied. Apply it with
    /// `force=true` to overwrite them.
    pub left: Vec<FieldLeft>,
}

impl Change {
    /// A change that has no fields to list.
    pub(crate) fn of(kind: Kind, name: String, effect: Effect) -> Change {
        Change { kind, name, effect, fields: Vec::new(), left: Vec::new() }
    }
}

/// What happened to an entry. `absent`: it was to be removed and did not exist. `left`: it was removed or created again
/// since the file was last applied, and stays that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = EffectView, examples("updated"))]
pub enum Effect {
    Created,
    Updated,
    Same,
    Removed,
    Absent,
    Left,
}

impl Effect {
    pub const fn as_str(self) -> &'static str {
        match self {
            Effect::Created => "created",
            Effect::Updated => "updated",
            Effect::Same => "same",
            Effect::Removed => "removed",
            Effect::Absent => "absent",
            Effect::Left => "left",
        }
    }

    /// Whether the stored data changes.
    pub const fn is_change(self) -> bool {
        matches!(self, Effect::Created | Effect::Updated | Effect::Removed)
    }
}

/// One field before and after; `null` if absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    #[schema(examples("verified"))]
    pub field: String,
    #[schema(examples(false))]
    pub before: Value,
    #[schema(examples(true))]
    pub after: Value,
}

impl FieldChange {
    /// Returns a change that hides the values of a secret.
    pub(crate) fn hidden(field: &str) -> FieldChange {
        let hidden = || Value::String("(hidden)".to_owned());
        FieldChange { field: field.to_owned(), before: hidden(), after: hidden() }
    }
}

/// A field of a file that keeps its stored value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FieldLeft {
    #[schema(examples("verified"))]
    pub field: String,
    #[schema(examples(true))]
    pub stored: Value,
    #[schema(examples(false))]
    pub file: Value,
}

/// A generated secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub key: String,
    pub secret: Secret,
}

/// Returns what changed about the secret before the current one: until when it is valid.
pub(crate) fn previous_changes(
    field: &str,
    before: Option<&PreviousSecret>,
    after: Option<&PreviousSecret>,
) -> Option<FieldChange> {
    let until = |previous: Option<&PreviousSecret>| {
        previous.map_or(Value::Null, |previous| Value::from(previous.until.to_iso()))
    };
    (before != after).then(|| FieldChange {
        field: field.to_owned(),
        before: until(before),
        after: until(after),
    })
}

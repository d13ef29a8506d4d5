//! Entries of the catalogue (accounts, routes, prices, ...) and the result of changing them.

use crate::entry::plan::{Change, Effect, FieldChange, FieldLeft, Made};
use crate::kind::Kind;
use crate::views::paging::{Limit, Paged};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// The fields of an entry, as in a provision file.
pub type Fields = Map<String, Value>;

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct EntriesQuery {
    /// Only entries of this account.
    pub account: Option<String>,
    /// `next` of the previous page.
    pub after: Option<String>,
    /// How many at most; 1000 by default.
    pub limit: Option<Limit>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct SaveQuery {
    /// `true` also unbinds all live binds of the connection, for example after a change of password. Binds that the
    /// changed connection does not allow are unbound in any case. Connections only.
    pub unbind: Option<bool>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ApplyQuery {
    /// Only return what would change.
    #[serde(default)]
    #[param(default = false)]
    pub dry_run: bool,
    /// Also overwrite fields that were changed since the file was last applied.
    #[serde(default)]
    #[param(default = false)]
    pub force: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// Only entries of these kinds, such as `price,sender`; all kinds by default.
    #[param(
        pattern = "^(carrier|route|price|account|sender|number|connection|key|screen|control|block|user|operator)(,(carrier|route|price|account|sender|number|connection|key|screen|control|block|user|operator))*$"
    )]
    pub kinds: Option<String>,
    /// Only this account and what belongs to it.
    pub account: Option<String>,
    /// Also fields that have their default.
    #[serde(default)]
    #[param(default = false)]
    pub full: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct EntriesOfAccount {
    /// Only entries of this account.
    pub account: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ImportQuery {
    /// Only return what would change.
    #[serde(default)]
    #[param(default = false)]
    pub dry_run: bool,
}

/// A named entry. Secrets are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EntryView {
    pub name: String,
    #[schema(value_type = Object)]
    pub entry: Fields,
}

impl Paged for EntryView {
    type Cursor = String;

    fn cursor(&self) -> String {
        self.name.clone()
    }
}

/// A saved entry and what the request changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SavedEntryView {
    #[serde(flatten)]
    pub entry: EntryView,
    #[serde(flatten)]
    pub applied: AppliedView,
}

/// What a request changed, entry by entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AppliedView {
    /// Whether this is only what would change.
    #[schema(examples(false))]
    pub dry_run: bool,
    pub changes: Vec<ChangeView>,
    /// Generated secrets. They cannot be read again.
    pub secrets: Vec<SecretView>,
    /// Entries that were saved and have no effect, such as a price that matches no number, and nodes that did not unbind.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangeView {
    #[schema(examples("account"))]
    pub kind: String,
    #[schema(examples("shop"))]
    pub name: String,
    pub effect: EffectView,
    /// The updated fields.
    pub fields: Vec<FieldChange>,
    /// Fields of the file that were not applied because they were changed since the file was last applied. Apply it with
    /// `force=true` to overwrite them.
    pub left: Vec<FieldLeft>,
}

/// What happened to an entry. `absent`: it was to be removed and did not exist. `left`: it was removed or created again
/// since the file was last applied, and stays that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(examples("updated"))]
pub enum EffectView {
    Created,
    Updated,
    Same,
    Removed,
    Absent,
    Left,
}

/// A generated secret and what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SecretView {
    #[schema(examples("shop-key-1"))]
    pub key: String,
    #[schema(examples("a2r7hq9mz4k8w3x5n6tvbycjdfgpsu2e"))]
    pub secret: String,
}

impl AppliedView {
    pub fn new(
        dry_run: bool,
        changes: Vec<Change>,
        secrets: Vec<Made>,
        warnings: Vec<String>,
    ) -> AppliedView {
        AppliedView {
            dry_run,
            changes: changes.into_iter().map(ChangeView::from).collect(),
            secrets: secrets.into_iter().map(SecretView::from).collect(),
            warnings,
        }
    }

    /// Whether an entry of this kind and name was created.
    pub fn has_created(&self, kind: Kind, name: &str) -> bool {
        let created = |change: &ChangeView| {
            change.kind == kind.as_str() && change.name == name && change.effect == EffectView::Created
        };
        self.changes.iter().any(created)
    }

    /// Whether anything is stored differently now.
    pub fn has_changes(&self) -> bool {
        let is_change = |change: &ChangeView| match change.effect {
            EffectView::Created | EffectView::Updated | EffectView::Removed => true,
            EffectView::Same | EffectView::Absent | EffectView::Left => false,
        };
        !self.dry_run && self.changes.iter().any(is_change)
    }
}

impl From<Change> for ChangeView {
    fn from(Change { kind, name, effect, left }: Change) -> ChangeView {
        let fields = effect.fields().to_vec();
        let effect = match effect {
            Effect::Created => EffectView::Created,
            Effect::Updated(_) => EffectView::Updated,
            Effect::Same => EffectView::Same,
            Effect::Removed => EffectView::Removed,
            Effect::Absent => EffectView::Absent,
            Effect::Left => EffectView::Left,
        };
        ChangeView { kind: kind.as_str().to_owned(), name, effect, fields, left }
    }
}

impl From<Made> for SecretView {
    fn from(Made { key, secret }: Made) -> SecretView {
        SecretView { key, secret: secret.reveal().to_owned() }
    }
}

//! Entries of the catalogue (accounts, routes, prices, ...) and the result of changing them.

use crate::entry::plan::{Change, Effect, Made};
use crate::kind::Kind;
use crate::views::paging::{Limit, paged};
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
    #[param(pattern = "^[a-z_]+(,[a-z_]+)*$")]
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

paged!(EntryView, String, |row| row.name.clone());

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
    pub changes: Vec<Change>,
    /// Generated secrets. They cannot be read again.
    pub secrets: Vec<SecretView>,
    /// Entries that were saved and have no effect, such as a price that matches no number, and nodes that did not unbind.
    pub warnings: Vec<String>,
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
            changes,
            secrets: secrets.into_iter().map(SecretView::from).collect(),
            warnings,
        }
    }

    /// Whether an entry of this kind and name was created.
    pub fn has_created(&self, kind: Kind, name: &str) -> bool {
        let created =
            |change: &Change| change.kind == kind && change.name == name && change.effect == Effect::Created;
        self.changes.iter().any(created)
    }

    /// Whether anything is stored differently now.
    pub fn has_changes(&self) -> bool {
        !self.dry_run && self.changes.iter().any(|change| change.effect.is_change())
    }
}

impl From<Made> for SecretView {
    fn from(Made { key, secret }: Made) -> SecretView {
        SecretView { key, secret: secret.reveal().to_owned() }
    }
}

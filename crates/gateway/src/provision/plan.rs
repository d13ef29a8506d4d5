//! What a provision file changes.

use crate::provision::documents::Names;
use crate::provision::kind::Kind;
use crate::secrets::Secret;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_store::{CatalogueRow, ProvisionedRow};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Everything that is to be done, and what it leads to.
#[derive(Debug)]
pub struct Plan {
    /// In the order of the kinds, removals last.
    pub changes: Vec<Change>,
    /// Secrets that were made because none was given. Nobody can read them again.
    pub secrets: Vec<Made>,
    /// What is done and will not work as somebody may expect.
    pub warnings: Vec<String>,
    /// The catalogue once it is done.
    pub catalogue: Catalogue,
    pub(super) put: Vec<CatalogueRow>,
    /// Everything once it is done, and what it is called.
    pub(super) rows: BTreeMap<(Kind, String), CatalogueRow>,
    pub(super) names: Names,
    /// By kind and number.
    pub(super) removed: Vec<(String, u32)>,
    /// Accounts that are new, and what each begins with.
    pub(super) openings: Vec<(AccountId, Money)>,
    /// What the file says, for the next time it is applied.
    pub(super) provisioned: Vec<ProvisionedRow>,
}

impl Plan {
    /// The number of a thing once it is done.
    pub fn number(&self, kind: Kind, name: &str) -> Option<u32> {
        self.rows.get(&(kind, name.to_owned())).map(|row| row.id)
    }
}

/// What became, or would become, of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub kind: Kind,
    pub name: String,
    pub effect: Effect,
    /// Fields that a file mentions and that keep what is stored: they were changed since the file was last applied, and
    /// the file says of them what it said then.
    pub left: Vec<FieldLeft>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Made,
    Updated(Vec<FieldChange>),
    Same,
    Removed,
    /// It was to be removed and is not there.
    Absent,
    /// It was removed, or made again, since the file was last applied, and stays so.
    Left,
}

impl Effect {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Effect::Made => "made",
            Effect::Updated(_) => "updated",
            Effect::Same => "same",
            Effect::Removed => "removed",
            Effect::Absent => "absent",
            Effect::Left => "left",
        }
    }

    /// Whether anything is stored differently afterwards.
    pub const fn is_change(&self) -> bool {
        match self {
            Effect::Made | Effect::Updated(_) | Effect::Removed => true,
            Effect::Same | Effect::Absent | Effect::Left => false,
        }
    }

    pub fn fields(&self) -> &[FieldChange] {
        match self {
            Effect::Updated(fields) => fields,
            Effect::Made | Effect::Same | Effect::Removed | Effect::Absent | Effect::Left => &[],
        }
    }
}

/// One field before and after; `null` where it says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct FieldChange {
    #[schema(examples("verified"))]
    pub field: String,
    #[schema(examples(false))]
    pub before: Value,
    #[schema(examples(true))]
    pub after: Value,
}

impl FieldChange {
    /// A secret differs, and that is all anybody is told.
    pub(super) fn hidden(field: &str) -> FieldChange {
        let hidden = || Value::String("(hidden)".to_owned());
        FieldChange { field: field.to_owned(), before: hidden(), after: hidden() }
    }
}

/// A field that a file mentions and that keeps what is stored.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct FieldLeft {
    #[schema(examples("verified"))]
    pub field: String,
    #[schema(examples(true))]
    pub stored: Value,
    #[schema(examples(false))]
    pub file: Value,
}

/// A secret that was made for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub key: String,
    pub secret: Secret,
}

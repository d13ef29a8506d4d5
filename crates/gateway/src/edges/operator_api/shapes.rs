//! The shapes of answers about entries.

use crate::app::operator::{Applied, Fields, Item, Page};
use crate::provision::{Change, FieldChange, FieldLeft, Made};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize)]
pub(super) struct ItemShape {
    name: String,
    entry: Fields,
}

#[derive(Serialize)]
pub(super) struct PageShape {
    items: Vec<ItemShape>,
    next: Option<String>,
}

#[derive(Serialize)]
pub(super) struct PutShape {
    #[serde(flatten)]
    pub(super) item: ItemShape,
    #[serde(flatten)]
    pub(super) applied: AppliedShape,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Applied)]
pub(super) struct AppliedShape {
    /// Nothing was done: this is what would be.
    #[schema(examples(false))]
    dry_run: bool,
    changes: Vec<ChangeShape>,
    /// Secrets that were made, shown this once.
    secrets: Vec<SecretShape>,
    /// What is done and will not work as somebody may expect: a price or route that can match no number.
    warnings: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Change)]
struct ChangeShape {
    #[schema(examples("account"))]
    kind: &'static str,
    #[schema(examples("shop"))]
    name: String,
    /// `made`, `updated`, `same` or `removed`; `absent` if it was to be removed and is not there; `left` if it was removed or
    /// made again since the file was last applied, and stays so.
    #[schema(examples("updated"))]
    effect: &'static str,
    /// What was updated, field by field.
    fields: Vec<FieldChange>,
    /// Fields of a file that keep what is stored, because they were changed since the file was last applied. Applying it
    /// with `force=true` brings them to the file.
    left: Vec<FieldLeft>,
}

/// The one place where a secret is written out: it was just made, and nobody can read it again.
#[derive(Serialize, ToSchema)]
#[schema(as = MadeSecret)]
struct SecretShape {
    #[schema(examples("shop-key-1"))]
    key: String,
    #[schema(examples("a2r7hq9mz4k8w3x5n6tvbycjdfgpsu2e"))]
    secret: String,
}

impl ItemShape {
    pub(super) fn of(Item { name, entry }: Item) -> ItemShape {
        ItemShape { name, entry }
    }
}

impl PageShape {
    pub(super) fn of(Page { items, next }: Page) -> PageShape {
        PageShape { items: items.into_iter().map(ItemShape::of).collect(), next }
    }
}

impl AppliedShape {
    pub(super) fn of(Applied { dry_run, changes, secrets, warnings }: Applied) -> AppliedShape {
        let changes = changes.into_iter().map(|Change { kind, name, effect, left }| ChangeShape {
            kind: kind.as_str(),
            name,
            effect: effect.as_str(),
            fields: effect.fields().to_vec(),
            left,
        });
        let secrets = secrets
            .into_iter()
            .map(|Made { key, secret }| SecretShape { key, secret: secret.reveal().to_owned() });
        AppliedShape { dry_run, changes: changes.collect(), secrets: secrets.collect(), warnings }
    }
}

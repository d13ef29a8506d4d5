//! What a provision file changes, decided before anything is written: every name gets its number, every reference its
//! target, and the catalogue that would result is built as a trial.

use crate::provision::ProvisionRefusal;
use crate::provision::documents::UnreadableRow;
use crate::provision::draft::{Draft, Names};
use crate::provision::kind::Kind;
use crate::provision::shown;
use crate::provision::wanted::Wanted;
use crate::secrets::{Pepper, Secret};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_store::CatalogueRow;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Everything that is to be done, and what it leads to.
#[derive(Debug)]
pub struct Plan {
    /// In the order of the kinds, removals last.
    pub changes: Vec<Change>,
    /// Secrets that were made because none was given. Nobody can read them again.
    pub secrets: Vec<Made>,
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
}

impl Plan {
    /// One thing once it is done, as somebody would have written it.
    pub fn shown(&self, kind: Kind, name: &str) -> Result<Option<Map<String, Value>>, UnreadableRow> {
        let row = self.rows.get(&(kind, name.to_owned()));
        row.map(|row| shown::entry(kind, row, &self.names)).transpose()
    }
}

/// What became, or would become, of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub kind: Kind,
    pub name: String,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Made,
    Updated(Vec<FieldChange>),
    Same,
    Removed,
}

impl Effect {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Effect::Made => "made",
            Effect::Updated(_) => "updated",
            Effect::Same => "same",
            Effect::Removed => "removed",
        }
    }

    pub fn fields(&self) -> &[FieldChange] {
        match self {
            Effect::Updated(fields) => fields,
            Effect::Made | Effect::Same | Effect::Removed => &[],
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

/// A secret that was made for a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub key: String,
    pub secret: Secret,
}

pub(super) fn plan(
    wanted: &Wanted,
    stored: Vec<CatalogueRow>,
    pepper: &Pepper,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let Wanted {
        carriers,
        routes,
        prices,
        accounts,
        senders,
        numbers,
        connections,
        keys,
        screens,
        controls,
        removals,
        rules,
    } = wanted;
    let mut draft = Draft::over(stored, pepper, rules, now)?;
    // Numbers first, so that the order within a file does not matter.
    for name in carriers.iter().map(|carrier| &carrier.name) {
        draft.number(Kind::Carrier, name);
    }
    for name in accounts.iter().map(|account| &account.name) {
        draft.number(Kind::Account, name);
    }
    for name in connections.iter().map(|connection| &connection.name) {
        draft.number(Kind::Connection, name);
    }
    carriers.iter().try_for_each(|carrier| draft.put(carrier))?;
    routes.iter().try_for_each(|route| draft.put(route))?;
    prices.iter().try_for_each(|price| draft.put(price))?;
    accounts.iter().try_for_each(|account| draft.put(account))?;
    senders.iter().try_for_each(|sender| draft.put(sender))?;
    accounts.iter().try_for_each(|account| account.approve_senders(&mut draft))?;
    numbers.iter().try_for_each(|number| draft.put(number))?;
    connections.iter().try_for_each(|connection| draft.put(connection))?;
    keys.iter().try_for_each(|key| draft.put(key))?;
    screens.iter().try_for_each(|screen| draft.put(screen))?;
    controls.iter().try_for_each(|control| draft.put(control))?;
    removals.iter().try_for_each(|removal| draft.remove(removal.kind, &removal.name))?;
    draft.finish()
}

//! Setting a gateway up: carriers, routes, prices, accounts, connections and keys, brought from a file into the store's
//! catalogue. Things are known by name, so the same file can be applied again and again; it is done whole or not at all.

mod checks;
mod documents;
mod plan;
#[cfg(test)]
mod tests;
mod wanted;

pub use documents::{Kind, UnreadableRow};
pub use plan::Plan;
pub use wanted::{
    EXAMPLE_TOML, Wanted, WantedAccount, WantedCarrier, WantedConnection, WantedKey, WantedPrice, WantedRoute,
};

use crate::secrets::Pepper;
use hermod_domain::catalogue::{Catalogue, CatalogueFault};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_store::{CatalogueChange, LedgerEntry, LedgerKind, Store, StoreFault};

/// An account is opened once: the reference of that entry, and its note.
const OPENING: &str = "opening balance";

/// What became, or would become, of one thing in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: Kind,
    pub name: String,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Made,
    Updated,
    Same,
}

/// Why nothing of a file was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProvisionRefusal {
    #[error("{what} {sentence}")]
    Wrong { what: String, sentence: String },
    #[error("{0}")]
    Unfit(#[from] CatalogueFault),
    #[error("{0}")]
    Unreadable(#[from] UnreadableRow),
}

impl ProvisionRefusal {
    fn about(what: &str, sentence: impl Into<String>) -> ProvisionRefusal {
        ProvisionRefusal::Wrong { what: what.to_owned(), sentence: sentence.into() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    #[error(transparent)]
    Refused(#[from] ProvisionRefusal),
    #[error(transparent)]
    Store(#[from] StoreFault),
}

/// What is in the store, as a catalogue.
pub async fn load_catalogue(store: &Store) -> Result<Catalogue, ProvisionError> {
    let rows = store.catalogue().await?;
    let documents = documents::documents(&rows).map_err(ProvisionRefusal::from)?;
    Ok(Catalogue::build(documents).map_err(ProvisionRefusal::from)?)
}

/// What applying would do.
pub async fn prepare(store: &Store, pepper: &Pepper, wanted: &Wanted) -> Result<Plan, ProvisionError> {
    Ok(plan::plan(wanted, store.catalogue().await?, pepper)?)
}

/// Does what was prepared. The catalogue it leads to is in the plan; whoever runs a gateway swaps it in.
pub async fn carry_out(store: &Store, plan: &Plan, now: Timestamp) -> Result<(), ProvisionError> {
    let entries: Vec<_> = plan.openings.iter().filter_map(|opening| entry(*opening, now)).collect();
    let change = CatalogueChange { put: plan.rows.clone(), remove: Vec::new(), entries };
    if change != CatalogueChange::default() {
        store.change_catalogue(change).await?;
    }
    Ok(())
}

pub async fn apply(
    store: &Store,
    pepper: &Pepper,
    wanted: &Wanted,
    now: Timestamp,
) -> Result<Plan, ProvisionError> {
    let plan = prepare(store, pepper, wanted).await?;
    carry_out(store, &plan, now).await?;
    Ok(plan)
}

/// What a new account begins with, if it is anything.
fn entry((account, amount): (AccountId, Money), now: Timestamp) -> Option<LedgerEntry> {
    if amount == Money::ZERO {
        return None;
    }
    let kind = if amount.is_negative() { LedgerKind::Adjustment } else { LedgerKind::TopUp };
    let note = OPENING.to_owned();
    Some(LedgerEntry { account, kind, amount, note, reference: Some(OPENING.to_owned()), now })
}

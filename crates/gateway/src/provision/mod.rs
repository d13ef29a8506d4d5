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
use hermod_store::{LedgerEntry, LedgerKind, Store, StoreFault};

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
    // Money first: an account that nobody can use yet is opened. Should the process die before the account exists, the
    // next attempt finds the money and posts only what is missing, so that no opening balance is lost or given twice.
    for (account, opening) in &plan.openings {
        open_account(store, *account, *opening, now).await?;
    }
    if !plan.rows.is_empty() {
        store.put_catalogue(plan.rows.clone()).await?;
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

async fn open_account(
    store: &Store,
    account: AccountId,
    opening: Money,
    now: Timestamp,
) -> Result<(), ProvisionError> {
    let held = store.balance(account).await?.balance;
    let missing = opening.checked_sub(held).ok_or_else(|| {
        ProvisionRefusal::about(&format!("account {account}"), "has too large an opening balance")
    })?;
    if missing == Money::ZERO {
        return Ok(());
    }
    let kind = if missing.is_negative() { LedgerKind::Adjustment } else { LedgerKind::TopUp };
    let entry = LedgerEntry { account, kind, amount: missing, note: "opening balance".to_owned(), now };
    store.post(entry).await?;
    Ok(())
}

//! Setting a gateway up: carriers, routes, prices, accounts, connections, keys, senders, numbers, screening rules and
//! traffic controls, brought from a file or from the operator API into the store's catalogue. Things are known by name, so
//! the same file can be applied again and again; a change is done whole or not at all.

mod account;
mod api_key;
mod carrier;
mod checks;
mod connection;
mod control;
mod documents;
mod draft;
mod export;
mod fields;
mod file_entries;
mod hex_codes;
mod inbound_number;
mod json;
mod kind;
mod last_applied;
mod mentioned_fields;
mod names;
mod plan;
mod planning;
mod price;
mod route;
mod screen;
mod sender;
mod sender_lookalikes;
#[cfg(test)]
mod tests;
mod three_way;
mod unreachable_entries;
mod values;

pub use account::{PREVIOUS_SECRET_KEPT, Rotation, WantedAccount, rotate};
pub use api_key::WantedKey;
pub use carrier::{
    CertificateWanted, SenderTypes, Typed, WantedCarrier, WantedRetry, WantedRewrite, WantedTls, WantedTlv,
};
pub use connection::{BindTypeName, WantedConnection};
pub use control::{Most, MostAbroad, WantedControl};
pub use documents::UnreadableRow;
pub use export::{shown, shown_one};
pub use fields::schema_of;
pub use file_entries::{EXAMPLE_TOML, Removal, Wanted};
pub use hex_codes::{Code, Tag};
pub use inbound_number::WantedNumber;
pub use json::{check_fields, merged, parse_object, value_of, wanted_entry, wanted_whole};
pub use kind::Kind;
pub use names::of_area;
pub use plan::{Change, Effect, FieldChange, FieldLeft, Made, Plan};
pub use price::WantedPrice;
pub use route::{RouteVia, WantedRoute, WantedVia};
pub use screen::WantedScreen;
pub use sender::WantedSender;

use crate::secrets::Pepper;
use hermod_domain::area::Area;
use hermod_domain::catalogue::{Catalogue, CatalogueError};
use hermod_domain::money::Money;
use hermod_domain::price::Priced;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_store::{CatalogueChange, CatalogueRow, LedgerEntry, LedgerKind, Store, StoreError};
use last_applied::LastApplied;

/// An account is opened once: the reference of that entry, and its note.
const OPENING: &str = "opening balance";

/// Why nothing of a change was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProvisionRefusal {
    #[error("{what} {sentence}")]
    Wrong { what: String, sentence: String },
    #[error("{kind} \"{name}\" cannot be removed: what it sent and owes refers to it; {instead}")]
    NotRemovable { kind: Kind, name: String, instead: &'static str },
    #[error("{0}")]
    Unfit(#[from] CatalogueError),
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
    Store(#[from] StoreError),
}

/// What is in the store, as a catalogue.
pub async fn load_catalogue(store: &Store) -> Result<Catalogue, ProvisionError> {
    let rows = store.catalogue().await?;
    let documents = documents::documents(&rows).map_err(ProvisionRefusal::from)?;
    Ok(Catalogue::build(documents).map_err(ProvisionRefusal::from)?)
}

/// The one way to write the name of a thing.
pub fn canonical_name(kind: Kind, name: &str) -> Result<String, ProvisionRefusal> {
    names::read(kind, name).map(|(name, _)| name)
}

/// What a route is called.
pub fn route_name(account: Option<&str>, area: Area, sender: Option<&Sender>) -> String {
    names::of_route(account, Some(area), sender)
}

/// What a price is called: `shop/49@2027-01-01`, `US`.
pub fn price_name(account: Option<&str>, price: &Priced) -> String {
    let from = (price.from != Timestamp::EPOCH).then_some(price.from);
    names::of_price(account, Some(price.what), from)
}

/// What applying would do.
pub async fn prepare(
    store: &Store,
    pepper: &Pepper,
    wanted: &Wanted,
    now: Timestamp,
) -> Result<Plan, ProvisionError> {
    let rows = store.catalogue().await?;
    let last_applied = LastApplied::read(store.provisioned().await?).map_err(ProvisionRefusal::from)?;
    Ok(planning::plan(wanted, rows, last_applied, pepper, now)?)
}

/// What a request would do to a catalogue that was read before. What files said before has no part in it.
pub fn prepare_over(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    wanted: &Wanted,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    planning::plan(wanted, rows, LastApplied::default(), pepper, now)
}

/// Does what was prepared, in one transaction. The catalogue it leads to is in the plan; whoever runs a gateway swaps it
/// in. Nobody else may change the catalogue between the two.
pub async fn carry_out(store: &Store, plan: &Plan, now: Timestamp) -> Result<(), ProvisionError> {
    let opened = plan.openings.iter().filter(|(_, opening)| *opening != Money::ZERO);
    let entries = opened.map(|(account, opening)| LedgerEntry {
        account: *account,
        kind: LedgerKind::TopUp,
        amount: *opening,
        note: OPENING.to_owned(),
        reference: Some(OPENING.to_owned()),
        now,
    });
    let change = CatalogueChange {
        put: plan.put.clone(),
        remove: plan.removed.clone(),
        entries: entries.collect(),
        provisioned: plan.provisioned.clone(),
    };
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
    let plan = prepare(store, pepper, wanted, now).await?;
    carry_out(store, &plan, now).await?;
    Ok(plan)
}

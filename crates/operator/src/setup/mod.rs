//! Provisioning: applies carriers, routes, prices, accounts, connections, keys, senders, numbers, screening rules,
//! traffic controls, users and operators from a file or the operator API to the store's catalogue. Entries are identified by name, so a
//! file can be applied repeatedly. A change is applied completely or not at all.

pub mod file_entries;
pub mod json;
pub(crate) mod planning;
pub(crate) mod routes;
pub(crate) mod schemas;
#[cfg(test)]
mod tests;
pub mod use_cases;

use crate::author::Author;
use crate::entry::audit_entries;
use crate::entry::last_applied::LastApplied;
use crate::entry::names;
use crate::entry::plan::Plan;
use crate::kind::Kind;
use crate::setup::file_entries::WantedSetup;
use hermod_domain::area::Area;
use hermod_domain::audit::AuditEntry;
use hermod_domain::catalogue::CatalogueError;
use hermod_domain::money::Money;
use hermod_domain::price::PriceEntry;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::LoadCatalogueError;
use hermod_gateway::secrets::Pepper;
use hermod_store::UnreadableRow;
use hermod_store::{
    CatalogueChange, CatalogueRow, CustomerRequestEnd, LedgerEntry, LedgerKind, Store, StoreError,
    TokenChange,
};

/// The reference and note of an account's opening ledger entry.
const OPENING: &str = "opening balance";

/// Why a change was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProvisionRefusal {
    #[error("{what} {sentence}")]
    Wrong { what: String, sentence: String },
    #[error("{kind} \"{name}\" cannot be removed: its messages and ledger entries refer to it; {instead}")]
    NotRemovable { kind: Kind, name: String, instead: &'static str },
    #[error("user \"{0}\" has another password or second factor meanwhile; sign in again")]
    SignInChanged(String),
    #[error("{0}")]
    Unfit(#[from] CatalogueError),
    #[error("{0}")]
    Unreadable(#[from] UnreadableRow),
}

impl ProvisionRefusal {
    pub(crate) fn about(what: &str, sentence: impl Into<String>) -> ProvisionRefusal {
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

impl From<LoadCatalogueError> for ProvisionError {
    fn from(error: LoadCatalogueError) -> ProvisionError {
        match error {
            LoadCatalogueError::Store(error) => error.into(),
            LoadCatalogueError::Unreadable(row) => ProvisionRefusal::from(row).into(),
            LoadCatalogueError::Unfit(error) => ProvisionRefusal::from(error).into(),
        }
    }
}

/// Returns the canonical form of an entry's name.
pub fn canonical_name(kind: Kind, name: &str) -> Result<String, ProvisionRefusal> {
    names::read(kind, name).map(|(name, _)| name)
}

/// Returns the name of a route.
pub fn route_name(account: Option<&str>, area: Area, sender: Option<&Sender>) -> String {
    names::of_route(account, Some(area), sender)
}

/// Returns the name of a price, such as `shop/49@2027-01-01` or `US`.
pub fn price_name(account: Option<&str>, price: &PriceEntry) -> String {
    let from = (price.from != Timestamp::EPOCH).then_some(price.from);
    names::of_price(account, Some(price.area), from)
}

/// Plans the changes of a file without applying them.
pub async fn prepare(
    store: &Store,
    pepper: &Pepper,
    wanted: &WantedSetup,
    now: Timestamp,
) -> Result<Plan, ProvisionError> {
    let rows = store.setup().rows().await?;
    let last_applied =
        LastApplied::read(store.setup().provisioned().await?).map_err(ProvisionRefusal::from)?;
    Ok(planning::plan(wanted, rows, last_applied, pepper, now)?)
}

/// Plans the changes of a request to the given rows. Earlier files do not count.
pub fn prepare_over(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    wanted: &WantedSetup,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    planning::plan(wanted, rows, LastApplied::default(), pepper, now)
}

/// Applies a plan in one transaction. The caller then uses the plan's catalogue. The catalogue must not change between
/// planning and applying.
pub async fn carry_out(
    store: &Store,
    plan: &Plan,
    author: &Author,
    now: Timestamp,
) -> Result<(), ProvisionError> {
    carry_out_with(store, plan, author, TokenChange::default(), now).await
}

/// Does the same as [`carry_out`], and ends tokens of users in the same transaction. Users that are removed or disabled lose all
/// of theirs, users in further accounts or with another role their links.
pub async fn carry_out_with(
    store: &Store,
    plan: &Plan,
    author: &Author,
    tokens: TokenChange,
    now: Timestamp,
) -> Result<(), ProvisionError> {
    let beside = CatalogueChange { tokens, ..CatalogueChange::default() };
    carry_out_beside(store, plan, audit_entries::entries(plan, author, now)?, beside, now).await
}

/// Does the same as [`carry_out`], and ends a customer's request in the same transaction. `entry` is about the request.
pub async fn fulfil(
    store: &Store,
    plan: &Plan,
    (author, entry): (&Author, AuditEntry),
    (request, ledger): (CustomerRequestEnd, Vec<LedgerEntry>),
    now: Timestamp,
) -> Result<(), ProvisionError> {
    let mut audited = vec![entry];
    audited.extend(audit_entries::entries(plan, author, now)?);
    let beside = CatalogueChange { entries: ledger, request: Some(request), ..CatalogueChange::default() };
    carry_out_beside(store, plan, audited, beside, now).await
}

/// Applies a plan together with what else is written in its transaction.
async fn carry_out_beside(
    store: &Store,
    plan: &Plan,
    audited: Vec<AuditEntry>,
    beside: CatalogueChange,
    now: Timestamp,
) -> Result<(), ProvisionError> {
    let CatalogueChange { entries: ledger, mut tokens, request, .. } = beside;
    tokens.end_all_of.extend(plan.users_to_sign_out());
    tokens.end_links_of.extend(plan.users_with_other_roles());
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
        remove: plan.removed.iter().map(|row| (row.kind.clone(), row.id)).collect(),
        entries: entries.chain(ledger).collect(),
        provisioned: plan.provisioned.clone(),
        tokens,
        request,
    };
    if change != CatalogueChange::default() {
        store.audited(audited).setup().change(change).await?;
    }
    Ok(())
}

pub async fn apply(
    store: &Store,
    pepper: &Pepper,
    wanted: &WantedSetup,
    author: &Author,
    now: Timestamp,
) -> Result<Plan, ProvisionError> {
    let plan = prepare(store, pepper, wanted, now).await?;
    carry_out(store, &plan, author, now).await?;
    Ok(plan)
}

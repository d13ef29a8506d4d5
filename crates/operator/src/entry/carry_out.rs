//! Carries a plan out: writes it in one transaction, with its lines of the audit log, and puts its catalogue in force.

use crate::author::{Acting, Author};
use crate::entry::audit_entries;
use crate::entry::plan::Plan;
use crate::entry::views::AppliedView;
use crate::refusal::{ProvisionError, Result};
use hermod_domain::audit::AuditEntry;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_store::{
    CatalogueChange, CustomerRequestEnd, LedgerEntry, LedgerKind, Store, StoreError, TokenChange,
};

/// The reference and note of an account's opening ledger entry.
const OPENING: &str = "opening balance";

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
        let changed = store.audited(audited).setup().change(change).await;
        return changed.map_err(|error| match error {
            // It was used since the plan was made.
            StoreError::EntryInUse(used) => plan.refuse_removal(&used),
            error => error.into(),
        });
    }
    Ok(())
}

/// Stores a plan and puts its catalogue in force. The caller holds `Gateway::changing`.
pub(crate) async fn execute_plan(gateway: &Acting, plan: Plan) -> Result<AppliedView> {
    carry_out(&gateway.store, &plan, &gateway.author, gateway.clock.now()).await?;
    Ok(put_in_force(gateway, plan))
}

/// Does the same as [`execute_plan`], and writes a line about the whole plan into the audit log before those of its changes.
pub(crate) async fn execute_plan_noted(
    gateway: &Acting,
    plan: Plan,
    note: AuditEntry,
) -> Result<AppliedView> {
    let now = gateway.clock.now();
    let mut audited = vec![note];
    audited.extend(audit_entries::entries(&plan, &gateway.author, now)?);
    carry_out_beside(&gateway.store, &plan, audited, CatalogueChange::default(), now).await?;
    Ok(put_in_force(gateway, plan))
}

fn put_in_force(gateway: &Gateway, plan: Plan) -> AppliedView {
    let Plan { changes, secrets, catalogue, warnings, .. } = plan;
    gateway.set_catalogue(catalogue);
    for change in changes.iter().filter(|change| change.effect.is_change()) {
        tracing::info!(kind = %change.kind, name = change.name, effect = change.effect.as_str(), "Changed by the operator");
    }
    AppliedView::new(false, changes, secrets, warnings)
}

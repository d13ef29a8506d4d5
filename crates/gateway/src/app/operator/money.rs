//! Money by hand: what an account has, entries in its ledger, statements, and totals by the day.

use crate::app::BalanceView;
use crate::app::operator::find_account;
use crate::app::operator::refusal::OperatorRefusal;
use crate::world::World;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_store::{
    Balance, DAYS_PER_READ_MAX, DayTotals, LedgerEntry, LedgerKind, LedgerRow, PostOutcome, PostRefusal,
    Statement,
};

/// What is to be posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    pub kind: LedgerKind,
    /// Left out of an invoice: all that is owed.
    pub amount: Option<Money>,
    pub note: String,
    /// The poster's own name for it: posted again, it changes nothing.
    pub reference: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    pub entry: i64,
    /// The reference was posted before; nothing was changed now.
    pub repeated: bool,
    pub kind: LedgerKind,
    pub amount: Money,
    pub balance: BalanceView,
}

pub async fn show_balance(world: &World, account: &str) -> Result<BalanceView, OperatorRefusal> {
    let id = find_account(world, account)?;
    let held = world.store.balance(id).await?;
    view(world, id, held)
}

pub async fn post_entry(world: &World, account: &str, post: Post) -> Result<Posted, OperatorRefusal> {
    let id = find_account(world, account)?;
    let Post { kind, amount, note, reference } = post;
    // Two invoices for all that is owed must not ask for it twice.
    let _alone = world.changing.lock().await;
    let amount = match amount {
        Some(amount) => amount,
        None => match invoice_for_all(world, id, account, kind, reference.as_deref()).await? {
            Invoice::For(owed) => owed,
            Invoice::WrittenBefore(entry, amount) => {
                let balance = view(world, id, world.store.balance(id).await?)?;
                return Ok(Posted { entry, repeated: true, kind, amount, balance });
            }
        },
    };
    let entry = LedgerEntry { account: id, kind, amount, note, reference, now: world.clock.now() };
    let (entry, repeated, held) = match world.store.post(entry).await? {
        PostOutcome::Posted { entry, balance } => (entry, false, balance),
        PostOutcome::Repeated { entry, balance } => (entry, true, balance),
        PostOutcome::Refused(refusal) => return Err(OperatorRefusal::Posting(refusal)),
    };
    tracing::info!(account, kind = kind_text(kind), entry, repeated, "Posted by the operator");
    Ok(Posted { entry, repeated, kind, amount, balance: view(world, id, held)? })
}

enum Invoice {
    For(Money),
    WrittenBefore(i64, Money),
}

async fn invoice_for_all(
    world: &World,
    id: AccountId,
    account: &str,
    kind: LedgerKind,
    reference: Option<&str>,
) -> Result<Invoice, OperatorRefusal> {
    if kind != LedgerKind::Invoice {
        let rule = "is missing; only an invoice can go without, and is then for all that is owed".to_owned();
        return Err(OperatorRefusal::InvalidField { field: "amount", rule });
    }
    if let Some(reference) = reference
        && let Some(LedgerRow { id, kind, balance, .. }) =
            world.store.posted(id, reference.to_owned()).await?
    {
        return match kind {
            LedgerKind::Invoice => Ok(Invoice::WrittenBefore(id, balance)),
            _ => Err(OperatorRefusal::Posting(PostRefusal::ReferenceTaken)),
        };
    }
    let balance = world.store.balance(id).await?.balance;
    match balance.checked_neg() {
        Some(owed) if owed > Money::ZERO => Ok(Invoice::For(owed)),
        _ => Err(OperatorRefusal::NothingOwed { account: account.to_owned(), balance: balance.to_string() }),
    }
}

/// Newest first, and the id to go on before, if there is more.
pub async fn ledger_page(
    world: &World,
    account: &str,
    before: Option<i64>,
    limit: u32,
) -> Result<(Vec<LedgerRow>, Option<i64>), OperatorRefusal> {
    let id = find_account(world, account)?;
    let rows = world.store.ledger(id, before, limit).await?;
    let next = rows.last().filter(|_| rows.len() >= usize::try_from(limit).unwrap_or(usize::MAX));
    let next = next.map(|last| last.id);
    Ok((rows, next))
}

pub async fn statement(
    world: &World,
    account: &str,
    from: Day,
    to: Day,
) -> Result<(BalanceView, Statement), OperatorRefusal> {
    let id = find_account(world, account)?;
    check_days(from, to)?;
    let statement = world.store.statement(id, from, to).await?;
    Ok((view(world, id, statement.closing)?, statement))
}

/// Days without messages are left out.
pub async fn day_totals(
    world: &World,
    account: &str,
    from: Day,
    to: Day,
) -> Result<Vec<DayTotals>, OperatorRefusal> {
    let id = find_account(world, account)?;
    check_days(from, to)?;
    Ok(world.store.day_totals(id, from, to).await?)
}

fn check_days(from: Day, to: Day) -> Result<(), OperatorRefusal> {
    let refuse = |rule: String| Err(OperatorRefusal::InvalidField { field: "to", rule });
    if to < from {
        return refuse(format!("{to} is before {from}"));
    }
    if to.get() - from.get() >= DAYS_PER_READ_MAX {
        return refuse(format!("{from} to {to} is more than {DAYS_PER_READ_MAX} days"));
    }
    Ok(())
}

fn view(world: &World, id: AccountId, held: Balance) -> Result<BalanceView, OperatorRefusal> {
    let catalogue = world.catalogue();
    let account = catalogue.account(id).ok_or(OperatorRefusal::Failed)?;
    BalanceView::of(&account.account, held).ok_or(OperatorRefusal::Failed)
}

/// The kinds as the API writes them.
pub const fn kind_text(kind: LedgerKind) -> &'static str {
    match kind {
        LedgerKind::TopUp => "top-up",
        LedgerKind::Refund => "refund",
        LedgerKind::Adjustment => "adjustment",
        LedgerKind::Invoice => "invoice",
        LedgerKind::Payment => "payment",
        LedgerKind::RolledUpCosts => "rolled-up-costs",
        LedgerKind::RolledUpRefunds => "rolled-up-refunds",
    }
}

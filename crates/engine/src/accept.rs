//! Accepts a message: checks and charges it, and writes the message, its parts and its idempotency key in one
//! transaction.

use crate::batch::{Batch, FreshPart};
use crate::entry_uses;
use crate::mo::conversations;
use crate::ops::{AcceptOutcome, Acceptance, Balance, DayTotals, Job, NumberedEntry, Usage};
use crate::state::lanes::Placed;
use crate::state::queues::QueueOwner;
use crate::state::report_target::ReportTarget;
use crate::steps::StepKind;
use crate::tables::{MessageChange, MessageRow, MessageStatus, PartChange, TableError};
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::lifecycle::{MessageState, Part, PartState};
use hermod_domain::money::Money;
use hermod_domain::origin::Alias;
use hermod_domain::receipt::DlrCode;

/// Accepts a message, or returns why not. A refusal and a duplicate write nothing and charge nothing.
pub fn message(batch: &mut Batch<'_>, acceptance: &Acceptance) -> Result<AcceptOutcome, TableError> {
    batch.advance_to(acceptance.now);
    let message = batch.state.mint.mint(acceptance.now);
    // First, because a retry of an accepted request must never become a refusal.
    if let Some(key) = &acceptance.key
        && let Some(duplicate) = batch.state.keys.find(batch.tables, key)?
    {
        return Ok(AcceptOutcome::Duplicate(duplicate));
    }
    let (after, today) = match check(batch, acceptance, message)? {
        Ok(figures) => figures,
        Err(refused) => return Ok(refused),
    };
    let alias = match choose_alias(batch, acceptance)? {
        Ok(alias) => alias,
        Err(refused) => return Ok(refused),
    };
    let Acceptance { account, connection, carrier, .. } = acceptance;
    let used = [
        NumberedEntry::Account(*account),
        NumberedEntry::Connection(*connection),
        NumberedEntry::Carrier(*carrier),
    ];
    // One of them may have been removed since the message was checked.
    entry_uses::note_or_refuse(batch, &used, Usage::Message)?;
    if let Some(key) = &acceptance.key {
        batch.state.keys.claim(key, message);
    }
    batch.state.balances.set(acceptance.account, after);
    batch.state.today.set(acceptance.account, today);
    let watched = batch.state.recent_traffic.count(&acceptance.velocity, message.accepted_at());
    if let Some(alias) = alias {
        batch.state.aliases.give(batch.tables, acceptance.account, alias, message);
    }
    write(batch, message, acceptance, alias)?;
    if let Some(number) = &acceptance.reply_to {
        conversations::remember(batch, message, acceptance, number);
    }
    let Acceptance { account, carrier, parts, .. } = acceptance;
    let step = StepKind::Accepted { account: *account, carrier: *carrier, parts: *parts };
    batch.add_step(message, PartNo::FIRST, step);
    batch.results.tally.accepted += 1;
    batch.accepted_parts += u64::from(*parts);
    Ok(AcceptOutcome::Accepted { message, alias, balance: after.balance, today, watched })
}

/// Returns the balance and the day's totals with this message, or the first refusal. The order of the checks
/// decides which refusal a customer sees.
fn check(
    batch: &Batch<'_>,
    acceptance: &Acceptance,
    message: MessageId,
) -> Result<Result<(Balance, DayTotals), AcceptOutcome>, TableError> {
    let Acceptance { account, to, cost, daily, .. } = acceptance;
    if batch.state.opt_outs.has(batch.tables, *account, *to)? {
        return Ok(Err(AcceptOutcome::OptedOut));
    }
    if let Some(over) = batch.state.recent_traffic.refusal(&acceptance.velocity, message.accepted_at()) {
        return Ok(Err(AcceptOutcome::OverVelocity(over)));
    }
    let today = batch.state.today.of(*account, message.accepted_at().day());
    let today = match today.with_message(*cost, *daily) {
        Ok(today) => today,
        Err(limit) => return Ok(Err(AcceptOutcome::OverDailyLimit(limit))),
    };
    let before = batch.state.balances.of(*account);
    Ok(charge(before, acceptance).map(|after| (after, today)).ok_or_else(|| {
        AcceptOutcome::InsufficientCredit { available: spendable(before, acceptance).unwrap_or(Money::ZERO) }
    }))
}

/// Returns the alias of the message if its bind needs a short id, or a refusal if no alias is free. Most messages
/// need none.
fn choose_alias(
    batch: &Batch<'_>,
    acceptance: &Acceptance,
) -> Result<Result<Option<Alias>, AcceptOutcome>, TableError> {
    if !acceptance.origin.as_ref().is_some_and(|origin| origin.short_id) {
        return Ok(Ok(None));
    }
    let found = batch.state.aliases.find(batch.tables, acceptance.account, acceptance.now)?;
    Ok(found.map(Some).ok_or(AcceptOutcome::NoAliasFree))
}

fn write(
    batch: &mut Batch<'_>,
    message: MessageId,
    acceptance: &Acceptance,
    alias: Option<Alias>,
) -> Result<(), TableError> {
    let Acceptance { carrier, from, to, parts, whole, .. } = acceptance;
    let expires_at = acceptance.now.plus(acceptance.validity);
    let reference = batch.state.references.next(from, *to);
    let status = MessageStatus { state: MessageState::Queued, code: DlrCode::Unknown, err: 0 };
    let row = MessageRow {
        id: message,
        account: acceptance.account,
        connection: acceptance.connection,
        carrier: *carrier,
        from: *from,
        to: *to,
        text: acceptance.text.clone(),
        encoding: acceptance.encoding,
        parts: *parts,
        whole: *whole,
        tlvs: acceptance.tlvs.clone(),
        options: acceptance.options.clone(),
        origin: acceptance.origin.clone(),
        alias,
        reference,
        cost: acceptance.cost,
        carrier_cost: acceptance.carrier_cost,
        expires_at,
        status,
    };
    batch.tables.write(MessageChange::Add(Box::new(row)));
    let submits = if *whole { 1 } else { *parts };
    let owner = QueueOwner { carrier: *carrier, account: acceptance.account };
    batch.state.queues.add(owner, PartState::Queued, u64::from(submits));
    let report_target = ReportTarget::of(acceptance, alias);
    for part in PartNo::up_to(submits) {
        let job = Job {
            message,
            part,
            parts: *parts,
            account: acceptance.account,
            carrier: *carrier,
            from: *from,
            to: *to,
            text: acceptance.text.clone(),
            encoding: acceptance.encoding,
            reference,
            whole: *whole,
            tlvs: acceptance.tlvs.clone(),
            options: acceptance.options.clone(),
            price: acceptance.cost,
            expires_at,
            fresh: Some((batch.number, batch.fresh.len())),
        };
        let row = FreshPart {
            carrier: *carrier,
            account: acceptance.account,
            message,
            part,
            expires_at,
            doubt: acceptance.doubt,
            report_target: report_target.clone(),
            now: Part::QUEUED,
            is_only: job.submits() == 1,
        };
        match batch.state.lanes.enqueue(job) {
            Placed::Memory => batch.fresh.push(row),
            // The lane does not hold it: it is read back from the tables, perhaps in this batch.
            Placed::Spilled => batch.tables.write(PartChange::Add(row.row())),
        }
    }
    Ok(())
}

fn spendable(before: Balance, acceptance: &Acceptance) -> Option<Money> {
    before.spendable(acceptance.credit_limit, acceptance.minimum)
}

/// Returns the balance after the charge; none if the account cannot pay.
fn charge(before: Balance, acceptance: &Acceptance) -> Option<Balance> {
    if acceptance.cost > spendable(before, acceptance)? {
        return None;
    }
    Some(Balance { balance: before.balance.checked_sub(acceptance.cost)?, ..before })
}

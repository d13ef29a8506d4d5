//! Reads whose logic is in the engine or in `statement`, each on one snapshot.

use crate::sql::Connection;
use crate::sql::account_statement::{STATEMENT_ENTRIES_MAX, StatementRows, compute_statement};
use crate::sql::inbound::read_mo_message;
use crate::sql::{SqlTables, balances, day_totals, ledger, messages, parts, waiting_messages};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, RemoteId};
use hermod_domain::origin::MessageName;
use hermod_domain::time::Day;
use hermod_engine::ops::{CarrierQueue, LedgerKind, MessageRecord, MoMessage, ReportId, Statement};
use hermod_engine::state::aliases;
use hermod_engine::state::idempotency_keys::{KeyLimits, KeyStep, next_step};
use hermod_engine::state::parked_receipts::ParkedPage;
use hermod_engine::state::queues::QueueSnapshot;
use hermod_engine::tables::TableError;

/// Returns the id of the account's message with this name.
fn named(
    connection: &Connection,
    account: AccountId,
    name: MessageName,
) -> Result<Option<MessageId>, TableError> {
    aliases::named(&SqlTables::of(connection), account, name)
}

/// Returns the account's message with this name.
pub(crate) fn message_named(
    connection: &Connection,
    account: AccountId,
    name: MessageName,
) -> Result<Option<MessageRecord>, TableError> {
    match named(connection, account, name)? {
        Some(id) => messages::find(connection, account, id),
        None => Ok(None),
    }
}

/// Completes the queue snapshots with what the writer does not hold in memory.
pub(crate) fn complete_queues(
    connection: &Connection,
    queues: Vec<QueueSnapshot>,
) -> Result<Vec<CarrierQueue>, TableError> {
    let first_unread = |carrier, unread| waiting_messages::first_unread(connection, carrier, unread);
    let deferred = |carrier| parts::read_deferred(connection, carrier);
    queues.into_iter().map(|queue| queue.complete(&first_unread, &deferred)).collect()
}

/// Returns the next step of merging idempotency keys; `None` if there is none.
pub(crate) fn next_key_step(
    connection: &Connection,
    limits: KeyLimits,
) -> Result<Option<KeyStep>, TableError> {
    next_step(&SqlTables { connection }, limits)
}

/// Returns a page of parked receipts, with those that may match a part now.
pub(crate) fn parked_page(
    connection: &Connection,
    carrier: CarrierId,
    ids: IdConversion,
    after: Option<&RemoteId>,
) -> Result<ParkedPage, TableError> {
    let snapshot = connection.snapshot()?;
    ParkedPage::read(&SqlTables::of(&snapshot), carrier, ids, after)
}

/// Returns an account's statement from one day to another, both included.
pub(crate) fn read_statement(
    connection: &Connection,
    account: AccountId,
    (from, last): (Day, Day),
) -> Result<Statement, TableError> {
    compute_statement(read_statement_rows(connection, account, (from, last))?, from)
}

/// Reads the rows of a statement from one day to another, both included. Rolled-up costs of purged messages are left out of
/// the entries, because the charges per day include them.
fn read_statement_rows(
    connection: &Connection,
    account: AccountId,
    days: (Day, Day),
) -> Result<StatementRows, TableError> {
    // One snapshot, so that a charge meanwhile does not make the lines and the balance differ.
    let snapshot = connection.snapshot()?;
    let without = LedgerKind::RolledUpCosts;
    Ok(StatementRows {
        balance: balances::read(&snapshot, account)?,
        posted: ledger::sum_since(&snapshot, account, days.0, without)?,
        spent: day_totals::spent_since(&snapshot, account, days.0)?,
        entries: ledger::between(&snapshot, account, days, without, STATEMENT_ENTRIES_MAX + 1)?,
        charges: day_totals::between(&snapshot, account, days)?,
    })
}

/// Returns the MO messages that reports deliver. Purged ones are left out.
pub(crate) fn mo_messages(
    connection: &Connection,
    wanted: Vec<(ReportId, AccountId, u64)>,
) -> Result<Vec<(ReportId, MoMessage)>, TableError> {
    let each = wanted.into_iter().map(|(id, account, number)| {
        Ok(read_mo_message(connection, account, number)?.map(|message| (id, message)))
    });
    each.filter_map(Result::transpose).collect()
}

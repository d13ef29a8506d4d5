//! Reads that the engine makes of rows, each run on one snapshot.

use crate::sqlite::inbound::read_mo_message;
use crate::sqlite::{SqliteTables, balances, day_totals, ledger, parts, records, waiting_messages};
use crate::statement::{STATEMENT_ENTRIES_MAX, StatementRows, compute_statement};
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
use rusqlite::Connection;

/// Returns the id of the account's message of that name.
pub(crate) fn named(
    connection: &Connection,
    account: AccountId,
    name: MessageName,
) -> Result<Option<MessageId>, TableError> {
    aliases::named(&SqliteTables::of(connection), account, name)
}

/// Returns the account's message of that name.
pub(crate) fn message_named(
    connection: &Connection,
    account: AccountId,
    name: MessageName,
) -> Result<Option<MessageRecord>, TableError> {
    match named(connection, account, name)? {
        Some(id) => records::message(connection, account, id),
        None => Ok(None),
    }
}

/// Returns the queues with what the writer does not have in memory.
pub(crate) fn complete_queues(
    connection: &Connection,
    queues: Vec<QueueSnapshot>,
) -> Result<Vec<CarrierQueue>, TableError> {
    let look = |carrier, unread| waiting_messages::first_unread(connection, carrier, unread);
    let count = |carrier| parts::count_deferred(connection, carrier);
    queues.into_iter().map(|queue| queue.complete(&look, &count)).collect()
}

/// Returns what is to be done next with the buckets of idempotency keys.
pub(crate) fn next_key_step(
    connection: &Connection,
    limits: KeyLimits,
) -> Result<Option<KeyStep>, TableError> {
    next_step(&SqliteTables { connection }, limits)
}

/// Returns those of a page of parked receipts that are worth another try.
pub(crate) fn parked_page(
    connection: &Connection,
    carrier: CarrierId,
    ids: IdConversion,
    after: Option<&RemoteId>,
) -> Result<ParkedPage, TableError> {
    let snapshot = connection.unchecked_transaction()?;
    ParkedPage::read(&SqliteTables::of(&snapshot), carrier, ids, after)
}

/// Returns an account's movements from the first day to the last, both included.
pub(crate) fn read_statement(
    connection: &Connection,
    account: AccountId,
    (from, last): (Day, Day),
) -> Result<Statement, TableError> {
    compute_statement(read_statement_rows(connection, account, (from, last))?, from)
}

/// Reads the rows from one day to another, both included. What purged messages cost is not among the entries: the days'
/// charges have it.
fn read_statement_rows(
    connection: &Connection,
    account: AccountId,
    days: (Day, Day),
) -> Result<StatementRows, TableError> {
    // One snapshot: what is charged meanwhile must not fall between the lines and the balance.
    let snapshot = connection.unchecked_transaction()?;
    let without = LedgerKind::RolledUpCosts;
    Ok(StatementRows {
        balance: balances::read(&snapshot, account)?,
        posted: ledger::sum_since(&snapshot, account, days.0, without)?,
        spent: day_totals::spent_since(&snapshot, account, days.0)?,
        entries: ledger::between(&snapshot, account, days, without, STATEMENT_ENTRIES_MAX + 1)?,
        charges: day_totals::between(&snapshot, account, days)?,
    })
}

/// Returns the MO messages that reports bring. Those that are not there any more are left out.
pub(crate) fn mo_messages(
    connection: &Connection,
    wanted: Vec<(ReportId, AccountId, u64)>,
) -> Result<Vec<(ReportId, MoMessage)>, TableError> {
    let each = wanted.into_iter().map(|(id, account, number)| {
        Ok(read_mo_message(connection, account, number)?.map(|message| (id, message)))
    });
    each.filter_map(Result::transpose).collect()
}

//! SQL for statements: what is read for one, in one snapshot.

use crate::sqlite::{balances, day_totals, ledger};
use crate::statement::{STATEMENT_ENTRIES_MAX, StatementRows};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Day;
use hermod_engine::ops::LedgerKind;
use hermod_engine::tables::TableError;
use rusqlite::Connection;

/// Reads the rows from one day to another, both included. What purged messages cost is not among the entries: the days'
/// charges have it.
pub(crate) fn read(
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

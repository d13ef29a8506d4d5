//! Computes an account's statement. The opening balance is today's balance minus everything posted and charged since the
//! first day; the entries and charges of the days lead from there to the closing balance.

use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_engine::ops::{Balance, DayTotals, LedgerRow, Statement, StatementLine};
use hermod_engine::tables::TableError;

/// Maximum number of ledger entries in one statement. A statement with more is cut off; request a shorter period.
pub const STATEMENT_ENTRIES_MAX: usize = 10_000;

/// The rows that a statement is computed from, all of one snapshot.
pub(crate) struct StatementRows {
    /// The account's balance now.
    pub(crate) balance: Balance,
    /// The sum of all ledger entries since the first day.
    pub(crate) posted: Balance,
    /// The sum of all charges since the first day.
    pub(crate) spent: Money,
    /// The ledger entries of the days in order of time, at most one more than [`STATEMENT_ENTRIES_MAX`].
    pub(crate) entries: Vec<LedgerRow>,
    /// The charges per day, in order.
    pub(crate) charges: Vec<DayTotals>,
}

/// Returns the statement that begins on `from`. It is cut off after [`STATEMENT_ENTRIES_MAX`] entries. Fails if a sum
/// overflows.
pub(crate) fn compute_statement(rows: StatementRows, from: Day) -> Result<Statement, TableError> {
    let StatementRows { balance, posted, spent, mut entries, mut charges } = rows;
    let spent = Balance { balance: spent, credit_used: Money::ZERO };
    let moved = posted.checked_sub(spent).ok_or_else(too_large)?;
    let opening = balance.checked_sub(moved).ok_or_else(too_large)?;
    let cut_off = entries.len() > STATEMENT_ENTRIES_MAX;
    if cut_off {
        // The charges of a day follow its entries, so those of the last entry's day are left out too.
        entries.truncate(STATEMENT_ENTRIES_MAX);
        let cut = entries.last().map_or(from, |entry| entry.at.day());
        charges.retain(|totals| totals.day < cut);
    }
    let lines = sort_lines(entries, charges);
    let closing = lines.iter().try_fold(opening, |sum, line| sum.checked_add(line.change()));
    Ok(Statement { opening, lines, closing: closing.ok_or_else(too_large)?, cut_off })
}

/// Sorts by day, entries before charges.
fn sort_lines(entries: Vec<LedgerRow>, charges: Vec<DayTotals>) -> Vec<StatementLine> {
    let mut lines: Vec<_> = entries.into_iter().map(StatementLine::Entry).collect();
    lines.extend(charges.into_iter().map(StatementLine::Charges));
    // A stable sort: entries keep their order within a day and precede its charges.
    lines.sort_by_key(|line| match line {
        StatementLine::Entry(row) => row.at.day(),
        StatementLine::Charges(totals) => totals.day,
    });
    lines
}

fn too_large() -> TableError {
    TableError::unreadable("the sum of an account's movements overflows")
}

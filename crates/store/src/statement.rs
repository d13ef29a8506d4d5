//! An account's movements over some days, worked out backwards from what it has now: what was posted and charged since
//! the first day is taken away again, which gives the opening; the lines lead from there to the closing.

use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_engine::ops::{Balance, DayTotals, LedgerRow, Statement, StatementLine};
use hermod_engine::tables::TableError;

/// Ledger entries in one statement. An account with more than that in a year asks for shorter ones.
pub const STATEMENT_ENTRIES_MAX: usize = 10_000;

/// What a statement is worked out from, all of it as of the same moment.
pub(crate) struct StatementRows {
    /// What the account has and owes.
    pub(crate) balance: Balance,
    /// The sum of all entries since the first day.
    pub(crate) posted: Balance,
    /// The sum of all charges since the first day.
    pub(crate) spent: Money,
    /// The entries of the days, in order of time: one more than a statement holds, if there are that many.
    pub(crate) entries: Vec<LedgerRow>,
    /// The charges of the days, in order.
    pub(crate) charges: Vec<DayTotals>,
}

/// Returns the statement that begins on a day. It is cut off if there are more entries than it holds.
pub(crate) fn work_out(rows: StatementRows, from: Day) -> Result<Statement, TableError> {
    let StatementRows { balance, posted, spent, mut entries, mut charges } = rows;
    let spent = Balance { balance: spent, credit_used: Money::ZERO };
    let moved = posted.checked_sub(spent).ok_or_else(too_large)?;
    let opening = balance.checked_sub(moved).ok_or_else(too_large)?;
    let cut_off = entries.len() > STATEMENT_ENTRIES_MAX;
    if cut_off {
        // Up to the last entry that fits; the charges of its day come after it and are left out with the rest.
        entries.truncate(STATEMENT_ENTRIES_MAX);
        let cut = entries.last().map_or(from, |entry| entry.at.day());
        charges.retain(|totals| totals.day < cut);
    }
    let lines = in_order(entries, charges);
    let closing = lines.iter().try_fold(opening, |sum, line| sum.checked_add(line.change()));
    Ok(Statement { opening, lines, closing: closing.ok_or_else(too_large)?, cut_off })
}

/// By day, entries before charges.
fn in_order(entries: Vec<LedgerRow>, charges: Vec<DayTotals>) -> Vec<StatementLine> {
    let mut lines: Vec<_> = entries.into_iter().map(StatementLine::Entry).collect();
    lines.extend(charges.into_iter().map(StatementLine::Charges));
    // Stable: entries keep their order within a day, and they stand before its charges.
    lines.sort_by_key(|line| match line {
        StatementLine::Entry(row) => row.at.day(),
        StatementLine::Charges(totals) => totals.day,
    });
    lines
}

fn too_large() -> TableError {
    TableError::unreadable("an account's movements are too large to be added up")
}

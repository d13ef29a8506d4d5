//! An account's movements over some days, worked out backwards from what it has now: what was posted and charged since
//! the first day is taken away again, which gives the opening; the lines lead from there to the closing.

use crate::embedded::Embedded;
use crate::embedded::day_totals::{self, DAYS_PER_READ_MAX};
use crate::embedded::{ledger, records};
use crate::fault::StoreFault;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_engine::ops::{Balance, DayTotals, LedgerKind, LedgerRow, Statement, StatementLine};
use rusqlite::{Connection, params};

/// Ledger entries in one statement. An account with more than that in a year asks for shorter ones.
pub const STATEMENT_ENTRIES_MAX: usize = 10_000;

impl Embedded {
    /// From the first day to the last, both included.
    pub async fn statement(&self, account: AccountId, from: Day, to: Day) -> Result<Statement, StoreFault> {
        self.inner.readers.run(move |connection| statement(connection, account, from, to)).await
    }
}

fn statement(
    connection: &Connection,
    account: AccountId,
    from: Day,
    to: Day,
) -> Result<Statement, StoreFault> {
    // One snapshot: what is charged meanwhile must not fall between the lines and the balance.
    let snapshot = connection.unchecked_transaction()?;
    let opening = records::balance(&snapshot, account)?
        .checked_sub(moved_since(&snapshot, account, from)?)
        .ok_or_else(too_large)?;
    let last = to.min(Day::new(from.get().saturating_add(DAYS_PER_READ_MAX - 1)));
    let mut entries = entries(&snapshot, account, from, last)?;
    let mut charges = day_totals::between(&snapshot, account, from, last)?;
    let too_many = entries.len() > STATEMENT_ENTRIES_MAX;
    if too_many {
        // Up to the last entry that fits; the charges of its day come after it and are left out with the rest.
        entries.truncate(STATEMENT_ENTRIES_MAX);
        let cut = entries.last().map_or(from, |entry| entry.at.day());
        charges.retain(|totals| totals.day < cut);
    }
    let lines = in_order(entries, charges);
    let closing = lines.iter().try_fold(opening, |sum, line| sum.checked_add(line.change()));
    Ok(Statement { opening, lines, closing: closing.ok_or_else(too_large)?, cut_off: too_many || last < to })
}

/// What entries and messages have changed from the beginning of a day until now.
fn moved_since(connection: &Connection, account: AccountId, from: Day) -> Result<Balance, StoreFault> {
    let (balance, credit_used): (i64, i64) = connection
        .prepare_cached(
            // What messages cost that are gone stands in the days' totals too.
            "SELECT ifnull(sum(balance), 0), ifnull(sum(credit_used), 0) FROM ledger
             WHERE account = ?1 AND at >= ?2 AND kind <> ?3",
        )?
        .query_row(
            params![account.get(), from.start().as_millis(), LedgerKind::RolledUpCosts.to_stored()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
    let spent: i64 = connection
        .prepare_cached("SELECT ifnull(sum(spend), 0) FROM daily WHERE account = ?1 AND day >= ?2")?
        .query_row(params![account.get(), from.get()], |row| row.get(0))?;
    let posted =
        Balance { balance: Money::from_micros(balance), credit_used: Money::from_micros(credit_used) };
    let spent = Balance { balance: Money::from_micros(spent), credit_used: Money::ZERO };
    posted.checked_sub(spent).ok_or_else(too_large)
}

/// One more than a statement holds, if there are that many.
fn entries(
    connection: &Connection,
    account: AccountId,
    from: Day,
    last: Day,
) -> Result<Vec<LedgerRow>, StoreFault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {} FROM ledger WHERE account = ?1 AND at >= ?2 AND at < ?3 AND kind <> ?5 ORDER BY at, id LIMIT ?4",
        ledger::COLUMNS
    ))?;
    let limit = i64::try_from(STATEMENT_ENTRIES_MAX + 1).expect("a few thousand");
    let (begin, end) = (from.start().as_millis(), last.next().start().as_millis());
    let rolled_up = LedgerKind::RolledUpCosts.to_stored();
    let bounds = params![account.get(), begin, end, limit, rolled_up];
    let rows = statement.query_map(bounds, |row| Ok(ledger::read(row)))?;
    rows.map(|row| row?).collect()
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

fn too_large() -> StoreFault {
    StoreFault::damaged("an account's movements are too large to be added up")
}

//! Recipients who want no more messages from an account. Which accounts have any is known in memory, so that a message
//! of any other account costs no look-up.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{OptOut, PAGE_ROWS_MAX};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashSet;

/// Accounts that may have opt-outs. One too many costs a look-up, so nothing is taken back when a batch fails or the
/// last recipient opts in again.
pub(crate) struct OptOuts(HashSet<AccountId>);

impl OptOuts {
    pub(crate) fn load(connection: &Connection) -> Result<OptOuts, StoreFault> {
        // From account to account: DISTINCT would read every row.
        let mut statement = connection.prepare(
            "WITH RECURSIVE found (account) AS (
                 SELECT min(account) FROM opt_out
                 UNION ALL
                 SELECT (SELECT min(account) FROM opt_out WHERE account > found.account) FROM found
                 WHERE found.account IS NOT NULL
             )
             SELECT account FROM found WHERE account IS NOT NULL",
        )?;
        let accounts = statement.query_map([], |row| Ok(AccountId::new(row.get(0)?)))?;
        Ok(OptOuts(accounts.collect::<Result<_, _>>()?))
    }

    pub(crate) fn has(
        &self,
        connection: &Connection,
        account: AccountId,
        number: Msisdn,
    ) -> Result<bool, StoreFault> {
        if !self.0.contains(&account) {
            return Ok(false);
        }
        let found = connection
            .prepare_cached("SELECT 1 FROM opt_out WHERE account = ?1 AND number = ?2")?
            .exists(params![account.get(), number.number().cast_signed()])?;
        Ok(found)
    }
}

impl Embedded {
    /// No more messages of this account to this number. True if that is new; what is known of an earlier one stays.
    pub async fn opt_out(&self, entry: OptOut) -> Result<bool, StoreFault> {
        self.request(move |batch| batch.opt_out(&entry)).await
    }

    /// Messages may be sent again. True if they could not.
    pub async fn opt_in(&self, account: AccountId, number: Msisdn) -> Result<bool, StoreFault> {
        self.request(move |batch| batch.opt_in(account, number)).await
    }

    pub async fn opted_out(&self, account: AccountId, number: Msisdn) -> Result<Option<OptOut>, StoreFault> {
        self.inner.readers.run(move |connection| find(connection, account, number)).await
    }

    /// In order of their numbers, from behind one or from the beginning.
    pub async fn opt_outs(
        &self,
        account: AccountId,
        after: Option<Msisdn>,
        limit: u32,
    ) -> Result<Vec<OptOut>, StoreFault> {
        self.inner.readers.run(move |connection| page(connection, account, after, limit)).await
    }
}

impl Batch<'_> {
    pub(crate) fn opt_out(&mut self, entry: &OptOut) -> Result<bool, StoreFault> {
        let OptOut { account, number, how, now } = entry;
        self.at(*now);
        let added = self
            .connection
            .prepare_cached(
                "INSERT INTO opt_out (account, number, at, how) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            )?
            .execute(params![account.get(), number.number().cast_signed(), now.as_millis(), how])?;
        self.books.opt_outs.0.insert(*account);
        Ok(added > 0)
    }

    pub(crate) fn opt_in(&mut self, account: AccountId, number: Msisdn) -> Result<bool, StoreFault> {
        let removed = self
            .connection
            .prepare_cached("DELETE FROM opt_out WHERE account = ?1 AND number = ?2")?
            .execute(params![account.get(), number.number().cast_signed()])?;
        Ok(removed > 0)
    }

    /// The same, unless the recipient opted out after that time.
    pub(crate) fn opt_in_since(
        &mut self,
        account: AccountId,
        number: Msisdn,
        at: Timestamp,
    ) -> Result<bool, StoreFault> {
        let removed = self
            .connection
            .prepare_cached("DELETE FROM opt_out WHERE account = ?1 AND number = ?2 AND at <= ?3")?
            .execute(params![account.get(), number.number().cast_signed(), at.as_millis()])?;
        Ok(removed > 0)
    }
}

fn find(connection: &Connection, account: AccountId, number: Msisdn) -> Result<Option<OptOut>, StoreFault> {
    connection
        .prepare_cached("SELECT number, at, how FROM opt_out WHERE account = ?1 AND number = ?2")?
        .query_row(params![account.get(), number.number().cast_signed()], |row| Ok(read(row, account)))
        .optional()?
        .transpose()
}

fn page(
    connection: &Connection,
    account: AccountId,
    after: Option<Msisdn>,
    limit: u32,
) -> Result<Vec<OptOut>, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT number, at, how FROM opt_out WHERE account = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
    )?;
    let after = after.map_or(0, |number| number.number().cast_signed());
    let rows = statement
        .query_map(params![account.get(), after, limit.min(PAGE_ROWS_MAX)], |row| Ok(read(row, account)))?;
    rows.map(|row| row?).collect()
}

fn read(row: &Row<'_>, account: AccountId) -> Result<OptOut, StoreFault> {
    let number: i64 = row.get(0)?;
    Ok(OptOut {
        account,
        number: Msisdn::from_number(number.cast_unsigned())
            .ok_or_else(|| StoreFault::damaged("an opted-out number"))?,
        now: Timestamp::from_millis(row.get(1)?),
        how: row.get(2)?,
    })
}

//! SQL for opt-outs.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{OptOut, PAGE_ROWS_MAX};
use hermod_engine::tables::{OptOutChange, OptOutRows, TableError};

impl SqlTables<'_> {
    fn add_opt_out(&self, entry: &OptOut) -> Result<(), TableError> {
        let OptOut { account, number, how, now } = entry;
        self.connection
            .prepare_cached("INSERT INTO opt_out (account, number, at, how) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![account.get(), number.number().cast_signed(), now.as_millis(), how])?;
        Ok(())
    }

    fn delete_opt_out(&self, account: AccountId, number: Msisdn) -> Result<(), TableError> {
        self.connection
            .prepare_cached("DELETE FROM opt_out WHERE account = ?1 AND number = ?2")?
            .execute(params![account.get(), number.number().cast_signed()])?;
        Ok(())
    }
}

impl OptOutRows for SqlTables<'_> {
    fn change_opt_out(&self, change: &OptOutChange) -> Result<(), TableError> {
        match change {
            OptOutChange::Add(entry) => self.add_opt_out(entry),
            OptOutChange::Delete { account, number } => self.delete_opt_out(*account, *number),
        }
    }

    fn accounts_with_opt_outs(&self) -> Result<Vec<AccountId>, TableError> {
        // One seek per account: DISTINCT would read every row.
        let mut statement = self.connection.prepare(
            "WITH RECURSIVE found (account) AS (
                 SELECT min(account) FROM opt_out
                 UNION ALL
                 SELECT (SELECT min(account) FROM opt_out WHERE account > found.account) FROM found
                 WHERE found.account IS NOT NULL
             )
             SELECT account FROM found WHERE account IS NOT NULL",
        )?;
        let accounts = statement.query_map([], |row| Ok(AccountId::new(row.get(0)?)))?;
        Ok(accounts.collect::<Result<_, _>>()?)
    }

    fn opted_out_at(&self, account: AccountId, number: Msisdn) -> Result<Option<Timestamp>, TableError> {
        let at = self
            .connection
            .prepare_cached("SELECT at FROM opt_out WHERE account = ?1 AND number = ?2")?
            .query_row(params![account.get(), number.number().cast_signed()], |row| row.get(0))
            .optional()?;
        Ok(at.map(Timestamp::from_millis))
    }
}

/// Returns the opt-out of a number.
pub(crate) fn find_opt_out(
    connection: &Connection,
    account: AccountId,
    number: Msisdn,
) -> Result<Option<OptOut>, TableError> {
    connection
        .prepare_cached("SELECT number, at, how FROM opt_out WHERE account = ?1 AND number = ?2")?
        .query_row(params![account.get(), number.number().cast_signed()], |row| Ok(read(row, account)))
        .optional()?
        .transpose()
}

/// Returns an account's opt-outs after a number, in the order of their numbers.
pub(crate) fn read_opt_out_page(
    connection: &Connection,
    account: AccountId,
    after: Option<Msisdn>,
    limit: u32,
) -> Result<Vec<OptOut>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT number, at, how FROM opt_out WHERE account = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
    )?;
    let after = after.map_or(0, |number| number.number().cast_signed());
    let rows = statement
        .query_map(params![account.get(), after, limit.min(PAGE_ROWS_MAX)], |row| Ok(read(row, account)))?;
    rows.map(|row| row?).collect()
}

fn read(row: &Row<'_>, account: AccountId) -> Result<OptOut, TableError> {
    let number: i64 = row.get(0)?;
    Ok(OptOut {
        account,
        number: Msisdn::from_number(number.cast_unsigned())
            .ok_or_else(|| TableError::unreadable("an opted-out number"))?,
        now: Timestamp::from_millis(row.get(1)?),
        how: row.get(2)?,
    })
}

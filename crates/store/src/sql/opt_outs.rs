//! SQL for opt-outs.

use crate::sql::{Connection, OptionalExtension, SqlTables, described, params};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::PAGE_ROWS_MAX;
use hermod_engine::tables::{OptOut, OptOutRows, TableError};

impl OptOutRows for SqlTables<'_> {
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
    let key = params![account.get(), number.number().cast_signed()];
    described::row(connection, "WHERE account = ?1 AND number = ?2", key)
}

/// Returns an account's opt-outs after a number, in the order of their numbers.
pub(crate) fn read_opt_out_page(
    connection: &Connection,
    account: AccountId,
    after: Option<Msisdn>,
    limit: u32,
) -> Result<Vec<OptOut>, TableError> {
    let after = after.map_or(0, |number| number.number().cast_signed());
    let page = params![account.get(), after, limit.min(PAGE_ROWS_MAX)];
    described::rows(connection, "WHERE account = ?1 AND number > ?2 ORDER BY number LIMIT ?3", page)
}

//! SQL for the balance of each account.

use crate::sqlite::SqliteTables;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{BalanceRows, TableError};
use rusqlite::params;

impl BalanceRows for SqliteTables<'_> {
    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError> {
        let mut statement = self.connection.prepare("SELECT account, balance, credit_used FROM balance")?;
        let rows = statement.query_map([], |row| {
            let balance = Money::from_micros(row.get(1)?);
            let credit_used = Money::from_micros(row.get(2)?);
            Ok((AccountId::new(row.get(0)?), Balance { balance, credit_used }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn put_balance(&self, account: AccountId, balance: Balance) -> Result<(), TableError> {
        let Balance { balance, credit_used } = balance;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO balance (account, balance, credit_used) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![account.get(), balance.as_micros(), credit_used.as_micros()])?;
        Ok(())
    }
}

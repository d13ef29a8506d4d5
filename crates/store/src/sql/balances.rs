//! SQL for account balances.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, Row, RowKey, params};
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{BalanceChange, BalanceRows, TableError};

impl SqlTables<'_> {
    fn put_balance(&self, account: AccountId, balance: Balance) -> Result<(), TableError> {
        let Balance { balance, credit_used } = balance;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO balance (account, balance, credit_used) VALUES (?1, ?2, ?3)",
            )?
            .change(
                RowKey { table: "balance", row: account.get().into() },
                params![account.get(), balance.as_micros(), credit_used.as_micros()],
            )?;
        Ok(())
    }
}

impl BalanceRows for SqlTables<'_> {
    fn change_balance(&self, change: &BalanceChange) -> Result<(), TableError> {
        match change {
            BalanceChange::Put { account, balance } => self.put_balance(*account, *balance),
        }
    }

    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError> {
        let mut statement = self.connection.prepare("SELECT balance, credit_used, account FROM balance")?;
        let rows = statement.query_map([], |row| Ok((AccountId::new(row.get(2)?), read_row(row)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns an account's balance; zero if it has no row.
pub(crate) fn read(connection: &Connection, account: AccountId) -> Result<Balance, TableError> {
    let found = connection
        .prepare_cached("SELECT balance, credit_used FROM balance WHERE account = ?1")?
        .query_row([account.get()], read_row)
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn read_row(row: &Row<'_>) -> crate::sql::Result<Balance> {
    Ok(Balance { balance: Money::from_micros(row.get(0)?), credit_used: Money::from_micros(row.get(1)?) })
}

#[cfg(test)]
mod tests {
    use crate::sql::SqlTables;
    use crate::sqlite::schema;
    use hermod_domain::ids::AccountId;
    use hermod_domain::money::Money;
    use hermod_engine::ops::Balance;
    use hermod_engine::state::balances::Balances;

    const ALICE: AccountId = AccountId::new(1);

    fn balance(micros: i64) -> Balance {
        Balance { balance: Money::from_micros(micros), credit_used: Money::ZERO }
    }

    #[test]
    fn balance_changes_are_visible_within_a_batch_and_undone_by_its_rollback() {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let tables = SqlTables::of(&connection);
        let mut balances = Balances::load(&tables).unwrap();
        assert_eq!(balances.of(ALICE), Balance::default(), "a new account has balance zero");
        balances.set(ALICE, balance(5));
        assert_eq!(balances.of(ALICE), balance(5));
        balances.rolled_back();
        assert_eq!(balances.of(ALICE), Balance::default());

        balances.set(ALICE, balance(7));
        balances.write(&tables);
        tables.apply().unwrap();
        balances.committed();
        balances.rolled_back();
        assert_eq!(balances.of(ALICE), balance(7), "a rollback keeps committed changes");
        assert_eq!(Balances::load(&tables).unwrap().of(ALICE), balance(7));
    }
}

//! SQL for account balances.

use crate::sql::{Connection, SqlTables, described};
use hermod_domain::ids::AccountId;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{BalanceRow, BalanceRows, TableError};

impl BalanceRows for SqlTables<'_> {
    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError> {
        read_all(self.connection)
    }
}

/// Returns an account's balance; zero if it has no row.
pub(crate) fn read(connection: &Connection, account: AccountId) -> Result<Balance, TableError> {
    let row: Option<BalanceRow> = described::row(connection, "WHERE account = ?1", [account.get()])?;
    Ok(row.map(|row| row.balance).unwrap_or_default())
}

/// Returns the balance of every account that has a row.
pub(crate) fn read_all(connection: &Connection) -> Result<Vec<(AccountId, Balance)>, TableError> {
    let rows: Vec<BalanceRow> = described::rows(connection, "", [])?;
    Ok(rows.into_iter().map(|row| (row.account, row.balance)).collect())
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

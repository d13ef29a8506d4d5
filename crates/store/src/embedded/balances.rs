//! Every account's balance, in memory, so that charging costs no look-up. Each account's row is written once per batch.

use crate::embedded::overlay::Overlay;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{TableError, Tables};

pub(crate) struct Balances(Overlay<Balance>);

impl Balances {
    pub(crate) fn load(tables: &dyn Tables) -> Result<Balances, TableError> {
        Ok(Balances(Overlay::over(tables.all_balances()?.into_iter().collect())))
    }

    pub(crate) fn of(&self, account: AccountId) -> Balance {
        self.0.get(account).unwrap_or_default()
    }

    pub(crate) fn set(&mut self, account: AccountId, balance: Balance) {
        self.0.set(account, balance);
    }

    /// Writes the changed rows. They count as durable only after [`Balances::committed`].
    pub(crate) fn write(&self, tables: &dyn Tables) -> Result<(), TableError> {
        self.0.changed().try_for_each(|(account, balance)| tables.put_balance(account, balance))
    }

    pub(crate) fn committed(&mut self) {
        self.0.committed();
    }

    pub(crate) fn rolled_back(&mut self) {
        self.0.rolled_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::schema;
    use crate::sqlite::SqliteTables;
    use hermod_domain::money::Money;

    const ALICE: AccountId = AccountId::new(1);

    fn balance(micros: i64) -> Balance {
        Balance { balance: Money::from_micros(micros), credit_used: Money::ZERO }
    }

    #[test]
    fn changes_of_a_batch_see_each_other_and_vanish_with_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let tables = SqliteTables { connection: &connection };
        let mut balances = Balances::load(&tables).unwrap();
        assert_eq!(balances.of(ALICE), Balance::default(), "an account nobody has paid into has nothing");
        balances.set(ALICE, balance(5));
        assert_eq!(balances.of(ALICE), balance(5));
        balances.rolled_back();
        assert_eq!(balances.of(ALICE), Balance::default());

        balances.set(ALICE, balance(7));
        balances.write(&tables).unwrap();
        balances.committed();
        balances.rolled_back();
        assert_eq!(balances.of(ALICE), balance(7), "what is durable stays");
        assert_eq!(Balances::load(&tables).unwrap().of(ALICE), balance(7));
    }
}

//! Every account's balance, in memory, so that charging costs no look-up. Each account's row is written once per batch.

use crate::embedded::overlay::Overlay;
use crate::fault::StoreFault;
use crate::ops::Balance;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use rusqlite::{Connection, params};

pub(crate) struct Balances(Overlay<Balance>);

impl Balances {
    pub(crate) fn load(connection: &Connection) -> Result<Balances, StoreFault> {
        let mut statement = connection.prepare("SELECT account, balance, credit_used FROM balance")?;
        let rows = statement.query_map([], |row| {
            let balance = Money::from_micros(row.get(1)?);
            let credit_used = Money::from_micros(row.get(2)?);
            Ok((AccountId::new(row.get(0)?), Balance { balance, credit_used }))
        })?;
        Ok(Balances(Overlay::over(rows.collect::<Result<_, _>>()?)))
    }

    pub(crate) fn of(&self, account: AccountId) -> Balance {
        self.0.get(account).unwrap_or_default()
    }

    pub(crate) fn set(&mut self, account: AccountId, balance: Balance) {
        self.0.set(account, balance);
    }

    /// Writes the changed rows. They count as durable only after [`Balances::committed`].
    pub(crate) fn write(&self, connection: &Connection) -> Result<(), StoreFault> {
        for (account, Balance { balance, credit_used }) in self.0.changed() {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO balance (account, balance, credit_used) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![account.get(), balance.as_micros(), credit_used.as_micros()])?;
        }
        Ok(())
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

    const ALICE: AccountId = AccountId::new(1);

    fn balance(micros: i64) -> Balance {
        Balance { balance: Money::from_micros(micros), credit_used: Money::ZERO }
    }

    #[test]
    fn changes_of_a_batch_see_each_other_and_vanish_with_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let connection = schema::open_for_writing(folder.path()).unwrap();
        let mut balances = Balances::load(&connection).unwrap();
        assert_eq!(balances.of(ALICE), Balance::default(), "an account nobody has paid into has nothing");
        balances.set(ALICE, balance(5));
        assert_eq!(balances.of(ALICE), balance(5));
        balances.rolled_back();
        assert_eq!(balances.of(ALICE), Balance::default());

        balances.set(ALICE, balance(7));
        balances.write(&connection).unwrap();
        balances.committed();
        balances.rolled_back();
        assert_eq!(balances.of(ALICE), balance(7), "what is durable stays");
        assert_eq!(Balances::load(&connection).unwrap().of(ALICE), balance(7));
    }
}

//! Every account's balance, in memory, as of the batch under way: charges of one batch see each other, and each
//! account's row is written once per batch. A batch that is rolled back leaves no trace here.

use crate::fault::StoreFault;
use crate::ops::Balance;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use rusqlite::{Connection, params};
use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Balances {
    durable: HashMap<AccountId, Balance>,
    /// What the batch under way has made of some of them.
    changed: HashMap<AccountId, Balance>,
}

impl Balances {
    pub(crate) fn load(connection: &Connection) -> Result<Balances, StoreFault> {
        let mut statement = connection.prepare("SELECT account, balance, credit_used FROM balance")?;
        let rows = statement.query_map([], |row| {
            let balance = Money::from_micros(row.get(1)?);
            let credit_used = Money::from_micros(row.get(2)?);
            Ok((AccountId::new(row.get(0)?), Balance { balance, credit_used }))
        })?;
        Ok(Balances { durable: rows.collect::<Result<_, _>>()?, changed: HashMap::new() })
    }

    pub(crate) fn of(&self, account: AccountId) -> Balance {
        self.changed.get(&account).or_else(|| self.durable.get(&account)).copied().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, account: AccountId, balance: Balance) {
        self.changed.insert(account, balance);
    }

    /// Writes the changed rows. They count as durable only after [`Balances::committed`].
    pub(crate) fn write(&self, connection: &Connection) -> Result<(), StoreFault> {
        for (account, Balance { balance, credit_used }) in &self.changed {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO balance (account, balance, credit_used) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![account.get(), balance.as_micros(), credit_used.as_micros()])?;
        }
        Ok(())
    }

    pub(crate) fn committed(&mut self) {
        self.durable.extend(self.changed.drain());
    }

    pub(crate) fn rolled_back(&mut self) {
        self.changed.clear();
    }
}

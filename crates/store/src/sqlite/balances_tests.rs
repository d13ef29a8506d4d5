//! Tests of the balances over SQLite.

use crate::sqlite::SqliteTables;
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
fn changes_of_a_batch_see_each_other_and_vanish_with_it() {
    let folder = tempfile::TempDir::new().unwrap();
    let connection = schema::open_for_writing(folder.path()).unwrap();
    let tables = SqliteTables::of(&connection);
    let mut balances = Balances::load(&tables).unwrap();
    assert_eq!(balances.of(ALICE), Balance::default(), "an account nobody has paid into has nothing");
    balances.set(ALICE, balance(5));
    assert_eq!(balances.of(ALICE), balance(5));
    balances.rolled_back();
    assert_eq!(balances.of(ALICE), Balance::default());

    balances.set(ALICE, balance(7));
    balances.write(&tables);
    tables.apply().unwrap();
    balances.committed();
    balances.rolled_back();
    assert_eq!(balances.of(ALICE), balance(7), "what is durable stays");
    assert_eq!(Balances::load(&tables).unwrap().of(ALICE), balance(7));
}

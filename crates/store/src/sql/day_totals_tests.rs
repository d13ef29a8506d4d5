//! Unit tests of `day_totals.rs`.

use crate::sql::SqlTables;
use crate::sqlite::schema;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_engine::ops::DayTotals;
use hermod_engine::state::day_totals::Today;

const MONDAY: Day = Day::new(20_771);

#[test]
fn totals_of_another_day_are_zero() {
    let folder = tempfile::TempDir::new().unwrap();
    let connection = schema::open_for_writing(folder.path()).unwrap();
    let tables = SqlTables::of(&connection);
    let (alice, tuesday) = (AccountId::new(1), MONDAY.next());
    let mut today = Today::load(&tables, MONDAY).unwrap();
    let monday = DayTotals { day: MONDAY, messages: 3, spend: Money::from_micros(30) };
    today.set(alice, monday);
    today.write(&tables);
    tables.apply().unwrap();
    today.committed();
    assert_eq!(today.of(alice, MONDAY), monday);
    assert_eq!(today.of(alice, tuesday), DayTotals::none(tuesday));
    today.set(alice, DayTotals { day: tuesday, messages: 1, spend: Money::ZERO });
    today.rolled_back();
    assert_eq!(today.of(alice, MONDAY), monday);
    connection.execute("INSERT INTO balance VALUES (1, 0, 0)", []).unwrap();
    assert_eq!(Today::load(&tables, MONDAY).unwrap().of(alice, MONDAY), monday);
    assert_eq!(Today::load(&tables, tuesday).unwrap().of(alice, MONDAY), DayTotals::none(MONDAY));
}

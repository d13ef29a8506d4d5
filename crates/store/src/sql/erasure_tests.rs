//! Unit tests of `erasure.rs`.

use super::*;
use crate::sqlite::schema::open_for_writing;

#[test]
fn one_read_finds_the_messages_of_all_erasures() {
    let folder = tempfile::TempDir::new().unwrap();
    let connection = open_for_writing(folder.path()).unwrap();
    let until = Timestamp::from_millis(1_794_659_400_000);
    let first = MessageId::first_at(until).as_i64();
    for (place, (account, to)) in (0..).zip([(1, 1_234_501), (1, 1_234_502), (2, 1_234_502), (1, 1_234_503)])
    {
        connection
                .execute(
                    "INSERT INTO message (id, account, connection, carrier, source, dest, encoding, parts, reference, cost,
                         expires_at, state, dlr, err) VALUES (?1, ?2, 1, 1, '', ?3, 0, 1, 0, 0, 0, 0, 0, 0)",
                    params![first + place, account, to],
                )
                .unwrap();
    }
    let scope = |number, account: Option<u32>| ErasureScope {
        number: Msisdn::from_number(number).unwrap(),
        account: account.map(AccountId::new),
        until,
    };
    let scopes = ErasureScopes::new(&[scope(1_234_501, None), scope(1_234_502, Some(2))]).unwrap();
    let page = messages_to(&connection, &scopes, None).unwrap();
    let found: Vec<i64> = page.found.iter().map(|found| found.id.as_i64() - first).collect();
    assert_eq!((found.as_slice(), page.last), (&[0, 2][..], None));
}

#[test]
fn message_to_erase_is_read_by_its_key_alone() {
    let folder = tempfile::TempDir::new().unwrap();
    let connection = open_for_writing(folder.path()).unwrap();
    let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {ERASABLE}")).unwrap();
    let steps = plan.query_map([0], |row| row.get::<String>(3)).unwrap();
    let steps: Vec<String> = steps.map(Result::unwrap).collect();
    assert_eq!(steps, ["SEARCH message USING INTEGER PRIMARY KEY (rowid=?)"]);
}

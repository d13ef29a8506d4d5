//! Unit tests of `pepper.rs`.

use super::*;

const TABLE: &str = "CREATE TABLE pepper_fingerprint (
    id INTEGER PRIMARY KEY CHECK (id = 1), fingerprint BLOB NOT NULL) STRICT";

#[test]
fn first_pepper_claims_the_store_and_later_ones_are_compared() {
    let connection = Connection::in_memory();
    connection.execute_batch(TABLE).unwrap();
    assert_eq!(read(&connection).unwrap(), None);
    assert!(claim(&connection, *b"a pepper").unwrap());
    assert!(claim(&connection, *b"a pepper").unwrap(), "again");
    assert!(!claim(&connection, *b"another!").unwrap());
    assert_eq!(read(&connection).unwrap(), Some(*b"a pepper"));
}

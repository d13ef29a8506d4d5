//! Migrations with lists of their own, from a made-up older schema.

use super::*;
use tempfile::TempDir;

const TABLES: &str = "CREATE TABLE message (id INTEGER PRIMARY KEY); INSERT INTO message (id) VALUES (7);";
const ADD: &str = "ALTER TABLE message ADD COLUMN parts INTEGER NOT NULL DEFAULT 1;";
const BROKEN: &str = "CREATE TABLE other (id INTEGER); INSERT INTO absent (id) VALUES (1);";

#[test]
fn older_schema_keeps_its_rows_gets_what_is_new_and_is_closed_to_older_releases() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FILE_NAME);
    let connection = open(&path).unwrap();
    migrate(&connection, &[TABLES]).unwrap();
    assert_eq!(check_version(&connection, &path, &[TABLES, ADD]).unwrap(), (1, 2));
    migrate(&connection, &[TABLES, ADD]).unwrap();
    let row = |row: &crate::sql::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
    assert_eq!(connection.query_row("SELECT id, parts FROM message", [], row).unwrap(), (7, 1));
    migrate(&connection, &[TABLES, ADD]).expect("all are applied");

    migrate(&connection, &[TABLES, ADD, BROKEN]).expect_err("it fails");
    let tables = "SELECT count(*) FROM sqlite_schema";
    assert_eq!(connection.query_row(tables, [], |row| row.get::<i64>(0)).unwrap(), 1, "the table is undone");
    assert_eq!(check_version(&connection, &path, &[TABLES, ADD]).unwrap(), (2, 2));
    let refused = StoreError::from(check_version(&connection, &path, &[TABLES]).unwrap_err());
    assert!(matches!(refused, StoreError::TooNew { found: 2, known: 1, .. }), "{refused}");
}

#[test]
fn file_that_is_no_database_is_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, [b'x'; 4096]).unwrap();
    for error in [open_for_writing(folder.path()).map(drop), open_existing(folder.path()).map(drop)] {
        let error = StoreError::from(error.unwrap_err());
        assert!(error.is_file_damaged());
        let expect = format!(
            "database error: {}: file is not a database; the file was damaged or overwritten: restore a backup of it",
            path.display()
        );
        assert_eq!(error.to_string(), expect);
    }
}

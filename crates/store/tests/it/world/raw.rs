//! The tables of a store beside the store: to read rows, to damage them, or to hold up the writer.

use super::{PATIENCE, block, postgres, server};
use rusqlite::Connection;
use rusqlite::types::FromSql;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// How often [`sqlite`] looks whether everything is flushed, at intervals of 5 ms. A flush is due after half a second.
const FLUSH_POLLS_MAX: usize = 4_000;

/// A second access to the tables of a folder, in SQL that both databases understand. [`for_postgres`] translates blobs,
/// [`for_sqlite`] the tables of texts.
pub(crate) enum Raw {
    Sqlite(Connection),
    Postgres(PathBuf),
}

/// Keeps the writer from committing until it is dropped.
pub(crate) enum Lock {
    Sqlite { _transaction: Connection },
    Postgres { _transaction: mpsc::Sender<()> },
}

/// Opens a second access to the tables of a folder.
pub(crate) fn raw(folder: &Path) -> Raw {
    match server(folder) {
        Some(_) => Raw::Postgres(folder.to_owned()),
        None => Raw::Sqlite(sqlite(folder)),
    }
}

/// Opens a second SQLite connection, once the store has flushed every acknowledged batch: the mark has the number of the last
/// one.
pub(crate) fn sqlite(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("hermod.db")).expect("the file opens");
    connection.busy_timeout(PATIENCE).expect("a time-out");
    for _ in 0..FLUSH_POLLS_MAX {
        let mark = std::fs::read(folder.join("hermod.mark")).unwrap_or_default();
        let acknowledged = mark.first_chunk().map_or(0, |number| u64::from_be_bytes(*number).cast_signed());
        let flushed = connection.query_row("SELECT commits FROM writer", [], |row| row.get::<_, i64>(0));
        if flushed.is_err() || flushed.is_ok_and(|flushed| flushed >= acknowledged) {
            return connection;
        }
        block(Duration::from_millis(5));
    }
    println!("not everything is flushed");
    connection
}

impl Raw {
    /// Runs statements. Returns how many rows the last one changed.
    #[track_caller]
    pub(crate) fn change(&self, sql: &str) -> u64 {
        match self {
            Raw::Sqlite(connection) => {
                let sql = for_sqlite(sql);
                connection.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                connection.changes()
            }
            Raw::Postgres(folder) => postgres::change(folder, &for_postgres(sql)),
        }
    }

    /// Does the same with numbers in the place of `?1` and so on.
    #[track_caller]
    pub(crate) fn change_with(&self, sql: &str, numbers: &[i64]) -> u64 {
        let put = |sql: String, (place, number): (i32, &i64)| {
            sql.replace(&format!("?{place}"), &number.to_string())
        };
        self.change(&(1..).zip(numbers).fold(sql.to_owned(), put))
    }

    /// Returns the number that a query finds.
    #[track_caller]
    pub(crate) fn number(&self, query: &str) -> i64 {
        self.numbers(query)[0]
    }

    /// Returns the numbers in the first column of a query.
    #[track_caller]
    pub(crate) fn numbers(&self, query: &str) -> Vec<i64> {
        match self {
            Raw::Sqlite(connection) => column(connection, query),
            Raw::Postgres(_) => {
                self.texts(query).iter().map(|text| text.parse().expect("a number")).collect()
            }
        }
    }

    /// Returns the texts in the first column of a query.
    #[track_caller]
    pub(crate) fn texts(&self, query: &str) -> Vec<String> {
        match self {
            Raw::Sqlite(connection) => column(connection, query),
            Raw::Postgres(folder) => postgres::texts(folder, &for_postgres(query)),
        }
    }

    /// Returns the blobs in the first column of a query.
    #[track_caller]
    pub(crate) fn blobs(&self, query: &str) -> Vec<Vec<u8>> {
        match self {
            Raw::Sqlite(connection) => column(connection, query),
            Raw::Postgres(_) => self.texts(query).iter().map(|text| from_hex(text)).collect(),
        }
    }

    /// Returns the names of all tables whose names contain `part`, in order.
    pub(crate) fn tables_with(&self, part: &str) -> Vec<String> {
        let mut tables = self.texts(match self {
            Raw::Sqlite(_) => "SELECT name FROM sqlite_schema WHERE type = 'table'",
            Raw::Postgres(_) => "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
        });
        tables.retain(|table| table.contains(part));
        tables.sort();
        tables
    }

    /// Makes the database reject changes of rows, with the error "poisoned". `change` is for example `INSERT ON message`.
    pub(crate) fn poison(&self, name: &str, change: &str, condition: &str) {
        match self {
            Raw::Sqlite(_) => self.change(&format!(
                "CREATE TRIGGER {name} BEFORE {change} WHEN {condition}
                 BEGIN SELECT RAISE(ABORT, 'poisoned'); END"
            )),
            Raw::Postgres(_) => self.change(&format!(
                "CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$;
                 CREATE TRIGGER {name} BEFORE {change} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION {name}()"
            )),
        };
    }

    /// Ends [`Raw::poison`].
    pub(crate) fn cure(&self, name: &str) {
        match self {
            Raw::Sqlite(_) => self.change(&format!("DROP TRIGGER {name}")),
            Raw::Postgres(_) => self.change(&format!("DROP FUNCTION {name}() CASCADE")),
        };
    }

    /// Keeps a transaction open on PostgreSQL that has read the messages, until the result is dropped.
    pub(crate) fn read_for_long(&self) -> mpsc::Sender<()> {
        match self {
            Raw::Sqlite(_) => unreachable!("only for PostgreSQL"),
            Raw::Postgres(folder) => postgres::hold(
                folder,
                "BEGIN; SELECT count(*) FROM message; SELECT count(*) FROM message_text",
            ),
        }
    }

    /// Keeps the writer from committing.
    pub(crate) fn lock(self) -> Lock {
        match self {
            Raw::Sqlite(connection) => {
                connection.execute_batch("BEGIN IMMEDIATE").expect("the lock");
                Lock::Sqlite { _transaction: connection }
            }
            Raw::Postgres(folder) => {
                let lock = "BEGIN; LOCK TABLE writer IN ACCESS EXCLUSIVE MODE";
                Lock::Postgres { _transaction: postgres::hold(&folder, lock) }
            }
        }
    }
}

/// Writes a blob as a literal for [`Raw`].
pub(crate) fn blob(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{digits}'")
}

#[track_caller]
fn column<T: FromSql>(connection: &Connection, query: &str) -> Vec<T> {
    let query = for_sqlite(query);
    let mut statement = connection.prepare(&query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("values")
}

/// Names the table of the texts: the embedded store has them in the rows of messages.
fn for_sqlite(sql: &str) -> String {
    sql.replace("message_with_text", "message").replace("message_text", "message")
}

/// Spells blobs as PostgreSQL does: `x'00ff'` after a space becomes `'\x00ff'::bytea`.
fn for_postgres(sql: &str) -> String {
    let mut pieces = sql.split(" x'");
    let first = pieces.next().unwrap_or_default().to_owned();
    let translated = pieces.fold(first, |before, piece| {
        let (digits, rest) = piece.split_once('\'').expect("the end of a blob");
        format!("{before} '\\x{digits}'::bytea{rest}")
    });
    translated.replace("AS BLOB", "AS bytea")
}

/// Reads a blob as PostgreSQL writes it: `\x00ff`.
fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.strip_prefix("\\x").expect("a blob").as_bytes();
    let octet = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).expect("digits");
        u8::from_str_radix(digits, 16).expect("two digits")
    };
    digits.chunks(2).map(octet).collect()
}

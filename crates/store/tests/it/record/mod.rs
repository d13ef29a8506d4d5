//! The record: what the follower writes, how it catches up, and what queries return.

mod auditing;
mod following;
mod history_steps;
mod isolation;
mod on_nodes;
mod retention;
mod search_store;
mod timeline;
mod unusable;

pub(crate) use isolation::refused_request;

use crate::world::{Raw, World};
use rusqlite::Connection;

/// Opens the record beside the store's own connections.
fn record_of(world: &World) -> Connection {
    let connection = Connection::open(world.path().join("record.db")).expect("the record opens");
    connection.busy_timeout(crate::world::PATIENCE).expect("a time-out");
    connection
}

fn number(connection: &Connection, query: &str) -> i64 {
    connection.query_row(query, [], |row| row.get(0)).expect("a number")
}

/// What [`DIFFERENT`] needs of the tables of a store on PostgreSQL, and queries that return the statements to copy it.
const STORE: &str = "
    ATTACH ':memory:' AS s;
    CREATE TABLE s.message (id INTEGER, account INTEGER, carrier INTEGER, cost INTEGER, dest INTEGER,
                            settled_at INTEGER, state INTEGER, dlr INTEGER, err INTEGER);
    CREATE TABLE s.ledger (message INTEGER, balance INTEGER);";
const COPY_MESSAGES: &str = "
    SELECT format('INSERT INTO s.message VALUES (%L, %L, %L, %L, %L, %L, %L, %L, %L)',
                  id, account, carrier, cost, dest, settled_at, state, dlr, err) FROM message";
const COPY_LEDGER: &str =
    "SELECT format('INSERT INTO s.ledger VALUES (%L, %L)', message, balance) FROM ledger";

/// Messages that the store and the record have differently, without states of open ones.
const DIFFERENT: &str = "
    SELECT count(*) FROM (SELECT id FROM s.message UNION SELECT id FROM message) i
    LEFT JOIN s.message s ON s.id = i.id LEFT JOIN message r ON r.id = i.id
    LEFT JOIN s.ledger l ON l.message = i.id
    WHERE s.id IS NULL OR r.id IS NULL OR s.account <> r.account OR s.carrier <> r.carrier OR s.cost <> r.cost
        OR s.dest <> r.recipient OR (s.settled_at IS NULL) <> (r.settled_ms IS NULL)
        OR s.settled_at IS NOT NULL AND (s.state <> r.state OR s.dlr <> r.code OR s.err <> r.err)
        OR l.balance IS NOT r.refund";

/// Makes the store's tables of [`DIFFERENT`] readable beside the record, as those of the database `s`.
fn attach_store(record: &Connection, world: &World) {
    let raw = world.raw();
    if let Raw::Sqlite(_) = raw {
        let file = world.path().join("hermod.db");
        record.execute("ATTACH ?1 AS s", [file.to_string_lossy()]).expect("the store");
        return;
    }
    record.execute_batch(STORE).expect("tables for a copy");
    for insert in [COPY_MESSAGES, COPY_LEDGER].map(|copy| raw.texts(copy)).concat() {
        record.execute(&insert, []).expect("a row");
    }
}

/// Asserts that the record has what the store has.
async fn agrees(world: &World) {
    world.store.record().flush().await.expect("the record is complete");
    let record = record_of(world);
    attach_store(&record, world);
    assert_eq!(number(&record, DIFFERENT), 0, "messages that differ");
    assert_eq!(
        number(&record, "SELECT count(*) FROM by_account"),
        number(&record, "SELECT count(*) FROM message")
    );
}

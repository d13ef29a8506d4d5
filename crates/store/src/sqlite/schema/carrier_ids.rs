//! Migration 3: carrier ids are found by a normalised key, receipts without a part get a table of their own, and deliveries are
//! counted. Migration 21: an id that a carrier gave to several parts has a row for each. They are code because SQL can neither
//! compute the keys nor name the tables of the days.

use crate::sql::carrier_ids::{create_table, split_id};
use crate::sql::day_tables::bucket_days;
use crate::sql::{Connection, Row, params};
use hermod_domain::ids::RemoteId;
use hermod_domain::time::Day;
use hermod_engine::tables::TableError;

const TABLES: &str = "
-- 1: the carrier gets the whole text in one submit_sm. The message has one row in `part`, whatever `parts` says.
ALTER TABLE message ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
-- Optional parameters (TLVs) of the customer, passed on to the carrier.
ALTER TABLE message ADD COLUMN tlvs BLOB;

-- Parked receipts: they matched no part. `raw` is the id as the carrier wrote it, empty where that equals `key`.
CREATE TABLE parked (
    carrier     INTEGER NOT NULL,
    key         BLOB    NOT NULL,
    raw         BLOB    NOT NULL,
    verdict     INTEGER NOT NULL,
    err         INTEGER NOT NULL,
    word        TEXT,
    source      INTEGER,
    at          INTEGER NOT NULL,
    ambiguous   INTEGER NOT NULL,
    PRIMARY KEY (carrier, key, raw)
) WITHOUT ROWID, STRICT;
CREATE INDEX parked_at ON parked (carrier, at);

-- The numbers of receipts that were given up: after 72 hours, or because too many were parked.
CREATE TABLE receipt_loss (
    day         INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    too_old     INTEGER NOT NULL,
    crowded_out INTEGER NOT NULL,
    PRIMARY KEY (day, carrier)
) WITHOUT ROWID, STRICT;

-- The results of parts that carriers accepted, by the day of acceptance.
CREATE TABLE delivery (
    day         INTEGER NOT NULL,
    carrier     INTEGER NOT NULL,
    country     TEXT    NOT NULL,
    network     TEXT    NOT NULL,
    sent        INTEGER NOT NULL,
    delivered   INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    expired     INTEGER NOT NULL,
    rejected    INTEGER NOT NULL,
    within_5s   INTEGER NOT NULL,
    within_15s  INTEGER NOT NULL,
    within_1m   INTEGER NOT NULL,
    within_5m   INTEGER NOT NULL,
    within_1h   INTEGER NOT NULL,
    longer      INTEGER NOT NULL,
    time_ms     INTEGER NOT NULL,
    PRIMARY KEY (day, carrier, country, network)
) WITHOUT ROWID, STRICT;
";

/// Creates the tables, and converts each day's table of carrier ids.
pub(super) fn migrate(connection: &Connection) -> Result<(), TableError> {
    connection.execute_batch(TABLES)?;
    for day in bucket_days(connection, "remote")? {
        connection.execute_batch(&format!("ALTER TABLE remote_{day} RENAME TO before_3"))?;
        connection.execute_batch(&format!(
            "CREATE TABLE remote_{day} (
                 carrier INTEGER NOT NULL, key BLOB NOT NULL, raw BLOB NOT NULL, account INTEGER NOT NULL,
                 message INTEGER NOT NULL, part INTEGER NOT NULL, dest INTEGER NOT NULL, at INTEGER NOT NULL,
                 PRIMARY KEY (carrier, key, raw)
             ) WITHOUT ROWID, STRICT"
        ))?;
        convert(connection, Day::new(day))?;
        connection.execute_batch("DROP TABLE before_3")?;
    }
    Ok(())
}

/// Converts the rows of one day. A row was an id with its part, or a receipt without one.
fn convert(connection: &Connection, day: Day) -> Result<(), TableError> {
    let mut rows = connection.prepare(
        "SELECT r.carrier, r.remote, r.account, r.message, r.part, r.verdict, r.err, ifnull(m.dest, 0)
         FROM before_3 r LEFT JOIN message m ON m.id = r.message",
    )?;
    let mut rows = rows.query([])?;
    // The time of the response is unknown (0). Ids of one day with equal keys still differ in `raw`.
    let mut tie = connection.prepare(&format!(
        "INSERT INTO remote_{} (carrier, key, raw, account, message, part, dest, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)",
        day.get()
    ))?;
    let mut park = connection.prepare(
        // A later receipt replaces one that was not final: 1 is ENROUTE, 6 is no news.
        "INSERT INTO parked (carrier, key, raw, verdict, err, at, ambiguous) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)
         ON CONFLICT DO UPDATE SET verdict = excluded.verdict, err = excluded.err, at = excluded.at
             WHERE verdict IN (1, 6)",
    )?;
    // The time of parking is unknown too: the end of the day is the latest possible.
    let parked_at = day.next().start().as_millis();
    while let Some(row) = rows.next()? {
        let remote = read_remote(&row)?;
        let (key, raw) = split_id(&remote);
        let carrier: i64 = row.get(0)?;
        let verdict: Option<i64> = row.get(5)?;
        if let Some(verdict) = verdict {
            park.execute(params![carrier, key.octets(), raw, verdict, row.get::<i64>(6)?, parked_at])?;
        } else {
            let (account, message, part): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
            tie.execute(params![carrier, key.octets(), raw, account, message, part, row.get::<i64>(7)?])?;
        }
    }
    Ok(())
}

/// Converts each day's table, also of days whose rows are being deleted, so that the part belongs to the key.
pub(super) fn keep_reused_ids(connection: &Connection) -> Result<(), TableError> {
    for kind in ["remote", "retired_remote"] {
        for day in bucket_days(connection, kind)? {
            let table = format!("{kind}_{day}");
            connection.execute_batch(&format!("ALTER TABLE {table} RENAME TO before_21"))?;
            connection.execute_batch(&create_table(&table))?;
            connection.execute_batch(&format!(
                "INSERT INTO {table} (carrier, key, raw, message, part, account, dest, at)
                     SELECT carrier, key, raw, message, part, account, dest, at FROM before_21;
                 DROP TABLE before_21"
            ))?;
        }
    }
    Ok(())
}

fn read_remote(row: &Row<'_>) -> Result<RemoteId, TableError> {
    let octets: Vec<u8> = row.get(1)?;
    RemoteId::from_octets(&octets).map_err(TableError::unreadable)
}

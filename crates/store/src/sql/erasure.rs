//! SQL for erasing a phone number.

use crate::sql::SqlTables;
use crate::sql::carrier_ids::split_id;
use crate::sql::columns::{stored_message, stored_number};
use crate::sql::erasure_scopes::ErasureScopes;
use crate::sql::message_texts::erase_text;
use crate::sql::purging::{origin_to_blob, read_origin};
use crate::sql::read_results::{CoveredInbound, CoveredMessage, Page};
use crate::sql::{Connection, OptionalExtension, Params, Row, params};
use hermod_domain::erasure::{ErasureScope, KeptErasure};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::Endpoint;
use hermod_engine::tables::{
    AttemptKey, DayCarrierId, ErasableKind, ErasableMessage, ErasureChange, ErasureRows, EventKey,
    InboundKey, OriginRow, PartKey, TableError,
};

/// Rows per read.
pub(crate) const ROWS_PER_READ: usize = 10_000;
/// Runs in the writer's batch for every message to erase.
const ERASABLE: &str = "SELECT carrier, dest, origin, settled_at IS NOT NULL FROM message WHERE id = ?1";

fn put_erased_message(
    connection: &Connection,
    message: MessageId,
    to: u64,
    origin: Option<&OriginRow>,
) -> Result<(), TableError> {
    let origin = origin.map(origin_to_blob);
    connection
        .prepare_cached("UPDATE message SET dest = ?2, origin = ?3 WHERE id = ?1")?
        .execute(params![message.as_i64(), to.cast_signed(), origin.as_deref()])?;
    erase_text(connection, message)
}

fn erase_unnamed_parts(
    connection: &Connection,
    carrier: CarrierId,
    to: Msisdn,
    message: MessageId,
) -> Result<(), TableError> {
    connection
        .prepare_cached("DELETE FROM unnamed WHERE carrier = ?1 AND dest = ?2 AND message = ?3")?
        .execute(params![carrier.get(), stored(to), message.as_i64()])?;
    Ok(())
}

fn put_erased_inbound(connection: &Connection, key: InboundKey, from: u64) -> Result<(), TableError> {
    connection
        .prepare_cached(
            "UPDATE inbound SET source = '+' || ?3, text = '', wire = NULL WHERE account = ?1 AND id = ?2",
        )?
        .execute(params![key.account.get(), key.id.cast_signed(), from.cast_signed()])?;
    Ok(())
}

fn erase_others(connection: &Connection, kind: ErasableKind, scope: &ErasureScope) -> Result<(), TableError> {
    let (table, condition) = others(kind);
    let statement = match kind {
        ErasableKind::ParkedReceipt => format!("UPDATE {table} SET source = NULL WHERE {condition}"),
        ErasableKind::Review | ErasableKind::Conversation | ErasableKind::UnassignedInbound => {
            format!("DELETE FROM {table} WHERE {condition}")
        }
    };
    run(connection, &statement, params![stored(scope.number), scope.until.as_millis(), account_of(scope)])
}

fn erase_carrier_id(connection: &Connection, id: &DayCarrierId) -> Result<(), TableError> {
    let DayCarrierId { day, carrier, remote, part: PartKey { account: _, message, part } } = id;
    let (key, raw) = split_id(remote);
    run(
        connection,
        &format!(
            "UPDATE remote_{} SET dest = 0
             WHERE carrier = ?1 AND key = ?2 AND raw = ?3 AND message = ?4 AND part = ?5",
            day.get()
        ),
        params![carrier.get(), key.octets(), raw, message.as_i64(), part.get()],
    )
}

fn erase_response(connection: &Connection, attempt: AttemptKey) -> Result<(), TableError> {
    let AttemptKey { event: EventKey { endpoint: Endpoint { account, kind }, event }, no } = attempt;
    let nothing: &[u8] = &[];
    run(
        connection,
        "UPDATE webhook_attempt SET answer = ?5 WHERE account = ?1 AND kind = ?2 AND event = ?3 AND no = ?4",
        params![account.get(), kind.as_u8(), event.0.cast_signed(), no, nothing],
    )
}

fn keep_erasure(
    connection: &Connection,
    erasure: &KeptErasure,
    delete_before: Timestamp,
) -> Result<(), TableError> {
    let KeptErasure { digest, account, at } = erasure;
    run(
        connection,
        "INSERT INTO erasure (digest, account, at) VALUES (?1, ?2, ?3)
         ON CONFLICT (digest, account) DO UPDATE SET at = excluded.at WHERE excluded.at > erasure.at",
        params![digest.0, account.map_or(0, AccountId::get), at.as_millis()],
    )?;
    run(connection, "DELETE FROM erasure WHERE at < ?1", [delete_before.as_millis()])
}

fn run(connection: &Connection, statement: &str, values: impl Params) -> Result<(), TableError> {
    connection.execute(statement, values)?;
    Ok(())
}

impl ErasureRows for SqlTables<'_> {
    fn change_erasure(&self, change: &ErasureChange) -> Result<(), TableError> {
        overwrite_deleted(self.connection, true)?;
        let changed = match change {
            ErasureChange::Message { message, to, origin } => {
                put_erased_message(self.connection, *message, *to, origin.as_ref())
            }
            ErasureChange::UnnamedParts { carrier, to, message } => {
                erase_unnamed_parts(self.connection, *carrier, *to, *message)
            }
            ErasureChange::Inbound { key, from } => put_erased_inbound(self.connection, *key, *from),
            ErasureChange::Others { kind, scope } => erase_others(self.connection, *kind, scope),
            ErasureChange::CarrierId(id) => erase_carrier_id(self.connection, id),
            ErasureChange::Response(attempt) => erase_response(self.connection, *attempt),
            ErasureChange::Keep { erasure, delete_before } => {
                keep_erasure(self.connection, erasure, *delete_before)
            }
        };
        let back = overwrite_deleted(self.connection, false);
        changed.and(back)
    }

    fn count_erasable(&self, kind: ErasableKind, scope: &ErasureScope) -> Result<u64, TableError> {
        let (table, condition) = others(kind);
        let count: i64 = self.connection.query_row(
            &format!("SELECT count(*) FROM {table} WHERE {condition}"),
            params![stored(scope.number), scope.until.as_millis(), account_of(scope)],
            |row| row.get(0),
        )?;
        Ok(count.cast_unsigned())
    }

    fn erasable_message(&self, message: MessageId) -> Result<Option<ErasableMessage>, TableError> {
        let mut statement = self.connection.prepare_cached(ERASABLE)?;
        statement.query_row([message.as_i64()], |row| Ok(read_message(row))).optional()?.transpose()
    }
}

/// Sets whether SQLite overwrites deleted data with zeros, instead of leaving it in free pages.
fn overwrite_deleted(connection: &Connection, overwrite: bool) -> Result<(), TableError> {
    if let Connection::Postgres(_) = connection {
        // PostgreSQL has no such setting; its vacuum leaves deleted rows in pages until they are used again.
        return Ok(());
    }
    let value = if overwrite { "ON" } else { "OFF" };
    connection.query_row(&format!("PRAGMA secure_delete = {value}"), [], |_| Ok(()))?;
    Ok(())
}

/// Returns the table of a kind, and the condition of the rows with a number `?1` up to a time `?2` of an account `?3`, or of all.
fn others(kind: ErasableKind) -> (&'static str, &'static str) {
    match kind {
        ErasableKind::Review => ("review", "dest = ?1 AND opened_at <= ?2 AND (?3 IS NULL OR account = ?3)"),
        ErasableKind::Conversation => {
            ("conversation", "handset = ?1 AND at <= ?2 AND (?3 IS NULL OR account = ?3)")
        }
        ErasableKind::ParkedReceipt => ("parked", "source = ?1 AND at <= ?2 AND ?3 IS NULL"),
        ErasableKind::UnassignedInbound => (
            "unassigned_inbound",
            "ltrim(source, '+') = CAST(?1 AS TEXT) AND received_at <= ?2 AND ?3 IS NULL",
        ),
    }
}

/// Reads the next messages after one, and returns those that an erasure covers.
pub(crate) fn messages_to(
    connection: &Connection,
    scopes: &ErasureScopes,
    after: Option<MessageId>,
) -> Result<Page<CoveredMessage, MessageId>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, account, dest, settled_at IS NOT NULL FROM message
         WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3",
    )?;
    let bounds = params![after.map_or(0, MessageId::as_i64), scopes.first_left.as_i64(), rows_max()];
    page_of(statement.query(bounds)?, ROWS_PER_READ, |row| {
        let (id, to) = (stored_message(row, 0)?, Msisdn::from_number(row.get::<i64>(2)?.cast_unsigned()));
        let account = AccountId::new(row.get(1)?);
        let covered = to.filter(|to| scopes.cover(*to, account, id.accepted_at()));
        let has_ended = row.get(3)?;
        Ok((id, covered.map(|to| CoveredMessage { id, to, has_ended })))
    })
}

/// Reads the next MO messages after one, and returns those that an erasure covers.
pub(crate) fn inbound_from(
    connection: &Connection,
    scopes: &ErasureScopes,
    after: Option<InboundKey>,
) -> Result<Page<CoveredInbound, InboundKey>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT account, id, source, received_at, message
         FROM inbound WHERE (account, id) > (?1, ?2) ORDER BY account, id LIMIT ?3",
    )?;
    let (account, id) = after.map_or((0, 0), |key| (key.account.get(), key.id.cast_signed()));
    page_of(statement.query(params![account, id, rows_max()])?, ROWS_PER_READ, |row| {
        let key = InboundKey { account: AccountId::new(row.get(0)?), id: row.get::<i64>(1)?.cast_unsigned() };
        let (from, at) = (parse_number(&row.get::<String>(2)?), Timestamp::from_millis(row.get(3)?));
        let covered = from.filter(|from| scopes.cover(*from, key.account, at));
        let message = stored_message(row, 4)?;
        Ok((key, covered.map(|from| CoveredInbound { key, from, message })))
    })
}

/// Returns the number of a sender, as the tables of MO messages have it.
pub(super) fn parse_number(source: &str) -> Option<Msisdn> {
    Msisdn::parse_digits(source.trim_start_matches('+')).ok()
}

/// Reads a page of at most `limit` rows, and keeps what was found in them.
pub(super) fn page_of<T, K>(
    mut rows: crate::sql::Rows<'_>,
    limit: usize,
    read: impl Fn(&Row<'_>) -> Result<(K, Option<T>), TableError>,
) -> Result<Page<T, K>, TableError> {
    let mut page = Page { found: Vec::new(), last: None };
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let (place, found) = read(&row)?;
        count += 1;
        page.found.extend(found);
        page.last = Some(place);
    }
    if count < limit {
        page.last = None;
    }
    Ok(page)
}

fn rows_max() -> i64 {
    i64::try_from(ROWS_PER_READ).expect("a few thousand")
}

fn account_of(scope: &ErasureScope) -> Option<u32> {
    scope.account.map(AccountId::get)
}

fn stored(number: Msisdn) -> i64 {
    number.number().cast_signed()
}

fn read_message(row: &Row<'_>) -> Result<ErasableMessage, TableError> {
    Ok(ErasableMessage {
        carrier: CarrierId::new(row.get(0)?),
        to: stored_number(row.get(1)?)?,
        origin: read_origin(row, 2)?,
        has_ended: row.get(3)?,
    })
}

#[cfg(test)]
#[path = "erasure_tests.rs"]
mod tests;

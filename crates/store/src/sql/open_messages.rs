//! SQL that reads messages that have not ended, with the rows of their parts, many at once.

use crate::sql::blobs;
use crate::sql::part_rows::{KEY, TABLES, read as read_part};
use crate::sql::unreadable::{none_if_unreadable, sort_in};
use crate::sql::{Connection, Row};
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::money::Money;
use hermod_engine::maps::{HashMap, HashSet};
use hermod_engine::tables::{
    MessageKey, MessageOrigin, OpenMessage, OpenMessageRow, PartRow, Readings, TableError,
};
use rusqlite::types::Value;

/// Returns those of these messages that have parts. All parts of a message are in one of the two tables.
pub(super) fn read(
    connection: &Connection,
    keys: &[MessageKey],
) -> Result<Readings<OpenMessage>, TableError> {
    let mut parts: Readings<PartRow> = Readings::default();
    let mut messages: HashMap<MessageId, Option<OpenMessageRow>> = HashMap::default();
    let mut found: HashSet<MessageKey> = HashSet::default();
    for table in TABLES {
        let missing: Vec<[Value; 3]> =
            keys.iter().filter(|key| !found.contains(key)).map(|key| values_of(*key)).collect();
        if missing.is_empty() {
            break;
        }
        let mut statement = connection.prepare_cached(&format!(
            "SELECT p.carrier, p.account, p.message, p.no, p.state, p.doubts, p.resend, p.attempts, p.due_at,
                 p.expires_at, m.state, m.cost, m.connection, m.parts, m.origin
             FROM {table} p LEFT JOIN message m ON m.id = p.message
             WHERE p.carrier = ?1 AND p.account = ?2 AND p.message = ?3"
        ))?;
        statement.query_many::<3, TableError>(missing, |row| {
            sort_in(&mut parts, row, KEY, read_part(row))?;
            if let Some(part) = parts.rows.last()
                && !messages.contains_key(&part.key.message)
            {
                messages.insert(part.key.message, read_message(row)?);
            }
            Ok(())
        })?;
        found.extend(parts.rows.iter().map(|part| part.key));
        found.extend(parts.unreadable.iter().filter_map(|part| part.key.to_key()));
    }
    let unreadable: HashSet<MessageKey> =
        parts.unreadable.iter().filter_map(|part| part.key.to_key()).collect();
    parts.rows.retain(|part| !unreadable.contains(&part.key));
    parts.rows.sort_unstable_by_key(|part| (part.key, part.part));
    let rows = parts.rows.chunk_by(|one, next| one.key == next.key).map(|parts| OpenMessage {
        message: parts.first().and_then(|part| messages.remove(&part.key.message)).flatten(),
        parts: parts.to_vec(),
    });
    Ok(Readings { rows: rows.collect(), unreadable: parts.unreadable })
}

/// Returns the row of a part's message; none if there is none, or it cannot be read.
fn read_message(row: &Row<'_>) -> Result<Option<OpenMessageRow>, TableError> {
    let read = || -> Result<Option<OpenMessageRow>, TableError> {
        let Some(state) = row.get::<Option<i64>>(10)? else { return Ok(None) };
        Ok(Some(OpenMessageRow {
            state: MessageState::from_stored(state).map_err(TableError::unreadable)?,
            cost: Money::from_micros(row.get(11)?),
            origin: read_origin(row, 12, 14, row.get(13)?)?,
        }))
    };
    none_if_unreadable(read()).map(Option::flatten)
}

/// Reads the connection and the origin of a message from these columns.
pub(super) fn read_origin(
    row: &Row<'_>,
    connection: usize,
    origin: usize,
    parts: u8,
) -> Result<MessageOrigin, TableError> {
    let origin = row.get_ref(origin)?.as_blob_or_null().map_err(TableError::unreadable)?;
    let origin = origin.map(blobs::origin_of).transpose()?;
    Ok(MessageOrigin { connection: ConnectionId::new(row.get(connection)?), parts, origin })
}

pub(super) fn values_of(key: MessageKey) -> [Value; 3] {
    let MessageKey { carrier, account, message } = key;
    [i64::from(carrier.get()), i64::from(account.get()), message.as_i64()].map(Value::Integer)
}

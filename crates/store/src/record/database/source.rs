//! Reads of the store's tables for the record: what the feed did not bring.

use crate::error::StoreError;
use crate::record::database::rows::stored_recipient;
use crate::record::{MessageCosts, RecordedMessage};
use crate::sql::SqlTables;
use crate::sql::columns::{stored_encoding, stored_message, stored_sender};
use crate::sql::messages::stored_cost;
#[cfg(test)]
use crate::sql::read_results::StorePosition;
use crate::sql::{Connection, Row, described, nodes, params};
use crate::sqlite::progress::BatchNumbers;
use crate::sqlite::schema;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::receipt::DlrCode;
use hermod_domain::time::Timestamp;
use hermod_engine::maps::HashMap;
use hermod_engine::ops::EarlierCost;
use hermod_engine::progress;
use hermod_engine::tables::{MessageKey, TableError, Tables};
use std::path::Path;
use std::sync::Arc;

const COLUMNS: &str = "id, account, connection, carrier, source, dest, encoding, parts, cost, state, dlr, err, settled_at, carrier_cost, \
     cost_terms, billable";

/// A connection that reads the store's database.
pub(crate) struct RecordSource {
    connection: Connection,
    /// None if no process has the store open: everything is in the database.
    progress: Option<Arc<BatchNumbers>>,
}

/// Messages as the store has them, and the last batch that the store had then.
pub(crate) struct Slice {
    pub messages: Vec<RecordedMessage>,
    /// The last message that was looked at; none if there was none.
    pub last: Option<i64>,
    pub sequence: u64,
}

impl RecordSource {
    pub(crate) fn open(
        folder: &Path,
        progress: Option<Arc<BatchNumbers>>,
    ) -> Result<RecordSource, TableError> {
        Ok(RecordSource { connection: schema::open_for_reading(folder)?, progress })
    }

    /// Returns the tables of a store that no process has open, and where they are.
    #[cfg(test)]
    pub(crate) fn beside_closed(folder: &Path) -> Result<(RecordSource, StorePosition), StoreError> {
        let source = RecordSource::open(folder, None)?;
        let found = schema::journal_position(&source.connection)?;
        Ok((source, StorePosition { id: found.history.0, sequence: found.last }))
    }

    /// Returns a source whose tables have every committed batch.
    pub(crate) fn of(connection: Connection) -> RecordSource {
        RecordSource { connection, progress: None }
    }

    /// Whether the tables have this batch. Makes the writer flush if they do not.
    pub(crate) fn has(&self, sequence: u64) -> bool {
        let Some(progress) = &self.progress else { return true };
        let has = progress.visible() >= sequence;
        if !has {
            progress.request_flush();
        }
        has
    }

    /// Returns the newest message.
    pub(crate) fn newest(&self) -> Result<Option<i64>, TableError> {
        Ok(self.connection.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?)
    }

    /// Counts the messages from `first` to `last`, up to `limit`.
    pub(crate) fn count(&self, first: i64, last: i64, limit: u32) -> Result<u64, TableError> {
        let count: i64 = self.connection.query_row(
            "SELECT count(*) FROM (SELECT 1 FROM message WHERE id BETWEEN ?1 AND ?2 LIMIT ?3) AS counted",
            params![first, last, limit],
            |row| row.get(0),
        )?;
        Ok(count.cast_unsigned())
    }

    /// Reads at most `limit` messages from `first` to `last`.
    pub(crate) fn messages_from(&self, first: i64, last: i64, limit: usize) -> Result<Slice, TableError> {
        self.in_snapshot(|tables, snapshot| {
            let mut statement = snapshot.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM message WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3"
            ))?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut rows = statement.query(params![first, last, limit])?;
            let (mut messages, mut last) = (Vec::new(), None);
            while let Some(row) = rows.next()? {
                last = Some(row.get(0)?);
                messages.extend(readable(&row, read(tables, &row))?);
            }
            let last_read = last.unwrap_or(first);
            add_refunds(snapshot, first, last_read, &mut messages)?;
            add_earlier_costs(snapshot, first, last_read, &mut messages)?;
            Ok((messages, last))
        })
    }

    /// Reads these messages. Those that the store does not have are left out.
    pub(crate) fn messages(&self, ids: &[i64]) -> Result<Slice, TableError> {
        self.in_snapshot(|tables, snapshot| {
            let mut statement =
                snapshot.prepare_cached(&format!("SELECT {COLUMNS} FROM message WHERE id = ?1"))?;
            let mut messages = Vec::with_capacity(ids.len());
            for id in ids {
                let mut rows = statement.query([id])?;
                if let Some(row) = rows.next()? {
                    messages.extend(readable(&row, read(tables, &row))?);
                }
            }
            for message in &mut messages {
                let (id, message) = (message.id.as_i64(), std::slice::from_mut(message));
                add_refunds(snapshot, id, id, message)?;
                add_earlier_costs(snapshot, id, id, message)?;
            }
            Ok((messages, ids.last().copied()))
        })
    }

    fn in_snapshot(
        &self,
        read: impl FnOnce(&Tables<'_>, &Connection) -> Result<(Vec<RecordedMessage>, Option<i64>), TableError>,
    ) -> Result<Slice, TableError> {
        let snapshot = self.connection.snapshot()?;
        let sequence = nodes::commits(&snapshot)?;
        let (messages, last) = read(&SqlTables::of(&snapshot), &snapshot)?;
        Ok(Slice { messages, last, sequence })
    }
}

/// Leaves out a row that cannot be read, and logs it: the others must not wait for it.
fn readable(
    row: &Row<'_>,
    read: Result<RecordedMessage, TableError>,
) -> Result<Option<RecordedMessage>, TableError> {
    match read {
        Err(error) if error.is_unreadable() => {
            let message: i64 = row.get(0)?;
            let error = StoreError::from(error);
            tracing::warn!(%error, message, "A message cannot be read and is missing in the record");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Reads a message without its refund and what earlier carriers can bill.
fn read(tables: &Tables<'_>, row: &Row<'_>) -> Result<RecordedMessage, TableError> {
    let (id, account) = (stored_message(row, 0)?, AccountId::new(row.get(1)?));
    let carrier = CarrierId::new(row.get(3)?);
    let mut state = MessageState::from_stored(row.get(9)?).map_err(TableError::unreadable)?;
    let settled_at = row.get::<Option<i64>>(12)?.map(Timestamp::from_millis);
    let billable: Option<i64> = row.get(15)?;
    if !state.is_final()
        && let Some(progress) = progress::load(tables, MessageKey { carrier, account, message: id })?
    {
        state = progress.state;
    }
    let code = || DlrCode::from_u8(row.get(10)?).ok_or_else(|| TableError::unreadable("a receipt code"));
    Ok(RecordedMessage {
        id,
        account,
        connection: ConnectionId::new(row.get(2)?),
        carrier,
        from: stored_sender(row.get_ref(4)?.as_str()?)?,
        to: stored_recipient(row.get(5)?)?,
        encoding: stored_encoding(row.get(6)?)?,
        parts: row.get(7)?,
        cost: Money::from_micros(row.get(8)?),
        costs: MessageCosts {
            believed: stored_cost(row, 13)?,
            billable: billable.map(Billable::from_stored).transpose().map_err(TableError::unreadable)?,
            earlier: Vec::new(),
        },
        state,
        code: settled_at.map(|_| code()).transpose()?,
        err: if settled_at.is_some() { row.get(11)? } else { 0 },
        settled_at,
        refund: None,
    })
}

/// Adds the refunds of messages with ids from `first` to `last`. Most messages have none, so one read finds those of many.
fn add_refunds(
    connection: &Connection,
    first: i64,
    last: i64,
    messages: &mut [RecordedMessage],
) -> Result<(), TableError> {
    if messages.iter().all(|message| message.settled_at.is_none()) {
        return Ok(());
    }
    let mut statement =
        connection.prepare_cached("SELECT message, balance FROM ledger WHERE message BETWEEN ?1 AND ?2")?;
    let mut rows = statement.query([first, last])?;
    let mut refunds = HashMap::default();
    while let Some(row) = rows.next()? {
        refunds.insert(row.get::<i64>(0)?, Money::from_micros(row.get(1)?));
    }
    for message in messages.iter_mut().filter(|message| message.settled_at.is_some()) {
        message.refund = refunds.get(&message.id.as_i64()).copied();
    }
    Ok(())
}

/// Adds what earlier carriers can bill of messages with ids from `first` to `last`, in the order of the ids. Few messages have any.
fn add_earlier_costs(
    connection: &Connection,
    first: i64,
    last: i64,
    messages: &mut [RecordedMessage],
) -> Result<(), TableError> {
    let which = "WHERE message BETWEEN ?1 AND ?2 ORDER BY message, no";
    let costs: Vec<EarlierCost> = described::rows(connection, which, params![first, last])?;
    for cost in costs {
        if let Ok(place) = messages.binary_search_by_key(&cost.message, |message| message.id) {
            messages[place].costs.earlier.push(cost);
        }
    }
    Ok(())
}

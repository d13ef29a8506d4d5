//! SQL that reads waiting parts as jobs: the part joined with its message.

use crate::sql::blobs;
use crate::sql::columns::{message_and_part, stored_encoding, stored_number, stored_sender, stored_state};
use crate::sql::message_texts::messages_with_texts;
use crate::sql::open_messages::{read_origin, values_of};
use crate::sql::unreadable::{KeyColumns, NO_MESSAGE, none_if_unreadable, sort_in};
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{AccountId, CarrierId, PartNo};
use hermod_domain::lifecycle::{Part, PartState};
use hermod_domain::money::Money;
use hermod_domain::text::MessageText;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{CustomerTlvs, Job};
use hermod_engine::tables::{LaneRead, MessageKey, Readings, TableError, UnreadablePart, WaitingJob};
use rusqlite::types::Value;
use std::sync::Arc;

const COLUMNS: &str = "p.message, p.no, m.parts, p.account, p.carrier, m.source, m.dest, m.text, m.encoding,
                       m.reference, m.expires_at, m.whole, m.tlvs, m.shape, p.state, p.doubts, m.connection, m.origin,
                       m.cost";

/// The positions of the part's key in these columns.
const KEY: KeyColumns = [4, 3, 0, 1];

/// The condition for parts that wait for a slot: queued or in doubt, and not deferred.
pub(crate) const WAITING_FOR_A_SLOT: &str = "p.state IN (0, 2) AND p.due_at = 0";

/// Returns the next waiting parts of a lane, in order.
pub(crate) fn read_waiting(
    connection: &Connection,
    refill: LaneRead,
) -> Result<Readings<WaitingJob>, TableError> {
    let (message, part) = refill.after.map_or((0, 0), |(message, part)| (message.as_i64(), part.get()));
    let messages = messages_with_texts(connection);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM part p LEFT JOIN {messages} m ON m.id = p.message
         WHERE p.carrier = ?1 AND p.account = ?2 AND (p.message, p.no) > (?3, ?4) AND {WAITING_FOR_A_SLOT}
         ORDER BY p.message, p.no LIMIT ?5"
    ))?;
    let limit = i64::try_from(refill.limit).unwrap_or(i64::MAX);
    let mut rows =
        statement.query(params![refill.carrier.get(), refill.account.get(), message, part, limit])?;
    let mut jobs: Readings<WaitingJob> = Readings::default();
    while let Some(row) = rows.next()? {
        let mut read = read_with_progress(&row);
        // The parts of one message share its text and options.
        if let (Ok(WaitingJob { job, .. }), Some(WaitingJob { job: last, .. })) =
            (&mut read, jobs.rows.last())
            && last.message == job.message
        {
            job.text = last.text.clone();
            job.options = last.options.clone();
        }
        sort_in(&mut jobs, &row, KEY, read)?;
    }
    Ok(jobs)
}

/// Reads every part that waits or is being sent as a job, and adds the unreadable ones to `unreadable`, up to `limit`.
pub(crate) fn find_unreadable(
    connection: &Connection,
    limit: usize,
    unreadable: &mut Vec<UnreadablePart>,
) -> Result<(), TableError> {
    let messages = messages_with_texts(connection);
    let mut statement = connection.prepare(&format!(
        "SELECT {COLUMNS} FROM part p LEFT JOIN {messages} m ON m.id = p.message WHERE p.state IN (?1, ?2, ?3)"
    ))?;
    let states = [PartState::Queued, PartState::InDoubt, PartState::Sending].map(PartState::to_stored);
    let mut rows = statement.query(states)?;
    while let Some(row) = rows.next()?
        && unreadable.len() < limit
    {
        let mut job = Readings::default();
        sort_in(&mut job, &row, KEY, read(&row))?;
        unreadable.append(&mut job.unreadable);
    }
    Ok(())
}

/// Returns those of these parts that wait, deferred ones included.
pub(crate) fn read_waiting_at(
    connection: &Connection,
    parts: &[(MessageKey, PartNo)],
) -> Result<Readings<Job>, TableError> {
    let messages = messages_with_texts(connection);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM part p LEFT JOIN {messages} m ON m.id = p.message
         WHERE p.carrier = ?1 AND p.account = ?2 AND p.message = ?3 AND p.no = ?4 AND p.state IN (0, 2)"
    ))?;
    let values = parts.iter().map(|(key, part)| {
        let [carrier, account, message] = values_of(*key);
        [carrier, account, message, Value::Integer(part.get().into())]
    });
    let mut jobs: Readings<Job> = Readings::default();
    statement.query_many(values, |row| sort_in(&mut jobs, row, KEY, read(row)))?;
    Ok(jobs)
}

/// Returns a part that waits for a slot, deferred ones included.
pub(crate) fn load(
    connection: &Connection,
    key: MessageKey,
    part: PartNo,
) -> Result<Option<Job>, TableError> {
    let MessageKey { carrier, account, message } = key;
    let messages = messages_with_texts(connection);
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM part p LEFT JOIN {messages} m ON m.id = p.message
             WHERE p.carrier = ?1 AND p.account = ?2 AND p.message = ?3 AND p.no = ?4 AND p.state IN (?5, ?6)"
        ))?
        .query_row(
            params![
                carrier.get(),
                account.get(),
                message.as_i64(),
                part.get(),
                PartState::Queued.to_stored(),
                PartState::InDoubt.to_stored()
            ],
            |row| Ok(read(row)),
        )
        .optional()?
        .transpose()
}

fn read_with_progress(row: &Row<'_>) -> Result<WaitingJob, TableError> {
    let job = read(row)?;
    let now = Part { state: stored_state(row.get(14)?)?, doubts: row.get(15)? };
    let origin = read_origin(row, 16, 17, job.parts);
    Ok(WaitingJob { job, now, origin: none_if_unreadable(origin)? })
}

fn read(row: &Row<'_>) -> Result<Job, TableError> {
    let Some(parts) = row.get(2)? else { return Err(TableError::unreadable(NO_MESSAGE)) };
    let source: String = row.get(5)?;
    let text: Option<String> = row.get(7)?;
    let options = row.get_ref(13)?.as_blob_or_null().map_err(TableError::unreadable)?;
    let options = options.map(|blob| blobs::options_of(blob).map(Arc::new)).transpose()?;
    let (message, part) = message_and_part(row, 0, 1)?;
    Ok(Job {
        message,
        part,
        parts,
        account: AccountId::new(row.get(3)?),
        carrier: CarrierId::new(row.get(4)?),
        from: stored_sender(&source)?,
        to: stored_number(row.get(6)?)?,
        text: MessageText::parse(&text.unwrap_or_default()).map_err(TableError::unreadable)?,
        encoding: stored_encoding(row.get(8)?)?,
        reference: row.get(9)?,
        expires_at: Timestamp::from_millis(row.get(10)?),
        whole: row.get(11)?,
        tlvs: row.get::<Option<Vec<u8>>>(12)?.map(|tlvs| CustomerTlvs(tlvs.into())),
        options,
        price: Money::from_micros(row.get(18)?),
        fresh: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_condition_names_the_stored_states_that_wait() {
        let waiting = [PartState::Queued, PartState::InDoubt].map(PartState::to_stored);
        assert_eq!(
            WAITING_FOR_A_SLOT,
            format!("p.state IN ({}, {}) AND p.due_at = 0", waiting[0], waiting[1])
        );
    }
}

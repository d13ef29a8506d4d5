//! SQL for webhook events: those that wait, and those that have ended.

use crate::sql::SqlTables;
use crate::sql::{Connection, Error, OptionalExtension, Row, RowKey, params};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::maps::HashMap;
use hermod_engine::ops::{Endpoint, EventId, GiveUpReason, WebhookState};
use hermod_engine::tables::{
    EndedEvent, EventAttempts, EventContent, EventEnd, EventKey, EventRange, NewEvent, TableError,
    WaitingEvent, WebhookEventChange, WebhookEventRows,
};
use rusqlite::types::Value;

/// The row of an event, which waits or has ended.
const fn event_row(key: EventKey) -> RowKey {
    RowKey { table: "webhook", row: key.event.0.cast_signed() }
}

fn put_last_event(connection: &Connection, event: EventId) -> Result<(), TableError> {
    connection
        .prepare_cached("UPDATE webhook_counter SET last = ?1 WHERE TRUE")?
        .change(RowKey { table: "webhook_counter", row: 0 }, [event.0.cast_signed()])?;
    Ok(())
}

fn put_event(connection: &Connection, event: &NewEvent) -> Result<(), TableError> {
    let NewEvent { key, due_at, message, at, content: about } = event;
    let [account, kind, id] = stored_key(*key);
    let (due_at, message, at) = (due_at.as_millis(), message.as_i64(), at.as_millis());
    match about {
        EventContent::Dlr { connection: of, status: told, err, form } => connection
            .prepare_cached(
                "INSERT INTO webhook
                     (account, kind, id, due_at, failures, attempts, message, at, connection, told, err, form)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .change(
                event_row(*key),
                params![account, kind, id, due_at, message, at, of.get(), told.as_u8(), err, form.as_u8()],
            )?,
        EventContent::Inbound(number) => connection
            .prepare_cached(
                "INSERT INTO webhook (account, kind, id, due_at, failures, attempts, message, at, inbound)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7)",
            )?
            .change(event_row(*key), params![account, kind, id, due_at, message, at, number.cast_signed()])?,
    };
    Ok(())
}

fn put_event_attempts(connection: &Connection, key: EventKey, attempts: u32) -> Result<(), TableError> {
    let [account, kind, id] = stored_key(key);
    connection
        .prepare_cached("UPDATE webhook SET attempts = ?4 WHERE account = ?1 AND kind = ?2 AND id = ?3")?
        .change(event_row(key), params![account, kind, id, attempts])?;
    Ok(())
}

fn put_event_due(
    connection: &Connection,
    key: EventKey,
    due_at: Timestamp,
    failures: u32,
) -> Result<(), TableError> {
    let [account, kind, id] = stored_key(key);
    connection
        .prepare_cached(
            "UPDATE webhook SET due_at = ?4, failures = ?5 WHERE account = ?1 AND kind = ?2 AND id = ?3",
        )?
        .change(event_row(key), params![account, kind, id, due_at.as_millis(), failures])?;
    Ok(())
}

fn put_off_event(
    connection: &Connection,
    key: EventKey,
    due_at: Timestamp,
    counts: EventAttempts,
) -> Result<(), TableError> {
    let [account, kind, id] = stored_key(key);
    let EventAttempts { failures, attempts } = counts;
    connection
        .prepare_cached(
            "UPDATE webhook SET due_at = ?4, failures = ?5, attempts = ?6
             WHERE account = ?1 AND kind = ?2 AND id = ?3",
        )?
        .change(event_row(key), params![account, kind, id, due_at.as_millis(), failures, attempts])?;
    Ok(())
}

fn end_event(
    connection: &Connection,
    key: EventKey,
    end: EventEnd,
    ended_at: Timestamp,
    attempts: u32,
) -> Result<(), TableError> {
    let [account, kind, id] = stored_key(key);
    connection
        .prepare_cached(
            "INSERT INTO webhook_past
                 (account, kind, id, state, ended_at, attempts, message, at, connection, told, err, form, inbound)
             SELECT account, kind, id, ?4, ?5, ?6, message, at, connection, told, err, form, inbound
             FROM webhook WHERE account = ?1 AND kind = ?2 AND id = ?3",
        )?
        .change(
            event_row(key),
            params![account, kind, id, end_to_stored(end), ended_at.as_millis(), attempts],
        )?;
    connection
        .prepare_cached("DELETE FROM webhook WHERE account = ?1 AND kind = ?2 AND id = ?3")?
        .change(event_row(key), params![account, kind, id])?;
    Ok(())
}

fn restore_event(connection: &Connection, key: EventKey, due_at: Timestamp) -> Result<(), TableError> {
    let [account, kind, id] = stored_key(key);
    connection
        .prepare_cached(
            "INSERT INTO webhook
                 (account, kind, id, due_at, failures, attempts, message, at, connection, told, err, form, inbound)
             SELECT account, kind, id, ?4, 0, attempts, message, at, connection, told, err, form, inbound
             FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3",
        )?
        .change(event_row(key), params![account, kind, id, due_at.as_millis()])?;
    connection
        .prepare_cached("DELETE FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3")?
        .change(event_row(key), stored_key(key))?;
    Ok(())
}

fn put_ended_event_attempts(connection: &Connection, key: EventKey, attempts: u32) -> Result<(), TableError> {
    let [account, kind, id] = stored_key(key);
    connection
        .prepare_cached("UPDATE webhook_past SET attempts = ?4 WHERE account = ?1 AND kind = ?2 AND id = ?3")?
        .change(event_row(key), params![account, kind, id, attempts])?;
    Ok(())
}

fn delete_events_ended_by(
    connection: &Connection,
    range: EventRange,
    ended_by: Timestamp,
) -> Result<(), TableError> {
    let [account, kind, first, last] = stored_range(range);
    connection
        .prepare_cached(
            "DELETE FROM webhook_past
             WHERE account = ?1 AND kind = ?2 AND id BETWEEN ?3 AND ?4 AND ended_at <= ?5",
        )?
        .execute([account, kind, first, last, ended_by.as_millis()])?;
    Ok(())
}

fn delete_attempts_without_event(connection: &Connection, range: EventRange) -> Result<(), TableError> {
    connection
        .prepare_cached(
            "DELETE FROM webhook_attempt WHERE account = ?1 AND kind = ?2 AND event BETWEEN ?3 AND ?4
                 AND NOT EXISTS (SELECT 1 FROM webhook e
                     WHERE e.account = ?1 AND e.kind = ?2 AND e.id = webhook_attempt.event)
                 AND NOT EXISTS (SELECT 1 FROM webhook_past e
                     WHERE e.account = ?1 AND e.kind = ?2 AND e.id = webhook_attempt.event)",
        )?
        .execute(stored_range(range))?;
    Ok(())
}

impl WebhookEventRows for SqlTables<'_> {
    fn change_webhook_event(&self, change: &WebhookEventChange) -> Result<(), TableError> {
        match change {
            WebhookEventChange::Last(event) => put_last_event(self.connection, *event),
            WebhookEventChange::Add(event) => put_event(self.connection, event),
            WebhookEventChange::Attempts { key, attempts } => {
                put_event_attempts(self.connection, *key, *attempts)
            }
            WebhookEventChange::DueTime { key, due_at, failures } => {
                put_event_due(self.connection, *key, *due_at, *failures)
            }
            WebhookEventChange::PutOff { key, due_at, counts } => {
                put_off_event(self.connection, *key, *due_at, *counts)
            }
            WebhookEventChange::End { key, end, ended_at, attempts } => {
                end_event(self.connection, *key, *end, *ended_at, *attempts)
            }
            WebhookEventChange::Restore { key, due_at } => restore_event(self.connection, *key, *due_at),
            WebhookEventChange::EndedAttempts { key, attempts } => {
                put_ended_event_attempts(self.connection, *key, *attempts)
            }
            WebhookEventChange::DeleteEndedBy { range, ended_by } => {
                delete_events_ended_by(self.connection, *range, *ended_by)
            }
            WebhookEventChange::DeleteAttemptsWithoutEvent(range) => {
                delete_attempts_without_event(self.connection, *range)
            }
        }
    }

    fn last_event(&self) -> Result<EventId, TableError> {
        let last = self.connection.query_row("SELECT last FROM webhook_counter", [], |row| row.get(0))?;
        Ok(event_id(last))
    }

    fn waiting_event(&self, key: EventKey) -> Result<Option<WaitingEvent>, TableError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT failures, attempts, message FROM webhook WHERE account = ?1 AND kind = ?2 AND id = ?3",
            )?
            .query_row(stored_key(key), read_waiting)
            .optional()?)
    }

    fn waiting_events(&self, keys: &[EventKey]) -> Result<Vec<(EventKey, WaitingEvent)>, TableError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT failures, attempts, message, account, kind, id FROM webhook
             WHERE account = ?1 AND kind = ?2 AND id = ?3",
        )?;
        let by_id: HashMap<[i64; 3], EventKey> = keys.iter().map(|key| (stored_key(*key), *key)).collect();
        let mut found = Vec::new();
        statement.query_many::<3, Error>(
            keys.iter().map(|key| stored_key(*key).map(Value::Integer)),
            |row| {
                let key = by_id.get(&[row.get(3)?, row.get(4)?, row.get(5)?]);
                found.extend(key.copied().zip(Some(read_waiting(row)?)));
                Ok(())
            },
        )?;
        Ok(found)
    }

    fn events_due_after(&self, failures: u32, due_at: Timestamp) -> Result<Vec<EventKey>, TableError> {
        let mut statement = self
            .connection
            .prepare("SELECT account, kind, id FROM webhook WHERE failures = ?1 AND due_at > ?2")?;
        let mut rows = statement.query(params![failures, due_at.as_millis()])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            // An event of an unknown kind is never posted.
            if let Some(kind) = WebhookKind::from_u8(row.get(1)?) {
                let endpoint = Endpoint { account: AccountId::new(row.get(0)?), kind };
                found.push(EventKey { endpoint, event: event_id(row.get(2)?) });
            }
        }
        Ok(found)
    }

    fn event_ended_at(&self, key: EventKey) -> Result<Option<Timestamp>, TableError> {
        Ok(self
            .connection
            .prepare_cached("SELECT ended_at FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3")?
            .query_row(stored_key(key), |row| Ok(Timestamp::from_millis(row.get(0)?)))
            .optional()?)
    }

    fn ended_event(&self, key: EventKey) -> Result<Option<EndedEvent>, TableError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT attempts, message FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3",
            )?
            .query_row(stored_key(key), |row| {
                Ok(EndedEvent { message: MessageId::from_i64(row.get(1)?), attempts: row.get(0)? })
            })
            .optional()?)
    }

    fn failed_events(
        &self,
        endpoint: Endpoint,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<(EventId, Timestamp)>, TableError> {
        let Endpoint { account, kind } = endpoint;
        let after = after.map_or(0, |event| event.0.cast_signed());
        let mut statement = self.connection.prepare_cached(
            "SELECT id, ended_at FROM webhook_past INDEXED BY webhook_failed
             WHERE account = ?1 AND kind = ?2 AND id > ?3 AND state > 1 ORDER BY id LIMIT ?4",
        )?;
        let rows = statement.query_map(params![account.get(), kind.as_u8(), after, limit], |row| {
            Ok((event_id(row.get(0)?), Timestamp::from_millis(row.get(1)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn count_events_ended_by(&self, range: EventRange, ended_by: Timestamp) -> Result<u64, TableError> {
        let [account, kind, first, last] = stored_range(range);
        let mut count = self.connection.prepare_cached(
            "SELECT count(*) FROM webhook_past
             WHERE account = ?1 AND kind = ?2 AND id BETWEEN ?3 AND ?4 AND ended_at <= ?5",
        )?;
        let range = [account, kind, first, last, ended_by.as_millis()];
        Ok(count.query_row(range, |row| row.get::<i64>(0))?.cast_unsigned())
    }
}

/// Returns the stored account, kind, first id and last id of a range.
pub(super) fn stored_range(range: EventRange) -> [i64; 4] {
    let EventRange { endpoint: Endpoint { account, kind }, first, last } = range;
    [account.get().into(), kind.as_u8().into(), first.0.cast_signed(), last.0.cast_signed()]
}

/// Returns how many events wait, at all endpoints.
pub(crate) fn count_waiting(connection: &Connection) -> Result<u64, TableError> {
    let waiting: i64 = connection.query_row("SELECT count(*) FROM webhook", [], |row| row.get(0))?;
    Ok(waiting.cast_unsigned())
}

fn read_waiting(row: &Row<'_>) -> Result<WaitingEvent, Error> {
    // A count out of range becomes the highest, so that the event can still end.
    let count = |column| Ok::<_, Error>(u32::try_from(row.get::<i64>(column)?).unwrap_or(u32::MAX));
    let counts = EventAttempts { failures: count(0)?, attempts: count(1)? };
    Ok(WaitingEvent { message: MessageId::from_i64(row.get(2)?), counts })
}

fn stored_key(key: EventKey) -> [i64; 3] {
    let EventKey { endpoint: Endpoint { account, kind }, event } = key;
    [account.get().into(), kind.as_u8().into(), event.0.cast_signed()]
}

pub(super) fn event_id(number: i64) -> EventId {
    EventId(number.cast_unsigned())
}

/// The stored state of a delivered event. These numbers are permanent: add new ones, never renumber.
const DELIVERED: u8 = 1;

const fn end_to_stored(end: EventEnd) -> u8 {
    match end {
        EventEnd::Delivered => DELIVERED,
        EventEnd::GivenUp(GiveUpReason::AttemptsUsedUp) => 2,
        EventEnd::GivenUp(GiveUpReason::NoAddress) => 3,
        EventEnd::GivenUp(GiveUpReason::NothingToTell) => 4,
    }
}

pub(super) fn stored_end(number: u8) -> Result<WebhookState, TableError> {
    Ok(match number {
        DELIVERED => WebhookState::Delivered,
        2 => WebhookState::Failed(GiveUpReason::AttemptsUsedUp),
        3 => WebhookState::Failed(GiveUpReason::NoAddress),
        4 => WebhookState::Failed(GiveUpReason::NothingToTell),
        other => {
            return Err(TableError::unreadable(format!("{other} is not a state of an ended webhook event")));
        }
    })
}

pub(super) fn stored_kind(number: u8) -> Result<WebhookKind, TableError> {
    WebhookKind::from_u8(number)
        .ok_or_else(|| TableError::unreadable(format!("{number} is not a kind of webhook")))
}

pub(super) fn event_message(number: i64) -> Result<MessageId, TableError> {
    MessageId::from_i64(number).ok_or_else(|| TableError::unreadable("a webhook event's message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_ends_never_change() {
        let ends = [GiveUpReason::AttemptsUsedUp, GiveUpReason::NoAddress, GiveUpReason::NothingToTell];
        assert_eq!(ends.map(|why| end_to_stored(EventEnd::GivenUp(why))), [2, 3, 4]);
        for why in ends {
            let stored = end_to_stored(EventEnd::GivenUp(why));
            assert_eq!(stored_end(stored).unwrap(), WebhookState::Failed(why));
        }
        assert_eq!(end_to_stored(EventEnd::Delivered), DELIVERED);
        assert_eq!(stored_end(DELIVERED).unwrap(), WebhookState::Delivered);
        assert!(stored_end(0).is_err() && stored_end(5).is_err());
    }
}

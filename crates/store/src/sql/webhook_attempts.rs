//! SQL for the attempts to post webhook events.

use crate::sql::SqlTables;
use crate::sql::webhook_events::stored_range;
use crate::sql::{Connection, Row, params};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{AttemptOutcome, Endpoint, WEBHOOK_ATTEMPTS_KEPT, WebhookAttempt};
use hermod_engine::tables::{
    EventKey, EventRange, StoredAttempt, StoredOutcome, TableError, WebhookAttemptChange, WebhookAttemptRows,
};
use std::time::Duration;

impl SqlTables<'_> {
    fn put_attempt(&self, key: EventKey, attempt: &StoredAttempt) -> Result<(), TableError> {
        let EventKey { endpoint: Endpoint { account, kind }, event } = key;
        let StoredAttempt { no, at, took, outcome, response: answer } = attempt;
        let (status, failure) = match outcome {
            StoredOutcome::Status(status) => (Some(*status), None),
            StoredOutcome::Failed(why) => (None, Some(why)),
        };
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO webhook_attempt
                     (account, kind, event, no, at, took_ms, status, failure, answer)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                account.get(),
                kind.as_u8(),
                event.0.cast_signed(),
                no,
                at.as_millis(),
                i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
                status,
                failure,
                answer
            ])?;
        Ok(())
    }

    fn delete_attempts(&self, key: EventKey, last: u32) -> Result<(), TableError> {
        let EventKey { endpoint: Endpoint { account, kind }, event } = key;
        self.connection
            .prepare_cached(
                "DELETE FROM webhook_attempt WHERE account = ?1 AND kind = ?2 AND event = ?3 AND no <= ?4",
            )?
            .execute(params![account.get(), kind.as_u8(), event.0.cast_signed(), last])?;
        Ok(())
    }

    fn delete_attempts_without_event(&self, range: EventRange) -> Result<(), TableError> {
        self.connection
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
}

impl WebhookAttemptRows for SqlTables<'_> {
    fn change_webhook_attempt(&self, change: &WebhookAttemptChange) -> Result<(), TableError> {
        match change {
            WebhookAttemptChange::Put { key, attempt } => self.put_attempt(*key, attempt),
            WebhookAttemptChange::DeleteUpTo { key, last } => self.delete_attempts(*key, *last),
            WebhookAttemptChange::DeleteWithoutEvent(range) => self.delete_attempts_without_event(*range),
        }
    }
}

/// Returns the attempts to post an event, oldest first.
pub(super) fn attempts(connection: &Connection, key: EventKey) -> Result<Vec<WebhookAttempt>, TableError> {
    let EventKey { endpoint: Endpoint { account, kind }, event } = key;
    let mut statement = connection.prepare_cached(
        "SELECT at, took_ms, status, failure, answer FROM webhook_attempt
         WHERE account = ?1 AND kind = ?2 AND event = ?3 ORDER BY no LIMIT ?4",
    )?;
    let bounds = params![account.get(), kind.as_u8(), event.0.cast_signed(), WEBHOOK_ATTEMPTS_KEPT];
    let rows = statement.query_map(bounds, |row| Ok(attempt(row)))?;
    rows.map(|row| row?).collect()
}

fn attempt(row: &Row<'_>) -> Result<WebhookAttempt, TableError> {
    let outcome = match (row.get(2)?, row.get(3)?) {
        (Some(status), None) => AttemptOutcome::Status(status),
        (None, Some(failure)) => AttemptOutcome::Failed(failure),
        (Some(_), Some(_)) | (None, None) => {
            return Err(TableError::unreadable("an attempt with both or neither of status and failure"));
        }
    };
    Ok(WebhookAttempt {
        at: Timestamp::from_millis(row.get(0)?),
        took: Duration::from_millis(row.get::<i64>(1)?.cast_unsigned()),
        outcome,
        response: row.get(4)?,
    })
}

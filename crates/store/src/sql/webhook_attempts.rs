//! SQL for the attempts to post webhook events.

use crate::sql::webhook_events::stored_range;
use crate::sql::{Connection, SqlTables, described, params};
use hermod_engine::ops::{AttemptOutcome, Endpoint, WEBHOOK_ATTEMPTS_KEPT, WebhookAttempt};
use hermod_engine::tables::{EventKey, EventRange, StoredAttempt, StoredOutcome, TableError};

impl SqlTables<'_> {
    pub(super) fn delete_attempts_without_event(&self, range: EventRange) -> Result<(), TableError> {
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

/// Returns the attempts to post an event, oldest first.
pub(super) fn attempts(connection: &Connection, key: EventKey) -> Result<Vec<WebhookAttempt>, TableError> {
    let EventKey { endpoint: Endpoint { account, kind }, event } = key;
    let rows: Vec<StoredAttempt> = described::rows(
        connection,
        "WHERE account = ?1 AND kind = ?2 AND event = ?3 ORDER BY no LIMIT ?4",
        params![account.get(), kind.as_u8(), event.0.cast_signed(), WEBHOOK_ATTEMPTS_KEPT],
    )?;
    let attempt = |StoredAttempt { at, took, outcome, response, .. }: StoredAttempt| {
        let outcome = match outcome {
            StoredOutcome::Status(status) => AttemptOutcome::Status(status),
            StoredOutcome::Failed(why) => AttemptOutcome::Failed(why),
        };
        WebhookAttempt { at, took, outcome, response }
    };
    Ok(rows.into_iter().map(attempt).collect())
}

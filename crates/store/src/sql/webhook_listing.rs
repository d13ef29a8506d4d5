//! SQL that lists webhook events: those that wait, those that were delivered, and those that were given up; and their attempts.

use crate::sql::reports::stored_told;
use crate::sql::webhook_events::{event_id, event_message, stored_end};
use crate::sql::{Connection, OptionalExtension, Row, ToSql, described, params};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::ops::{
    AttemptOutcome, Endpoint, EventId, FAILED_PASSED_OVER_MAX, WEBHOOK_ATTEMPTS_KEPT, WEBHOOKS_COUNTED_MAX,
    WebhookAttempt, WebhookFigures, WebhookFilter, WebhookRecord, WebhookState, WebhookStatus,
};
use hermod_engine::tables::{EventKey, StoredAttempt, StoredOutcome, TableError};
use std::cmp::Reverse;

// The queries for events by state, all with the same columns. Delivered events have no index, which would cost every event a
// write: a search for them stops after a number of events that were given up.
const WAITING: &str = "SELECT id, message, told, at, attempts, due_at, NULL, NULL FROM webhook";
const PAST: &str = "SELECT id, message, told, at, attempts, NULL, state, ended_at FROM webhook_past";
const FAILED: &str = "SELECT id, message, told, at, attempts, NULL, state, ended_at FROM webhook_past INDEXED BY webhook_failed";
const DELIVERED: &str = "SELECT id, message, told, at, attempts, NULL, state, ended_at FROM (
     SELECT * FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?5) AS newest";
const EVERY: &str = "TRUE";

/// Returns the queries for a state, each with its condition.
const fn queries(status: Option<WebhookStatus>) -> &'static [(&'static str, &'static str)] {
    match status {
        None => &[(WAITING, EVERY), (PAST, EVERY)],
        Some(WebhookStatus::Waiting) => &[(WAITING, EVERY)],
        Some(WebhookStatus::Delivered) => &[(DELIVERED, "state = 1")],
        Some(WebhookStatus::Failed) => &[(FAILED, "state > 1")],
    }
}

/// Returns an account's events with ids below `before`, newest first.
pub(crate) fn list_events(
    connection: &Connection,
    account: AccountId,
    filter: WebhookFilter,
    before: Option<EventId>,
    limit: u32,
) -> Result<Vec<WebhookRecord>, TableError> {
    // One snapshot, so that an event that ends meanwhile is listed exactly once.
    let snapshot = connection.snapshot()?;
    let before = before.map_or(i64::MAX, |id| i64::try_from(id.0).unwrap_or(i64::MAX));
    let mut records: Vec<WebhookRecord> = Vec::new();
    for kind in WebhookKind::ALL.into_iter().filter(|kind| filter.kind.is_none_or(|only| only == *kind)) {
        let endpoint = Endpoint { account, kind };
        for (table, which) in queries(filter.status) {
            let mut statement = snapshot.prepare_cached(&format!(
                "{table} WHERE account = ?1 AND kind = ?2 AND id < ?3 AND {which} ORDER BY id DESC LIMIT ?4"
            ))?;
            let passed_over = limit.saturating_add(FAILED_PASSED_OVER_MAX);
            let bounds: [&dyn ToSql; 5] = [&account.get(), &kind.as_u8(), &before, &limit, &passed_over];
            // Only some of the queries have the fifth parameter.
            let bounds = &bounds[..if table.contains("?5") { 5 } else { 4 }];
            let rows = statement.query_map(bounds, |row| Ok(record(row, endpoint)))?;
            for row in rows {
                records.push(row??);
            }
        }
    }
    records.sort_unstable_by_key(|record| Reverse(record.id));
    records.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(records)
}

/// Returns the waiting events of an endpoint that are due later than this, behind one of them, in order of their due times: at most
/// `limit`.
pub(crate) fn events_due_later(
    connection: &Connection,
    endpoint: Endpoint,
    after: (Timestamp, EventId),
    limit: u32,
) -> Result<Vec<(Timestamp, EventId)>, TableError> {
    let (due_at, id) = after;
    let mut statement = connection.prepare_cached(
        "SELECT due_at, id FROM webhook INDEXED BY webhook_due
         WHERE account = ?1 AND kind = ?2 AND (due_at, id) > (?3, ?4) ORDER BY due_at, id LIMIT ?5",
    )?;
    let Endpoint { account, kind } = endpoint;
    let bounds = params![account.get(), kind.as_u8(), due_at.as_millis(), id.0.cast_signed(), limit];
    let rows = statement
        .query_map(bounds, |row| Ok((Timestamp::from_millis(row.get(0)?), event_id(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns an event of an account.
pub(crate) fn find_event(
    connection: &Connection,
    account: AccountId,
    event: EventId,
) -> Result<Option<WebhookRecord>, TableError> {
    for kind in WebhookKind::ALL {
        let endpoint = Endpoint { account, kind };
        for (table, _) in queries(None) {
            let found = connection
                .prepare_cached(&format!("{table} WHERE account = ?1 AND kind = ?2 AND id = ?3"))?
                .query_row(params![account.get(), kind.as_u8(), event.0.cast_signed()], |row| {
                    Ok(record(row, endpoint))
                })
                .optional()?;
            if let Some(found) = found {
                return found.map(Some);
            }
        }
    }
    Ok(None)
}

fn record(row: &Row<'_>, endpoint: Endpoint) -> Result<WebhookRecord, TableError> {
    let Endpoint { account, kind } = endpoint;
    let time = |column: usize| -> Result<Option<Timestamp>, TableError> {
        Ok(row.get::<Option<i64>>(column)?.map(Timestamp::from_millis))
    };
    let state = row.get::<Option<u8>>(6)?.map_or(Ok(WebhookState::Waiting), stored_end)?;
    Ok(WebhookRecord {
        id: event_id(row.get(0)?),
        account,
        kind,
        message: event_message(row.get(1)?)?,
        status: row.get::<Option<u8>>(2)?.map(stored_told).transpose()?,
        state,
        attempts: row.get(4)?,
        at: Timestamp::from_millis(row.get(3)?),
        due_at: time(5)?,
        ended_at: time(7)?,
    })
}

/// Returns the attempts of an account's event, oldest first; `None` if the account has no such event.
pub(crate) fn find_attempts(
    connection: &Connection,
    account: AccountId,
    event: EventId,
) -> Result<Option<Vec<WebhookAttempt>>, TableError> {
    let snapshot = connection.snapshot()?;
    let Some(record) = find_event(&snapshot, account, event)? else { return Ok(None) };
    let endpoint = Endpoint { account, kind: record.kind };
    attempts(&snapshot, EventKey { endpoint, event }).map(Some)
}

/// Returns the numbers of waiting and failed events of an account, per kind.
pub(crate) fn account_figures(
    connection: &Connection,
    account: AccountId,
) -> Result<Vec<WebhookFigures>, TableError> {
    WebhookKind::ALL.into_iter().map(|kind| figures(connection, Endpoint { account, kind })).collect()
}

fn figures(connection: &Connection, endpoint: Endpoint) -> Result<WebhookFigures, TableError> {
    let Endpoint { account, kind } = endpoint;
    let whose = params![account.get(), kind.as_u8(), WEBHOOKS_COUNTED_MAX];
    let (waiting, oldest): (i64, Option<i64>) = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM webhook WHERE account = ?1 AND kind = ?2 LIMIT ?3) AS counted),
                 (SELECT at FROM webhook WHERE account = ?1 AND kind = ?2 ORDER BY id LIMIT 1)",
        )?
        .query_row(whose, |row| row.try_into())?;
    let failed: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM webhook_past INDEXED BY webhook_failed
             WHERE account = ?1 AND kind = ?2 AND state > 1 LIMIT ?3) AS counted",
        )?
        .query_row(whose, |row| row.get(0))?;
    Ok(WebhookFigures {
        kind,
        waiting: waiting.cast_unsigned(),
        oldest: oldest.map(Timestamp::from_millis),
        failed: failed.cast_unsigned(),
    })
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

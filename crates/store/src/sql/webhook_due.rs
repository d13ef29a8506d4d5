//! SQL that finds webhook events that are due, and the endpoints that have events.

use crate::error::StoreError;
use crate::sql::columns::stored_number;
use crate::sql::inbound::find_inbound;
use crate::sql::read_results::{Due, UndeliverableEvent};
use crate::sql::reports::stored_told;
use crate::sql::unreadable::is_unreadable;
use crate::sql::webhook_events::{event_id, event_message, stored_kind};
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, WebhookKind};
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::ops::{
    DlrEvent, Endpoint, EventId, FailingEndpoint, InboundRecord, WebhookContent, WebhookEvent, WebhookPage,
};
use hermod_engine::tables::TableError;
use std::time::Duration;

/// Maximum number of events without content in one read, which are given up in one transaction.
const UNDELIVERABLE_PER_TAKE_MAX: usize = 500;
/// Pause after that many, until they are given up.
const UNDELIVERABLE_PAUSE: Duration = Duration::from_secs(1);
/// How many of an endpoint's oldest events are searched for one that has failed.
const OLDEST_EVENTS: u32 = 100;
/// How many of the newest ended events are searched for one that was delivered.
const NEWER_EVENTS: u32 = 1_000;

/// Returns every endpoint with waiting events, and when its first event is due. One seek per endpoint, not per event.
pub(crate) fn waiting_endpoints(connection: &Connection) -> Result<Vec<(Endpoint, Timestamp)>, TableError> {
    let snapshot = connection.snapshot()?;
    let mut statement = snapshot.prepare_cached(
        "SELECT account, kind, due_at FROM webhook INDEXED BY webhook_due
         WHERE (account, kind) > (?1, ?2) ORDER BY account, kind, due_at LIMIT 1",
    )?;
    let (mut found, mut place) = (Vec::new(), (0, 0));
    while let Some((account, kind, due_at)) =
        statement.query_row(params![place.0, place.1], |row| <(u32, u8, i64)>::try_from(row)).optional()?
    {
        place = (account, kind);
        let endpoint = Endpoint { account: AccountId::new(account), kind: stored_kind(kind)? };
        found.push((endpoint, Timestamp::from_millis(due_at)));
    }
    Ok(found)
}

/// Returns the endpoints with a waiting event that has failed, and without a newer event that was delivered.
pub(crate) fn failing_endpoints(connection: &Connection) -> Result<Vec<FailingEndpoint>, TableError> {
    let mut found = Vec::new();
    for (endpoint, _) in waiting_endpoints(connection)? {
        found.extend(failing(connection, endpoint)?);
    }
    Ok(found)
}

fn failing(connection: &Connection, endpoint: Endpoint) -> Result<Option<FailingEndpoint>, TableError> {
    let Endpoint { account, kind } = endpoint;
    let failed: Option<(i64, i64)> = connection
        .prepare_cached(
            "SELECT id, at FROM (SELECT id, at, failures FROM webhook WHERE account = ?1 AND kind = ?2 ORDER BY id LIMIT ?3) AS oldest
             WHERE failures > 0 ORDER BY id LIMIT 1",
        )?
        .query_row(params![account.get(), kind.as_u8(), OLDEST_EVENTS], |row| row.try_into())
        .optional()?;
    let Some((event, at)) = failed else { return Ok(None) };
    let answers = connection
        .prepare_cached(
            "SELECT 1 FROM (SELECT state FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id > ?3
             ORDER BY id DESC LIMIT ?4) AS newest WHERE state = 1",
        )?
        .exists(params![account.get(), kind.as_u8(), event, NEWER_EVENTS])?;
    Ok((!answers).then_some(FailingEndpoint { endpoint, since: Timestamp::from_millis(at) }))
}

/// Returns the events that are due at an endpoint after a position, in order of their due times.
pub(crate) fn due_events(
    connection: &Connection,
    endpoint: Endpoint,
    after: Option<(Timestamp, EventId)>,
    now: Timestamp,
    limit: usize,
) -> Result<Due, TableError> {
    let Endpoint { account, kind } = endpoint;
    let mut statement = connection.prepare_cached(
        "SELECT w.id, w.due_at, w.failures, w.attempts, w.message, w.at, w.connection, w.told, w.err, w.form, w.inbound,
             m.source, m.dest, m.state
         FROM webhook w INDEXED BY webhook_due LEFT JOIN message m ON m.id = w.message
         WHERE w.account = ?1 AND w.kind = ?2 AND (w.due_at, w.id) > (?3, ?4) ORDER BY w.due_at, w.id LIMIT ?5",
    )?;
    let (due_at, id) = after.map_or((i64::MIN, 0), |(due_at, id)| (due_at.as_millis(), id.0.cast_signed()));
    let rows_max = i64::try_from(limit + UNDELIVERABLE_PER_TAKE_MAX + 1).expect("a few hundred");
    let mut rows = statement.query(params![account.get(), kind.as_u8(), due_at, id, rows_max])?;
    let mut found = Due { page: WebhookPage::default(), undeliverable: Vec::new() };
    while let Some(row) = rows.next()? {
        let due_at = Timestamp::from_millis(row.get(1)?);
        if due_at > now || found.page.events.len() == limit {
            found.page.next_due = Some(due_at);
            break;
        }
        if found.undeliverable.len() == UNDELIVERABLE_PER_TAKE_MAX {
            found.page.next_due = Some(now.plus(UNDELIVERABLE_PAUSE));
            break;
        }
        let event = event_id(row.get(0)?);
        match read(connection, endpoint, event, &row) {
            Ok(Some(event)) => {
                found.page.events.push(event);
                continue;
            }
            Ok(None) => {}
            // It must not block the others.
            Err(error) if is_unreadable(&error) => {
                let error = StoreError::from(error);
                tracing::error!(%error, event.id = event.0, account.id = %account, "A webhook event is unreadable and is given up");
            }
            Err(error) => return Err(error),
        }
        found.undeliverable.push(UndeliverableEvent { event, failures: row.get(2).unwrap_or(0) });
    }
    Ok(found)
}

/// Returns what an event of an account posts; `None` if there is no such event, or its message was purged or erased.
pub(crate) fn find_content(
    connection: &Connection,
    account: AccountId,
    event: EventId,
) -> Result<Option<WebhookContent>, TableError> {
    for kind in WebhookKind::ALL {
        for table in ["webhook", "webhook_past"] {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT w.id, 0, 0, 0, w.message, w.at, w.connection, w.told, w.err, w.form, w.inbound,
                     m.source, m.dest, m.state
                 FROM {table} w LEFT JOIN message m ON m.id = w.message
                 WHERE w.account = ?1 AND w.kind = ?2 AND w.id = ?3"
            ))?;
            let mut rows = statement.query(params![account.get(), kind.as_u8(), event.0.cast_signed()])?;
            if let Some(row) = rows.next()? {
                let found = content(connection, Endpoint { account, kind }, &row)?;
                return Ok(found.filter(|content| !is_erased(content)));
            }
        }
    }
    Ok(None)
}

/// Returns `None` if the event's message was purged.
fn read(
    connection: &Connection,
    endpoint: Endpoint,
    id: EventId,
    row: &Row<'_>,
) -> Result<Option<WebhookEvent>, TableError> {
    let Some(content) = content(connection, endpoint, row)? else { return Ok(None) };
    let due_at = Timestamp::from_millis(row.get(1)?);
    Ok(Some(WebhookEvent {
        id,
        account: endpoint.account,
        content,
        failures: row.get(2)?,
        attempts: row.get(3)?,
        due_at,
    }))
}

/// Whether the number in an event is the one that an erasure leaves.
fn is_erased(content: &WebhookContent) -> bool {
    match content {
        WebhookContent::Dlr(event) => event.to.number() == ERASED_NUMBER,
        WebhookContent::Inbound(record) => record.from.trim_start_matches('+') == ERASED_NUMBER.to_string(),
    }
}

fn content(
    connection: &Connection,
    endpoint: Endpoint,
    row: &Row<'_>,
) -> Result<Option<WebhookContent>, TableError> {
    Ok(match endpoint.kind {
        WebhookKind::Dlr => dlr(row)?.map(WebhookContent::Dlr),
        WebhookKind::Inbound => received(connection, endpoint.account, row)?.map(WebhookContent::Inbound),
    })
}

/// Returns `None` if its message was purged.
fn dlr(row: &Row<'_>) -> Result<Option<DlrEvent>, TableError> {
    let Some(source) = row.get::<Option<String>>(11)? else { return Ok(None) };
    let message = event_message(row.get(4)?)?;
    Ok(Some(DlrEvent {
        message,
        connection: ConnectionId::new(row.get(6)?),
        from: Sender::parse(&source).map_err(TableError::unreadable)?,
        to: stored_number(row.get(12)?)?,
        status: stored_told(row.get(7)?)?,
        state: MessageState::from_stored(row.get(13)?).map_err(TableError::unreadable)?,
        err: row.get(8)?,
        submitted_at: message.accepted_at(),
        at: Timestamp::from_millis(row.get(5)?),
        form: DlrForm::from_u8(row.get(9)?)
            .ok_or_else(|| TableError::unreadable("the form of a delivery report"))?,
    }))
}

fn received(
    connection: &Connection,
    account: AccountId,
    row: &Row<'_>,
) -> Result<Option<InboundRecord>, TableError> {
    find_inbound(connection, account, row.get::<i64>(10)?.cast_unsigned())
}

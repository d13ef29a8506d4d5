//! SQL that finds webhook events whose retention is over.

use crate::sql::read_results::{EndedPlace, OldEvents};
use crate::sql::webhook_events::event_id;
use crate::sql::{Connection, params};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::ops::Endpoint;
use hermod_engine::tables::{EventKey, TableError};

/// Events per read, and deleted in one transaction.
const EVENTS_PER_STEP: usize = 500;
/// Endpoints per read.
const ENDPOINTS_PER_STEP: usize = 1_000;

/// Returns events after a position that ended at or before a time. Events of an endpoint are in the order of time, so the search
/// in an endpoint stops at the first event that was created after that time.
pub(crate) fn old_events(
    connection: &Connection,
    after: EndedPlace,
    before: Timestamp,
) -> Result<OldEvents, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT account, kind, id, at, ended_at FROM webhook_past
         WHERE (account, kind, id) > (?1, ?2, ?3) ORDER BY account, kind, id",
    )?;
    let (mut events, mut place, mut looked_at) = (Vec::new(), after, 0);
    for _ in 0..ENDPOINTS_PER_STEP {
        let mut rows = statement.query(params![place.0, place.1, place.2])?;
        loop {
            let Some(row) = rows.next()? else { return Ok(OldEvents { events, next: None }) };
            let (account, kind, id, at, ended_at): (u32, u8, i64, i64, i64) = (&row).try_into()?;
            if at > before.as_millis() {
                place = EndedPlace(account, kind, i64::MAX);
                break;
            }
            place = EndedPlace(account, kind, id);
            if ended_at <= before.as_millis() {
                match WebhookKind::from_u8(kind) {
                    Some(kind) => {
                        let endpoint = Endpoint { account: AccountId::new(account), kind };
                        events.push(EventKey { endpoint, event: event_id(id) });
                    }
                    // It must not prevent the deletion of the others.
                    None => tracing::error!(
                        kind,
                        event.id = id,
                        "A webhook event of an unknown kind is not deleted"
                    ),
                }
            }
            looked_at += 1;
            if looked_at == EVENTS_PER_STEP {
                return Ok(OldEvents { events, next: Some(place) });
            }
        }
    }
    Ok(OldEvents { events, next: Some(place) })
}

#[cfg(test)]
#[path = "webhook_purging_tests.rs"]
mod tests;

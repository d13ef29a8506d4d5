//! Replays webhook events: posts an event again with the same number and body, on a new retry schedule.

use crate::batch::Batch;
use crate::ops::{Endpoint, EventId, ReplayProgress, WebhookReplay};
use crate::tables::{EventKey, TableError, WebhookEventChange};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;

/// Makes an event due now, whether it has ended or still waits.
pub fn event(
    batch: &mut Batch<'_>,
    account: AccountId,
    event: EventId,
    now: Timestamp,
) -> Result<WebhookReplay, TableError> {
    batch.advance_to(now);
    for kind in WebhookKind::ALL {
        let key = EventKey { endpoint: Endpoint { account, kind }, event };
        if make_due_now(batch, key, now)? || restore_ended(batch, key, now)? {
            return Ok(WebhookReplay::Again);
        }
    }
    Ok(WebhookReplay::Unknown)
}

/// Makes a waiting event due now. Returns false if it does not wait.
fn make_due_now(batch: &mut Batch<'_>, key: EventKey, now: Timestamp) -> Result<bool, TableError> {
    let waited = batch.tables.read()?.waiting_event(key)?.is_some();
    if waited {
        batch.tables.write(WebhookEventChange::DueTime { key, due_at: now, failures: 0 });
        batch.results.woken.insert(key.endpoint);
    }
    Ok(waited)
}

/// Makes those of these events of an endpoint due now that wait. Returns how many.
pub fn waiting(
    batch: &mut Batch<'_>,
    endpoint: Endpoint,
    events: &[EventId],
    now: Timestamp,
) -> Result<u64, TableError> {
    batch.advance_to(now);
    let mut retried = 0;
    for event in events {
        // It may have ended since it was found.
        retried += u64::from(make_due_now(batch, EventKey { endpoint, event: *event }, now)?);
    }
    Ok(retried)
}

/// Makes an event that has ended due now. Returns false if there is no such event.
fn restore_ended(batch: &mut Batch<'_>, key: EventKey, now: Timestamp) -> Result<bool, TableError> {
    if batch.tables.read()?.event_ended_at(key)?.is_none() {
        return Ok(false);
    }
    batch.tables.write(WebhookEventChange::Restore { key, due_at: now });
    batch.results.tally.webhooks_replayed += 1;
    batch.results.woken.insert(key.endpoint);
    Ok(true)
}

/// Looks at `limit` given-up events of an endpoint behind `after`, and makes those due now that were given up at or
/// after `since`.
pub fn failed(
    batch: &mut Batch<'_>,
    endpoint: Endpoint,
    since: Timestamp,
    after: Option<EventId>,
    limit: u32,
    now: Timestamp,
) -> Result<ReplayProgress, TableError> {
    batch.advance_to(now);
    let failed = batch.tables.read()?.failed_events(endpoint, after, limit)?;
    let full = u32::try_from(failed.len()).is_ok_and(|looked_at| looked_at >= limit);
    let next = failed.last().filter(|_| full).map(|(event, _)| *event);
    let mut replayed = 0;
    for (event, ended_at) in failed {
        if ended_at >= since && restore_ended(batch, EventKey { endpoint, event }, now)? {
            replayed += 1;
        }
    }
    Ok(ReplayProgress { replayed, next })
}

//! Records the attempts to post webhook events: the event is delivered, retried or given up, as the gateway decided
//! (`edges/webhooks/post.rs`), and the attempt is listed.

use crate::batch::Batch;
use crate::ops::{
    AfterAttempt, AttemptOutcome, Endpoint, RESPONSE_KEPT_BYTES_MAX, SettledAttempt, WEBHOOK_ATTEMPTS_KEPT,
    WebhookAttempt,
};
use crate::steps::StepKind;
use crate::tables::{
    EndedEvent, EventAttempts, EventEnd, EventKey, EventRange, RowChange, StoredAttempt, StoredOutcome,
    TableError, WaitingEvent, WebhookEventChange,
};
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use serde::{Deserialize, Serialize};

/// Bytes of memory for one recorded attempt, beside the receiver's response.
const WEIGHT: usize = 256;
/// Characters that are stored of the reason why an attempt had no response.
const FAILURE_CHARS_MAX: usize = 300;

/// Attempts that were made and are to be recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WebhookResults {
    pub settled: Vec<SettledAttempt>,
    pub now: Timestamp,
}

impl WebhookResults {
    /// Splits the attempts into one command each.
    pub fn into_pieces(self) -> impl Iterator<Item = WebhookResults> {
        let WebhookResults { settled, now } = self;
        settled.into_iter().map(move |one| WebhookResults { settled: vec![one], now })
    }

    /// Returns about how many bytes of memory it holds.
    pub fn weight(&self) -> usize {
        let response =
            |settled: &SettledAttempt| settled.attempt.as_ref().map_or(0, |attempt| attempt.response.len());
        self.settled.iter().map(|settled| WEIGHT + response(settled)).sum()
    }
}

/// An event and the number of its attempts, the latest included.
struct CountedEvent {
    message: Option<MessageId>,
    attempts: u32,
}

/// Records attempts and what follows for their events.
pub fn record(batch: &mut Batch<'_>, ends: &WebhookResults) -> Result<(), TableError> {
    batch.advance_to(ends.now);
    ends.settled.iter().try_for_each(|settled| record_one(batch, settled))
}

/// Records one attempt. An event that was replayed while the attempt was being made stays due after a failure. An
/// event that has ended stays as it is; only the attempt is added.
fn record_one(batch: &mut Batch<'_>, settled: &SettledAttempt) -> Result<(), TableError> {
    let SettledAttempt { endpoint, event, failures, attempt, next } = settled;
    let key = EventKey { endpoint: *endpoint, event: *event };
    let made = u32::from(attempt.is_some());
    let replayed = match next {
        AfterAttempt::Delivered => None,
        AfterAttempt::GiveUp(_) | AfterAttempt::RetryAt(_) => {
            count_before_replay(batch, key, *failures, made)?
        }
    };
    let counted = match (replayed, next) {
        (Some(counted), _) => Some(counted),
        (None, AfterAttempt::Delivered) => end_event(batch, key, EventEnd::Delivered, made)?,
        (None, AfterAttempt::GiveUp(why)) => end_event(batch, key, EventEnd::GivenUp(*why), made)?,
        (None, AfterAttempt::RetryAt(at)) => put_off(batch, key, *at, made)?,
    };
    let counted = match counted {
        Some(counted) => Some(counted),
        // It has ended already: the attempt is added, and nothing else changes.
        None => count_after_end(batch, key, made)?,
    };
    match (attempt, counted) {
        (Some(attempt), Some(counted)) => write(batch, key, counted, attempt),
        (Some(_) | None, _) => Ok(()),
    }
}

/// Counts an attempt of an event that was replayed while the attempt was being made. The replay made the event due,
/// and a failure from the schedule before must not delay it. Returns none if the event was not replayed.
fn count_before_replay(
    batch: &mut Batch<'_>,
    key: EventKey,
    failures: u32,
    made: u32,
) -> Result<Option<CountedEvent>, TableError> {
    if failures == 0 {
        return Ok(None);
    }
    let waiting = batch.tables.waiting_event(key)?;
    let is_replayed = |waiting: &WaitingEvent| waiting.counts.failures < failures;
    let Some(WaitingEvent { message, counts }) = waiting.filter(is_replayed) else { return Ok(None) };
    let attempts = counts.attempts.saturating_add(made);
    batch.tables.write(WebhookEventChange::Attempts { key, attempts });
    batch.results.woken.insert(key.endpoint);
    Ok(Some(CountedEvent { message, attempts }))
}

/// Ends a waiting event. Returns it with all its attempts; none if it does not wait.
fn end_event(
    batch: &mut Batch<'_>,
    key: EventKey,
    end: EventEnd,
    made: u32,
) -> Result<Option<CountedEvent>, TableError> {
    let Some(WaitingEvent { message, counts }) = batch.tables.waiting_event(key)? else {
        return Ok(None);
    };
    let attempts = counts.attempts.saturating_add(made);
    batch.tables.write(WebhookEventChange::End { key, end, ended_at: batch.now, attempts });
    match end {
        EventEnd::Delivered => batch.results.tally.webhooks_delivered += 1,
        EventEnd::GivenUp(_) => batch.results.tally.webhooks_given_up += 1,
    }
    Ok(Some(CountedEvent { message, attempts }))
}

/// Sets the next due time of a waiting event after a failure. Returns none if it does not wait.
fn put_off(
    batch: &Batch<'_>,
    key: EventKey,
    due_at: Timestamp,
    made: u32,
) -> Result<Option<CountedEvent>, TableError> {
    let Some(WaitingEvent { message, counts }) = batch.tables.waiting_event(key)? else {
        return Ok(None);
    };
    let counts = EventAttempts {
        failures: counts.failures.saturating_add(made),
        attempts: counts.attempts.saturating_add(made),
    };
    batch.tables.write(WebhookEventChange::PutOff { key, due_at, counts });
    Ok(Some(CountedEvent { message, attempts: counts.attempts }))
}

/// Counts an attempt of an event that has ended. Returns none if there is no such event.
fn count_after_end(batch: &Batch<'_>, key: EventKey, made: u32) -> Result<Option<CountedEvent>, TableError> {
    let Some(EndedEvent { message, attempts }) = batch.tables.read()?.ended_event(key)? else {
        return Ok(None);
    };
    let attempts = attempts.saturating_add(made);
    batch.tables.write(WebhookEventChange::EndedAttempts { key, attempts });
    Ok(Some(CountedEvent { message, attempts }))
}

/// Writes the attempt. Keeps the newest [`WEBHOOK_ATTEMPTS_KEPT`] attempts of an event.
fn write(
    batch: &mut Batch<'_>,
    key: EventKey,
    counted: CountedEvent,
    attempt: &WebhookAttempt,
) -> Result<(), TableError> {
    let WebhookAttempt { at, took, outcome, response } = attempt;
    let CountedEvent { message, attempts: no } = counted;
    if let Some(message) = message.filter(|_| key.endpoint.kind == WebhookKind::Dlr) {
        let status = match outcome {
            AttemptOutcome::Status(status) => Some(*status),
            AttemptOutcome::Failed(_) => None,
        };
        let took_ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
        let step = StepKind::WebhookAttempt { event: key.event, attempt: no, status, took_ms };
        batch.add_step(message, PartNo::FIRST, step);
    }
    let stored = match outcome {
        AttemptOutcome::Status(status) => StoredOutcome::Status(*status),
        AttemptOutcome::Failed(why) => StoredOutcome::Failed(beginning_of(why).to_owned()),
    };
    let response = response[..response.len().min(RESPONSE_KEPT_BYTES_MAX)].to_vec();
    let attempt = StoredAttempt { key, no, at: *at, took: *took, outcome: stored, response };
    batch.tables.write(RowChange::Put(attempt));
    if no > WEBHOOK_ATTEMPTS_KEPT {
        let EventKey { endpoint: Endpoint { account, kind }, event } = key;
        let equal = |number: i64| number..=number;
        batch.tables.write(RowChange::<StoredAttempt>::delete_in([
            ("account", equal(account.get().into())),
            ("kind", equal(kind.as_u8().into())),
            ("event", equal(event.0.cast_signed())),
            ("no", 0..=i64::from(no - WEBHOOK_ATTEMPTS_KEPT)),
        ]));
    }
    batch.results.tally.webhook_attempts += 1;
    batch.results.tally.webhook_failures += u64::from(!outcome.is_success());
    Ok(())
}

/// Deletes those of these events that ended no later than `before`, and their attempts. The events must be in the
/// order of their keys; events between two of them may stay. Returns how many were deleted.
pub fn forget_events(
    batch: &mut Batch<'_>,
    events: &[EventKey],
    before: Timestamp,
    now: Timestamp,
) -> Result<u64, TableError> {
    batch.advance_to(now);
    let mut deleted = 0;
    for some in events.chunk_by(|one, next| one.endpoint == next.endpoint) {
        let (Some(first), Some(last)) = (some.first(), some.last()) else { continue };
        let range = EventRange { endpoint: first.endpoint, first: first.event, last: last.event };
        // An event may have been replayed since it was listed. Then it keeps its attempts.
        deleted += batch.tables.read()?.count_events_ended_by(range, before)?;
        batch.tables.write(WebhookEventChange::DeleteEndedBy { range, ended_by: before });
        batch.tables.write(WebhookEventChange::DeleteAttemptsWithoutEvent(range));
    }
    Ok(deleted)
}

/// Returns the beginning of a failure reason that is stored.
fn beginning_of(failure: &str) -> &str {
    match failure.char_indices().nth(FAILURE_CHARS_MAX) {
        Some((end, _)) => &failure[..end],
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_failure_is_cut_between_characters() {
        let longest = "ü".repeat(FAILURE_CHARS_MAX);
        for (failure, expect) in [("", ""), ("refused", "refused"), (&longest, &longest)] {
            assert_eq!(beginning_of(failure), expect);
        }
        assert_eq!(beginning_of(&format!("{longest}ü")), longest);
    }
}

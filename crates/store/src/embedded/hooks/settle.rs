//! What came of posting an event. A fact about the world: it is kept until it is written.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::hooks::{DELIVERED, given_up_to_stored};
use crate::embedded::op::{Op, Reply};
use crate::fault::StoreFault;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{
    ANSWER_KEPT_BYTES_MAX, AttemptOutcome, Endpoint, EventId, HOOK_ATTEMPTS_KEPT, HookAttempt, HookNext,
    HookSettled,
};
use rusqlite::{OptionalExtension, params};
use tokio::sync::oneshot;

/// What one settled event weighs in memory beside what its receiver answered.
const WEIGHT: usize = 256;
/// Of the words for an attempt that came to no answer.
const FAILURE_CHARS_MAX: usize = 300;

/// Attempts that are over.
#[derive(Clone, Debug)]
pub(crate) struct HookEnds {
    pub settled: Vec<HookSettled>,
    pub now: Timestamp,
}

impl HookEnds {
    pub(crate) fn into_pieces(self) -> impl Iterator<Item = HookEnds> {
        let HookEnds { settled, now } = self;
        settled.into_iter().map(move |one| HookEnds { settled: vec![one], now })
    }

    /// About how many bytes of memory it holds.
    pub(crate) fn weight(&self) -> usize {
        let answer =
            |settled: &HookSettled| settled.attempt.as_ref().map_or(0, |attempt| attempt.answer.len());
        self.settled.iter().map(|settled| WEIGHT + answer(settled)).sum()
    }
}

impl Embedded {
    /// What came of attempts. Durable when this returns. On a full disk that takes until there is room; if the caller does
    /// not wait for it, it is written all the same. After a fault the events still wait, and are given out again.
    pub async fn settle_hooks(&self, settled: Vec<HookSettled>, now: Timestamp) -> Result<(), StoreFault> {
        if settled.is_empty() {
            return Ok(());
        }
        self.ask(|reply| Op::Hooks(HookEnds { settled, now }, reply)).await
    }
}

/// Of an operation whose end nobody waits for.
pub(crate) fn nobody() -> Reply<()> {
    oneshot::channel().0
}

impl Batch<'_> {
    pub(crate) fn end_hooks(&mut self, ends: &HookEnds) -> Result<(), StoreFault> {
        self.at(ends.now);
        ends.settled.iter().try_for_each(|settled| self.settle_hook(settled))
    }

    fn settle_hook(&mut self, settled: &HookSettled) -> Result<(), StoreFault> {
        let HookSettled { endpoint, event, failures, attempt, next } = settled;
        let made = u32::from(attempt.is_some());
        let replayed = match next {
            HookNext::Done => None,
            HookNext::GiveUp(_) | HookNext::RetryAt(_) => {
                self.attempt_before_replay(*endpoint, *event, *failures, made)?
            }
        };
        let counted = match (replayed, next) {
            (Some(attempts), _) => Some(attempts),
            (None, HookNext::Done) => self.end_hook(*endpoint, *event, DELIVERED, made)?,
            (None, HookNext::GiveUp(why)) => {
                self.end_hook(*endpoint, *event, given_up_to_stored(*why), made)?
            }
            (None, HookNext::RetryAt(at)) => self.put_off(*endpoint, *event, *at, made)?,
        };
        let counted = match counted {
            Some(attempts) => Some(attempts),
            // Settled before: it stays what it is, and has one attempt more.
            None => self.attempt_at_past(*endpoint, *event, made)?,
        };
        match (attempt, counted) {
            (Some(attempt), Some(no)) => self.write_attempt(*endpoint, *event, no, attempt),
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// The attempts it had in all, if it was replayed while this one was under way. That makes it due, and what came of an
    /// attempt of the schedule before must not put it off again.
    fn attempt_before_replay(
        &mut self,
        endpoint: Endpoint,
        event: EventId,
        failures: u32,
        made: u32,
    ) -> Result<Option<u32>, StoreFault> {
        if failures == 0 {
            return Ok(None);
        }
        let Endpoint { account, kind } = endpoint;
        let attempts = self
            .connection
            .prepare_cached(
                "UPDATE webhook SET attempts = attempts + ?5
                 WHERE account = ?1 AND kind = ?2 AND id = ?3 AND failures < ?4 RETURNING attempts",
            )?
            .query_row(params![account.get(), kind.as_u8(), event.0.cast_signed(), failures, made], |row| {
                row.get(0)
            })
            .optional()?;
        if attempts.is_some() {
            self.rung.insert(endpoint);
        }
        Ok(attempts)
    }

    /// The attempts it had in all; nothing if it does not wait.
    fn end_hook(
        &mut self,
        endpoint: Endpoint,
        event: EventId,
        state: u8,
        made: u32,
    ) -> Result<Option<u32>, StoreFault> {
        let Endpoint { account, kind } = endpoint;
        let id = event.0.cast_signed();
        let attempts: Option<u32> = self
            .connection
            .prepare_cached(
                "INSERT INTO webhook_past
                     (account, kind, id, state, ended_at, attempts, message, at, connection, told, err, form, inbound)
                 SELECT account, kind, id, ?4, ?5, attempts + ?6, message, at, connection, told, err, form, inbound
                 FROM webhook WHERE account = ?1 AND kind = ?2 AND id = ?3 RETURNING attempts",
            )?
            .query_row(
                params![account.get(), kind.as_u8(), id, state, self.now.as_millis(), made],
                |row| row.get(0),
            )
            .optional()?;
        if attempts.is_none() {
            return Ok(None);
        }
        self.connection
            .prepare_cached("DELETE FROM webhook WHERE account = ?1 AND kind = ?2 AND id = ?3")?
            .execute(params![account.get(), kind.as_u8(), id])?;
        if state == DELIVERED {
            self.tally.hooks_delivered += 1;
        } else {
            self.tally.hooks_given_up += 1;
        }
        Ok(attempts)
    }

    fn put_off(
        &mut self,
        endpoint: Endpoint,
        event: EventId,
        until: Timestamp,
        made: u32,
    ) -> Result<Option<u32>, StoreFault> {
        let Endpoint { account, kind } = endpoint;
        let attempts = self
            .connection
            .prepare_cached(
                "UPDATE webhook SET due_at = ?4, failures = failures + ?5, attempts = attempts + ?5
                 WHERE account = ?1 AND kind = ?2 AND id = ?3 RETURNING attempts",
            )?
            .query_row(
                params![account.get(), kind.as_u8(), event.0.cast_signed(), until.as_millis(), made],
                |row| row.get(0),
            )
            .optional()?;
        Ok(attempts)
    }

    fn attempt_at_past(
        &self,
        endpoint: Endpoint,
        event: EventId,
        made: u32,
    ) -> Result<Option<u32>, StoreFault> {
        let Endpoint { account, kind } = endpoint;
        let attempts = self
            .connection
            .prepare_cached(
                "UPDATE webhook_past SET attempts = attempts + ?4
                 WHERE account = ?1 AND kind = ?2 AND id = ?3 RETURNING attempts",
            )?
            .query_row(params![account.get(), kind.as_u8(), event.0.cast_signed(), made], |row| row.get(0))
            .optional()?;
        Ok(attempts)
    }

    fn write_attempt(
        &mut self,
        endpoint: Endpoint,
        event: EventId,
        no: u32,
        attempt: &HookAttempt,
    ) -> Result<(), StoreFault> {
        let Endpoint { account, kind } = endpoint;
        let HookAttempt { at, took, outcome, answer } = attempt;
        let (status, failure) = match outcome {
            AttemptOutcome::Status(status) => (Some(*status), None),
            AttemptOutcome::Failed(why) => {
                (None, Some(why.chars().take(FAILURE_CHARS_MAX).collect::<String>()))
            }
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
                &answer[..answer.len().min(ANSWER_KEPT_BYTES_MAX)]
            ])?;
        if no > HOOK_ATTEMPTS_KEPT {
            self.connection
                .prepare_cached(
                    "DELETE FROM webhook_attempt WHERE account = ?1 AND kind = ?2 AND event = ?3 AND no <= ?4",
                )?
                .execute(params![
                    account.get(),
                    kind.as_u8(),
                    event.0.cast_signed(),
                    no - HOOK_ATTEMPTS_KEPT
                ])?;
        }
        self.tally.hook_attempts += 1;
        self.tally.hook_failures += u64::from(!outcome.is_success());
        Ok(())
    }
}

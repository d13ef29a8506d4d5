//! Posting an event once more: under its old number, with its old body, on a schedule that begins again.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::HookKind;
use hermod_engine::ops::{Endpoint, EventId, HookReplayed, HooksReplayed, REPLAYED_AT_ONCE_MAX};
use rusqlite::params;

impl Embedded {
    /// Makes an event due now, whether it has ended or still waits.
    pub async fn replay_hook(
        &self,
        account: AccountId,
        event: EventId,
        now: Timestamp,
    ) -> Result<HookReplayed, StoreFault> {
        self.request(move |batch| batch.replay_hook(account, event, now)).await
    }

    /// Makes those due now that were given up at or after a time: one step, oldest first, behind an event. It looks at so
    /// many, and replays those of them that are late enough.
    pub async fn replay_failed(
        &self,
        endpoint: Endpoint,
        since: Timestamp,
        after: Option<EventId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<HooksReplayed, StoreFault> {
        let limit = limit.clamp(1, REPLAYED_AT_ONCE_MAX);
        self.request(move |batch| batch.replay_failed(endpoint, since, after, limit, now)).await
    }
}

impl Batch<'_> {
    fn replay_hook(
        &mut self,
        account: AccountId,
        event: EventId,
        now: Timestamp,
    ) -> Result<HookReplayed, StoreFault> {
        self.at(now);
        for kind in HookKind::ALL {
            let endpoint = Endpoint { account, kind };
            if self.hurry(endpoint, event, now)? || self.bring_back(endpoint, event, now)? {
                return Ok(HookReplayed::Again);
            }
        }
        Ok(HookReplayed::Unknown)
    }

    /// True if it waited.
    fn hurry(&mut self, endpoint: Endpoint, event: EventId, now: Timestamp) -> Result<bool, StoreFault> {
        let Endpoint { account, kind } = endpoint;
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE webhook SET due_at = ?4, failures = 0 WHERE account = ?1 AND kind = ?2 AND id = ?3",
            )?
            .execute(params![account.get(), kind.as_u8(), event.0.cast_signed(), now.as_millis()])?;
        if changed > 0 {
            self.rung.insert(endpoint);
        }
        Ok(changed > 0)
    }

    /// True if it had ended.
    fn bring_back(&mut self, endpoint: Endpoint, event: EventId, now: Timestamp) -> Result<bool, StoreFault> {
        let Endpoint { account, kind } = endpoint;
        let id = event.0.cast_signed();
        let back = self
            .connection
            .prepare_cached(
                "INSERT INTO webhook
                     (account, kind, id, due_at, failures, attempts, message, at, connection, told, err, form, inbound)
                 SELECT account, kind, id, ?4, 0, attempts, message, at, connection, told, err, form, inbound
                 FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3",
            )?
            .execute(params![account.get(), kind.as_u8(), id, now.as_millis()])?;
        if back == 0 {
            return Ok(false);
        }
        self.connection
            .prepare_cached("DELETE FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3")?
            .execute(params![account.get(), kind.as_u8(), id])?;
        self.tally.hooks_replayed += 1;
        self.rung.insert(endpoint);
        Ok(true)
    }

    fn replay_failed(
        &mut self,
        endpoint: Endpoint,
        since: Timestamp,
        after: Option<EventId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<HooksReplayed, StoreFault> {
        self.at(now);
        let failed = self.failed(endpoint, after, limit)?;
        let full = u32::try_from(failed.len()).is_ok_and(|looked_at| looked_at >= limit);
        let next = failed.last().filter(|_| full).map(|(event, _)| *event);
        let mut replayed = 0;
        for (event, ended_at) in failed {
            if ended_at >= since && self.bring_back(endpoint, event, now)? {
                replayed += 1;
            }
        }
        Ok(HooksReplayed { replayed, next })
    }

    fn failed(
        &self,
        endpoint: Endpoint,
        after: Option<EventId>,
        limit: u32,
    ) -> Result<Vec<(EventId, Timestamp)>, StoreFault> {
        let Endpoint { account, kind } = endpoint;
        let after = after.map_or(0, |event| event.0.cast_signed());
        let mut statement = self.connection.prepare_cached(
            "SELECT id, ended_at FROM webhook_past INDEXED BY webhook_failed
             WHERE account = ?1 AND kind = ?2 AND id > ?3 AND state > 1 ORDER BY id LIMIT ?4",
        )?;
        let rows = statement.query_map(params![account.get(), kind.as_u8(), after, limit], |row| {
            Ok((EventId(row.get::<_, i64>(0)?.cast_unsigned()), Timestamp::from_millis(row.get(1)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

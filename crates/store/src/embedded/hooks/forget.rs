//! Events that ended long ago go, with their attempts, a few at a time.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::hooks::stored_kind;
use crate::fault::StoreFault;
use crate::ops::{Endpoint, EventId, HOOKS_KEPT};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

/// Rows looked at in one transaction.
const ROWS_PER_WRITE: usize = 500;

impl Embedded {
    pub(crate) async fn forget_hooks(&self, now: Timestamp) -> Result<(), StoreFault> {
        let mut last = None;
        while let Some(endpoint) = self.inner.readers.run(move |connection| behind(connection, last)).await? {
            let mut after = Some(EventId(0));
            while let Some(place) = after {
                after = self.request(move |batch| batch.forget_hooks(endpoint, place, now)).await?;
            }
            last = Some(endpoint);
        }
        Ok(())
    }
}

/// The next endpoint that has events which ended.
fn behind(connection: &Connection, last: Option<Endpoint>) -> Result<Option<Endpoint>, StoreFault> {
    let (account, kind) = last.map_or((0, 0), |endpoint| (endpoint.account.get(), endpoint.kind.as_u8()));
    let next = connection
        .prepare_cached(
            "SELECT account, kind FROM webhook_past WHERE (account, kind) > (?1, ?2) ORDER BY account, kind LIMIT 1",
        )?
        .query_row(params![account, kind], |row| <(u32, u8)>::try_from(row))
        .optional()?;
    let endpoint =
        |(account, kind)| Ok(Endpoint { account: AccountId::new(account), kind: stored_kind(kind)? });
    next.map(endpoint).transpose()
}

impl Batch<'_> {
    /// Behind which event to go on; nothing at the end. Events come to be in the order of time: behind one that is young
    /// there is none that has ended long ago.
    fn forget_hooks(
        &mut self,
        endpoint: Endpoint,
        after: EventId,
        now: Timestamp,
    ) -> Result<Option<EventId>, StoreFault> {
        self.at(now);
        let Endpoint { account, kind } = endpoint;
        let too_old = now.minus(HOOKS_KEPT).as_millis();
        let mut statement = self.connection.prepare_cached(
            "SELECT id, at, ended_at FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id > ?3 ORDER BY id LIMIT ?4",
        )?;
        let rows_max = i64::try_from(ROWS_PER_WRITE).expect("a few hundred");
        let rows: Vec<(i64, i64, i64)> = statement
            .query_map(params![account.get(), kind.as_u8(), after.0.cast_signed(), rows_max], |row| {
                row.try_into()
            })?
            .collect::<Result<_, _>>()?;
        for (id, at, ended_at) in &rows {
            if *at > too_old {
                return Ok(None);
            }
            if *ended_at > too_old {
                continue;
            }
            for query in [
                "DELETE FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id = ?3",
                "DELETE FROM webhook_attempt WHERE account = ?1 AND kind = ?2 AND event = ?3",
            ] {
                self.connection.prepare_cached(query)?.execute(params![account.get(), kind.as_u8(), id])?;
            }
        }
        let last = rows.last().filter(|_| rows.len() == ROWS_PER_WRITE);
        Ok(last.map(|(id, ..)| EventId(id.cast_unsigned())))
    }
}

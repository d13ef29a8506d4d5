//! Finds endpoints that were failing when the last process ended: what is remembered of their answers is not stored, but
//! their events are.

use crate::embedded::Embedded;
use crate::embedded::hooks::queue;
use crate::fault::StoreFault;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Endpoint, FailingEndpoint};
use rusqlite::{Connection, OptionalExtension, params};

/// Events of an endpoint that are looked at, the oldest first, for one that has failed.
const OLDEST_EVENTS: u32 = 100;
/// Newer events that have ended which are looked at for one that was delivered.
const NEWER_EVENTS: u32 = 1_000;

impl Embedded {
    /// Returns every endpoint that has an event with a failed attempt waiting, and has not taken a newer event since.
    pub async fn failing_endpoints(&self) -> Result<Vec<FailingEndpoint>, StoreFault> {
        let read = |connection: &Connection| {
            let mut found = Vec::new();
            for (endpoint, _) in queue::waiting(connection)? {
                found.extend(failing(connection, endpoint)?);
            }
            Ok(found)
        };
        self.inner.readers.run(read).await
    }
}

fn failing(connection: &Connection, endpoint: Endpoint) -> Result<Option<FailingEndpoint>, StoreFault> {
    let Endpoint { account, kind } = endpoint;
    let failed: Option<(i64, i64)> = connection
        .prepare_cached(
            "SELECT id, at FROM (SELECT id, at, failures FROM webhook WHERE account = ?1 AND kind = ?2 ORDER BY id LIMIT ?3)
             WHERE failures > 0 ORDER BY id LIMIT 1",
        )?
        .query_row(params![account.get(), kind.as_u8(), OLDEST_EVENTS], |row| row.try_into())
        .optional()?;
    let Some((event, at)) = failed else { return Ok(None) };
    let answers = connection
        .prepare_cached(
            "SELECT 1 FROM (SELECT state FROM webhook_past WHERE account = ?1 AND kind = ?2 AND id > ?3
             ORDER BY id DESC LIMIT ?4) WHERE state = 1",
        )?
        .exists(params![account.get(), kind.as_u8(), event, NEWER_EVENTS])?;
    Ok((!answers).then_some(FailingEndpoint { endpoint, since: Timestamp::from_millis(at) }))
}

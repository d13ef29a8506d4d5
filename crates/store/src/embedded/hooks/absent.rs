//! Customers who submit on transmitters and have nobody bound who could take reports: after a while their webhook is told
//! instead. What happens from then on is written there at once; what waits already is moved here, a little at a time.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::blobs;
use crate::embedded::hooks::{Became, has_hook, stored_message};
use crate::embedded::reports::stored_told;
use crate::fault::StoreFault;
use crate::ops::ReportId;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::HookKind;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Reports looked at at once, and moved in one transaction.
const REPORTS_PER_LOOK: usize = 500;
/// Looks in one tick; the next tick goes on.
const LOOKS_PER_TICK_MAX: usize = 8;
/// How long after a look that left nothing to do.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How far the reports of absent customers have been looked at.
pub(crate) struct Absent {
    looked: Mutex<HashMap<ConnectionId, Looked>>,
    next_look_ms: AtomicI64,
}

impl Default for Absent {
    fn default() -> Absent {
        Absent { looked: Mutex::default(), next_look_ms: AtomicI64::new(i64::MIN) }
    }
}

/// While somebody stays away and nothing else changes, every report need be looked at only once.
#[derive(Clone, Copy)]
struct Looked {
    since: Timestamp,
    catalogue: u64,
    to: ReportId,
}

impl Absent {
    fn is_time(&self, now: Timestamp) -> bool {
        self.next_look_ms.load(Ordering::Relaxed) <= now.as_millis()
    }

    fn looks_again_at(&self, at: Timestamp) {
        self.next_look_ms.store(at.as_millis(), Ordering::Relaxed);
    }

    fn place(&self, connection: ConnectionId, since: Timestamp, catalogue: u64) -> ReportId {
        let looked = self.looked().get(&connection).copied();
        looked
            .filter(|looked| looked.since == since && looked.catalogue == catalogue)
            .map_or(ReportId(0), |looked| looked.to)
    }

    fn looked_to(&self, connection: ConnectionId, looked: Looked) {
        self.looked().insert(connection, looked);
    }

    fn looked(&self) -> MutexGuard<'_, HashMap<ConnectionId, Looked>> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one look found.
struct Found {
    on_transmitters: Vec<ReportId>,
    /// The last that was looked at.
    last: ReportId,
    more: bool,
}

impl Embedded {
    /// A part of tick. What fails is tried again at the next look: the reports still wait.
    pub(crate) async fn tell_absent_by_webhook(&self, now: Timestamp) {
        let absent = &self.inner.shared.absent;
        if !absent.is_time(now) {
            return;
        }
        absent.looks_again_at(now.plus(LOOK_EVERY));
        let mut looks = LOOKS_PER_TICK_MAX;
        for connection in self.inner.shared.outboxes.with_reports() {
            if let Err(fault) = self.move_reports_of(connection, now, &mut looks).await {
                tracing::warn!(%fault, connection.id = %connection, "Reports could not be moved to a webhook; trying again soon");
                return;
            }
            if looks == 0 {
                absent.looks_again_at(now);
                return;
            }
        }
    }

    async fn move_reports_of(
        &self,
        connection: ConnectionId,
        now: Timestamp,
        looks: &mut usize,
    ) -> Result<(), StoreFault> {
        let shared = &self.inner.shared;
        let Some(since) = shared.outboxes.receivers().away_since(connection, now) else { return Ok(()) };
        let (catalogue, number) = shared.followed();
        if !tells_by_webhook(&catalogue, connection) {
            return Ok(());
        }
        while *looks > 0 {
            let after = shared.absent.place(connection, since, number);
            // Up to here every row is there to be seen.
            let newest = shared.outboxes.newest();
            if after >= newest {
                break;
            }
            *looks -= 1;
            let find = move |tables: &Connection| find(tables, connection, after);
            let Found { on_transmitters, last, more } = self.inner.readers.run(find).await?;
            if !on_transmitters.is_empty() {
                let moved = self
                    .request(move |batch| batch.move_to_webhook(connection, &on_transmitters, now))
                    .await?;
                shared.outboxes.forget(connection, &moved);
            }
            let to = if more { last } else { newest.max(last) };
            shared.absent.looked_to(connection, Looked { since, catalogue: number, to });
        }
        Ok(())
    }
}

fn tells_by_webhook(catalogue: &Catalogue, connection: ConnectionId) -> bool {
    catalogue
        .connection(connection)
        .is_some_and(|connection| has_hook(catalogue, connection.account, HookKind::Dlr))
}

/// Reports that no webhook tells yet, of messages that came on transmitters.
fn find(tables: &Connection, connection: ConnectionId, after: ReportId) -> Result<Found, StoreFault> {
    let mut statement = tables.prepare_cached(
        "SELECT r.id, m.origin FROM report r LEFT JOIN message m ON m.id = r.message
         WHERE r.connection = ?1 AND r.id > ?2 AND r.hooked = 0 ORDER BY r.id LIMIT ?3",
    )?;
    let rows_max = i64::try_from(REPORTS_PER_LOOK).expect("a few hundred");
    let mut rows = statement.query(params![connection.get(), after.0.cast_signed(), rows_max])?;
    let mut found = Found { on_transmitters: Vec::new(), last: after, more: false };
    let mut read = 0;
    while let Some(row) = rows.next()? {
        read += 1;
        found.last = ReportId(row.get::<_, i64>(0)?.cast_unsigned());
        let origin = row.get_ref(1)?.as_blob_or_null().map_err(StoreFault::damaged)?;
        // One that cannot be read waits for a bind, and is given up in the end.
        let on_transmitter =
            origin.is_some_and(|blob| blobs::origin_of(blob).is_ok_and(|(origin, _)| origin.on_transmitter));
        if on_transmitter {
            found.on_transmitters.push(found.last);
        }
    }
    found.more = read == REPORTS_PER_LOOK;
    Ok(found)
}

impl Batch<'_> {
    /// In one transaction each is a report no more and an event instead. None of them, if somebody came meanwhile.
    fn move_to_webhook(
        &mut self,
        connection: ConnectionId,
        reports: &[ReportId],
        now: Timestamp,
    ) -> Result<Vec<ReportId>, StoreFault> {
        self.at(now);
        if self.books.receivers.away_since(connection, now).is_none() {
            return Ok(Vec::new());
        }
        let mut moved = Vec::with_capacity(reports.len());
        for report in reports {
            let Some(became) = self.told_by(connection, *report)? else { continue };
            if !has_hook(&self.catalogue, became.account, HookKind::Dlr) {
                break;
            }
            self.hook_dlr(became)?;
            self.connection
                .prepare_cached("DELETE FROM report WHERE connection = ?1 AND id = ?2")?
                .execute(params![connection.get(), report.0.cast_signed()])?;
            moved.push(*report);
        }
        self.tally.reports_moved += u64::try_from(moved.len()).unwrap_or(0);
        self.reports_gone(connection, moved.len());
        Ok(moved)
    }

    /// Nothing if it has been taken or given up meanwhile.
    fn told_by(&self, connection: ConnectionId, report: ReportId) -> Result<Option<Became>, StoreFault> {
        let found: Option<(u32, i64, u8, u16, i64)> = self
            .connection
            .prepare_cached(
                "SELECT m.account, r.message, r.told, r.err, r.at FROM report r JOIN message m ON m.id = r.message
                 WHERE r.connection = ?1 AND r.id = ?2",
            )?
            .query_row(params![connection.get(), report.0.cast_signed()], |row| row.try_into())
            .optional()?;
        let Some((account, message, told, err, at)) = found else { return Ok(None) };
        Ok(Some(Became {
            account: AccountId::new(account),
            message: stored_message(message)?,
            connection,
            told: stored_told(told)?,
            err,
            at: Timestamp::from_millis(at),
        }))
    }
}

//! Customers who submit on transmitters and have nobody bound who could take reports: after a while their webhook is told
//! instead. What happens from then on is written there at once; what waits already is moved here, a little at a time.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::blobs;
use crate::embedded::hooks::{Became, has_hook, stored_message};
use crate::embedded::reports::stored_told;
use crate::fault::StoreFault;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::HookKind;
use hermod_engine::ops::ReportId;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Reports looked at at once, and moved in one transaction.
const REPORTS_PER_LOOK: usize = 500;
/// Reports looked at in one tick; the next tick goes on.
const REPORTS_PER_TICK: usize = 4_000;
/// As how many reports a look counts at least: it is a read, even if it finds nothing.
const LOOK_COUNTS_AS: usize = 50;
/// How long after a look that left nothing to do.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How far the reports of absent customers have been looked at.
pub(crate) struct Absent {
    looks: Mutex<Looks>,
    next_look_ms: AtomicI64,
}

#[derive(Default)]
struct Looks {
    places: HashMap<ConnectionId, Looked>,
    /// Whose turn it was last. A tick goes on behind it, so that nobody has to wait for others again and again.
    last: Option<ConnectionId>,
}

impl Default for Absent {
    fn default() -> Absent {
        Absent { looks: Mutex::default(), next_look_ms: AtomicI64::new(i64::MIN) }
    }
}

/// While somebody stays away and has a webhook, every report need be looked at only once.
#[derive(Clone, Copy)]
struct Looked {
    since: Timestamp,
    to: ReportId,
}

impl Absent {
    fn is_time(&self, now: Timestamp) -> bool {
        let wait_ms = self.next_look_ms.load(Ordering::Relaxed).saturating_sub(now.as_millis());
        // Longer than ever is waited for: the clock was set back.
        wait_ms <= 0 || u128::from(wait_ms.unsigned_abs()) > LOOK_EVERY.as_millis()
    }

    fn looks_again_at(&self, at: Timestamp) {
        self.next_look_ms.store(at.as_millis(), Ordering::Relaxed);
    }

    /// Everyone once, from behind the one whose turn it was last.
    fn in_turn(&self, mut connections: Vec<ConnectionId>) -> Vec<ConnectionId> {
        connections.sort_unstable();
        if let Some(last) = self.looks().last {
            let behind = connections.partition_point(|connection| *connection <= last);
            connections.rotate_left(behind);
        }
        connections
    }

    fn turn_of(&self, connection: ConnectionId) {
        self.looks().last = Some(connection);
    }

    fn place(&self, connection: ConnectionId, since: Timestamp) -> ReportId {
        let looked = self.looks().places.get(&connection).copied();
        looked.filter(|looked| looked.since == since).map_or(ReportId(0), |looked| looked.to)
    }

    fn looked_to(&self, connection: ConnectionId, looked: Looked) {
        self.looks().places.insert(connection, looked);
    }

    /// The next look begins with the first report.
    fn begin_again(&self, connection: ConnectionId) {
        self.looks().places.remove(&connection);
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one look found.
struct Found {
    on_transmitters: Vec<ReportId>,
    /// The last that was looked at.
    last: ReportId,
    looked_at: usize,
}

impl Found {
    fn more(&self) -> bool {
        self.looked_at == REPORTS_PER_LOOK
    }
}

impl Embedded {
    /// A part of tick. What fails is tried again at a later look: the reports still wait.
    pub(crate) async fn tell_absent_by_webhook(&self, now: Timestamp) {
        let absent = &self.inner.shared.absent;
        if !absent.is_time(now) {
            return;
        }
        absent.looks_again_at(now.plus(LOOK_EVERY));
        let mut left = REPORTS_PER_TICK;
        for connection in absent.in_turn(self.inner.shared.outboxes.with_reports()) {
            absent.turn_of(connection);
            if let Err(fault) = self.move_reports_of(connection, now, &mut left).await {
                tracing::warn!(%fault, connection.id = %connection, "Reports could not be moved to a webhook; trying again soon");
                return;
            }
            if left == 0 {
                absent.looks_again_at(now);
                return;
            }
        }
    }

    /// `left`: how many reports may still be looked at.
    async fn move_reports_of(
        &self,
        connection: ConnectionId,
        now: Timestamp,
        left: &mut usize,
    ) -> Result<(), StoreFault> {
        let shared = &self.inner.shared;
        let away = shared.outboxes.receivers().away_since(connection, now);
        let told = tells_by_webhook(&shared.catalogue.load(), connection);
        let Some(since) = away.filter(|_| told) else {
            shared.absent.begin_again(connection);
            return Ok(());
        };
        while *left > 0 {
            let after = shared.absent.place(connection, since);
            // Up to here every row is there to be seen.
            let newest = shared.outboxes.newest();
            if after >= newest {
                break;
            }
            let find = move |tables: &Connection| find(tables, connection, after);
            let found = self.inner.readers.run(find).await?;
            *left = left.saturating_sub(found.looked_at.max(LOOK_COUNTS_AS));
            let more = found.more();
            let Found { on_transmitters, last, .. } = found;
            if !on_transmitters.is_empty() {
                let moved = self
                    .request(move |batch| batch.move_to_webhook(connection, &on_transmitters, now))
                    .await?;
                let Some(moved) = moved else { break };
                shared.outboxes.forget(connection, &moved);
            }
            let to = if more { last } else { newest.max(last) };
            shared.absent.looked_to(connection, Looked { since, to });
            if !more {
                break;
            }
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
    // What is passed over is looked at as well: a look must come to its end.
    let mut statement = tables.prepare_cached(
        "SELECT r.id, r.hooked, m.origin FROM report r LEFT JOIN message m ON m.id = r.message
         WHERE r.connection = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3",
    )?;
    let rows_max = i64::try_from(REPORTS_PER_LOOK).expect("a few hundred");
    let mut rows = statement.query(params![connection.get(), after.0.cast_signed(), rows_max])?;
    let mut found = Found { on_transmitters: Vec::new(), last: after, looked_at: 0 };
    while let Some(row) = rows.next()? {
        found.looked_at += 1;
        found.last = ReportId(row.get::<_, i64>(0)?.cast_unsigned());
        let hooked: i64 = row.get(1)?;
        // One that cannot be read waits for a bind, and is given up in the end.
        let origin = row.get_ref(2)?.as_blob_or_null().ok().flatten().map(blobs::origin_of);
        if hooked == 0 && matches!(origin, Some(Ok((origin, _))) if origin.on_transmitter) {
            found.on_transmitters.push(found.last);
        }
    }
    Ok(found)
}

impl Batch<'_> {
    /// In one transaction each is a report no more and an event instead. Nothing, if somebody came meanwhile, or there is no
    /// webhook any more: then they were not even looked at.
    fn move_to_webhook(
        &mut self,
        connection: ConnectionId,
        reports: &[ReportId],
        now: Timestamp,
    ) -> Result<Option<Vec<ReportId>>, StoreFault> {
        self.at(now);
        let away = self.books.receivers.away_since(connection, now).is_some();
        if !away || !tells_by_webhook(&self.catalogue, connection) {
            return Ok(None);
        }
        let mut moved = Vec::with_capacity(reports.len());
        for report in reports {
            let became = match self.told_by(connection, *report) {
                Ok(Some(became)) => became,
                Ok(None) => continue,
                // It must not keep the others from being told. It waits for a bind, and is given up in the end.
                Err(fault) if fault.is_damage() => {
                    tracing::error!(%fault, report.id = report.0, connection.id = %connection, "A report cannot be read, and is not moved to a webhook");
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            self.hook_dlr(became)?;
            self.connection
                .prepare_cached("DELETE FROM report WHERE connection = ?1 AND id = ?2")?
                .execute(params![connection.get(), report.0.cast_signed()])?;
            moved.push(*report);
        }
        self.tally.reports_moved += u64::try_from(moved.len()).unwrap_or(0);
        self.reports_gone(connection, moved.len());
        Ok(Some(moved))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_has_their_turn_behind_the_last() {
        let absent = Absent::default();
        let of = |numbers: &[u32]| numbers.iter().copied().map(ConnectionId::new).collect::<Vec<_>>();
        assert_eq!(absent.in_turn(of(&[5, 1, 3])), of(&[1, 3, 5]));
        for (last, expect) in [(1, [3, 5, 1]), (3, [5, 1, 3]), (4, [5, 1, 3]), (5, [1, 3, 5]), (9, [1, 3, 5])]
        {
            absent.turn_of(ConnectionId::new(last));
            assert_eq!(absent.in_turn(of(&[5, 1, 3])), of(&expect), "behind {last}");
        }
        assert_eq!(absent.in_turn(Vec::new()), []);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_keep_anyone_waiting() {
        let at = Timestamp::from_millis;
        let absent = Absent::default();
        assert!(absent.is_time(at(0)));
        absent.looks_again_at(at(50_000));
        for (now, expect) in [(49_999, false), (49_000, false), (50_000, true), (48_999, true), (0, true)] {
            assert_eq!(absent.is_time(at(now)), expect, "at {now}");
        }
    }

    #[test]
    fn what_a_webhook_tells_already_counts_as_looked_at() {
        let tables = Connection::open_in_memory().unwrap();
        let make = "CREATE TABLE report (connection, id, message, hooked); CREATE TABLE message (id, origin)";
        tables.execute_batch(make).unwrap();
        let connection = ConnectionId::new(1);
        for id in 1..=REPORTS_PER_LOOK + 1 {
            let id = i64::try_from(id).unwrap();
            tables.execute("INSERT INTO report VALUES (1, ?1, ?1, 1)", [id]).unwrap();
        }
        let found = find(&tables, connection, ReportId(0)).unwrap();
        assert_eq!((found.looked_at, found.last.0, found.more()), (500, 500, true));
        let found = find(&tables, connection, found.last).unwrap();
        assert_eq!((found.looked_at, found.last.0, found.more()), (1, 501, false));
        assert!(found.on_transmitters.is_empty());
    }
}

//! Customers who submit on transmitters and have nobody bound who could take reports: after a while their webhook is told
//! instead. What happens from then on is written there at once; what waits already is moved here, a little at a time.

use crate::error::StoreError;
use crate::read_results::OnTransmitters;
use crate::store::Store;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::batch::BoundReceivers;
use hermod_engine::commands::MoveToWebhook;
use hermod_engine::ops::ReportId;
use hermod_engine::webhooks::tells_by_webhook;
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

impl Store {
    /// A part of tick. What fails is tried again at a later look: the reports still wait.
    pub(crate) async fn tell_absent_by_webhook(&self, now: Timestamp) {
        let absent = &self.inner.absent;
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
    ) -> Result<(), StoreError> {
        let (shared, absent) = (&self.inner.shared, &self.inner.absent);
        let away = shared.outboxes.receivers().away_since(connection, now);
        let told = tells_by_webhook(&shared.catalogue.load(), connection);
        let Some(since) = away.filter(|_| told) else {
            absent.begin_again(connection);
            return Ok(());
        };
        while *left > 0 {
            let after = absent.place(connection, since);
            // Up to here every row is there to be seen.
            let newest = shared.outboxes.newest();
            if after >= newest {
                break;
            }
            let looked = self.inner.backend.on_transmitters(connection, after, REPORTS_PER_LOOK);
            let OnTransmitters { reports, last, looked_at } = looked.await?;
            *left = left.saturating_sub(looked_at.max(LOOK_COUNTS_AS));
            let more = looked_at == REPORTS_PER_LOOK;
            if !reports.is_empty() {
                let moved = self.request(MoveToWebhook { connection, reports, now }).await?;
                let Some(moved) = moved else { break };
                shared.outboxes.forget(connection, &moved);
            }
            let to = if more { last } else { newest.max(last) };
            absent.looked_to(connection, Looked { since, to });
            if !more {
                break;
            }
        }
        Ok(())
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
}

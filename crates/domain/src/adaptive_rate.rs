//! Adapts the submit rate of a link to what its carrier accepts. A carrier that throttles seldom says which rate it
//! allows, so the rate is learned from the parts accepted in the last seconds: it restarts slightly below that, climbs
//! back slowly and then probes upward by a few per cent, until the carrier throttles again or the full rate is reached.
//! Each throttling costs a pause and some rejected parts, so the climb is long in comparison.
//!
//! Rates are in thousandths of parts per second, so that slow carriers do not suffer from rounding.

use std::time::Duration;

use crate::pace::PER_SECOND_MAX;
use crate::time::Timestamp;

/// After a throttling the rate restarts at this share of the accepted rate.
const RESTART_PERCENT: u64 = 95;
/// Above the learned rate, the rate grows by this share each second.
const PROBE_PERCENT_PER_S: u64 = 2;
/// The climb back to the learned rate lasts this many pauses, so that pauses take about a thirtieth of the time, ...
const CLIMB_PAUSES: u64 = 30;
/// ... and at least this many parts, so that slow carriers also reject less than one part in a hundred.
const CLIMB_PARTS: u64 = 200;
const CLIMB_MAX_S: u64 = 300;
/// A rate that is throttled sooner than this was far too high, and the accepted parts may be a burst that the carrier
/// allowed after the pause: then the average including the pause counts.
const PROVEN_MS: i64 = 4_000;
const MILLI: u64 = 1_000;
const STEP: Duration = Duration::from_secs(1);

/// A rate below the configured one, after a throttling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReducedRate {
    /// The current rate.
    milli: u64,
    /// The rate that the carrier accepted.
    learned_milli: u64,
    climb_milli_per_s: u64,
    /// `None` while the link is paused.
    next_step_at: Option<Timestamp>,
}

/// The submit rate of one link.
#[derive(Clone, Debug)]
pub struct AdaptiveRate {
    full_milli: u64,
    reduced: Option<ReducedRate>,
    recent: Recent,
    /// When the link was bound or resumed after a pause.
    opened_at: Timestamp,
    /// The last throttling, if any, and the number of parts accepted since.
    throttled_at: Option<Timestamp>,
    accepted_since: u64,
}

impl AdaptiveRate {
    pub fn new(full_per_second: u32, now: Timestamp) -> AdaptiveRate {
        AdaptiveRate {
            full_milli: u64::from(full_per_second.clamp(1, PER_SECOND_MAX)) * MILLI,
            reduced: None,
            recent: Recent::default(),
            opened_at: now,
            throttled_at: None,
            accepted_since: 0,
        }
    }

    /// Returns the rate in parts per second, at least 1.
    pub fn get(&self) -> u32 {
        let milli = self.reduced.map_or(self.full_milli, |reduced| reduced.milli);
        u32::try_from((milli + MILLI / 2) / MILLI).unwrap_or(PER_SECOND_MAX).max(1)
    }

    /// Returns the reduced rate, for [`AdaptiveRate::restore`] if the throttling turns out not to depend on the rate.
    pub fn reduced(&self) -> Option<ReducedRate> {
        self.reduced
    }

    pub fn restore(&mut self, reduced: Option<ReducedRate>, now: Timestamp) {
        self.reduced = reduced.map(|reduced| ReducedRate { next_step_at: Some(now.plus(STEP)), ..reduced });
    }

    /// Records that the carrier accepted a part.
    pub fn accepted(&mut self, now: Timestamp) {
        self.recent.add(now);
        self.accepted_since += 1;
    }

    /// Records that the carrier throttled the single part that was tried, which tells nothing about the rate.
    pub fn still_throttled(&mut self, now: Timestamp) {
        self.throttled_at = Some(now);
        self.accepted_since = 0;
    }

    /// Reduces the rate because the carrier throttled a part of several. The link pauses for `pause`.
    pub fn throttled(&mut self, pause: Duration, now: Timestamp) {
        let open_ms = millis_between(self.opened_at, now);
        let (accepted_milli, proven) = match self.throttled_at {
            Some(before) if open_ms < PROVEN_MS => {
                let elapsed_ms = u64::try_from(millis_between(before, now)).unwrap_or(0).max(1);
                (self.accepted_since * MILLI * MILLI / elapsed_ms, false)
            }
            Some(_) => (self.recent.per_second_milli(now, self.opened_at), true),
            None => (self.recent.per_second_milli(now, self.opened_at), open_ms >= PROVEN_MS),
        };
        let now_milli = self.reduced.map_or(self.full_milli, |reduced| reduced.milli);
        let learned_milli = accepted_milli.min(now_milli).max(MILLI);
        let milli = learned_milli * RESTART_PERCENT / 100;
        let climb_s = if proven { climb_seconds(pause, learned_milli) } else { 1 };
        let climb_milli_per_s = ((learned_milli - milli) / climb_s).max(1);
        self.reduced = Some(ReducedRate { milli, learned_milli, climb_milli_per_s, next_step_at: None });
        self.still_throttled(now);
    }

    /// Records that the link resumed after a pause.
    pub fn opened(&mut self, now: Timestamp) {
        self.opened_at = now;
        if let Some(reduced) = &mut self.reduced {
            reduced.next_step_at = Some(now.plus(STEP));
        }
    }

    /// Returns when the rate next changes without an event, if it does.
    pub fn next_step_at(&self) -> Option<Timestamp> {
        self.reduced.and_then(|reduced| reduced.next_step_at)
    }

    /// Raises the rate by the time that has passed. Returns true if it changed.
    pub fn step(&mut self, now: Timestamp) -> bool {
        let mut changed = false;
        while let Some(reduced) = &mut self.reduced
            && let Some(at) = reduced.next_step_at
            && at <= now
        {
            reduced.milli = if reduced.milli < reduced.learned_milli {
                reduced.learned_milli.min(reduced.milli + reduced.climb_milli_per_s)
            } else {
                reduced.milli + (reduced.milli * PROBE_PERCENT_PER_S / 100).max(1)
            };
            reduced.next_step_at = Some(at.plus(STEP));
            changed = true;
            if reduced.milli >= self.full_milli {
                self.reduced = None;
            }
        }
        changed
    }
}

fn climb_seconds(pause: Duration, learned_milli: u64) -> u64 {
    let for_pause = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX).saturating_mul(CLIMB_PAUSES) / MILLI;
    let for_parts = CLIMB_PARTS * MILLI / learned_milli;
    for_pause.max(for_parts).clamp(1, CLIMB_MAX_S)
}

fn millis_between(from: Timestamp, to: Timestamp) -> i64 {
    to.as_millis().saturating_sub(from.as_millis())
}

const BUCKETS: usize = 16;
const BUCKET_MS: i64 = 250;

/// Parts accepted in each quarter second of the last four seconds.
#[derive(Clone, Debug, Default)]
struct Recent {
    counts: [u32; BUCKETS],
    newest: i64,
}

impl Recent {
    fn add(&mut self, now: Timestamp) {
        let bucket = now.as_millis().div_euclid(BUCKET_MS);
        if bucket > self.newest {
            // The buckets in between were empty.
            let span = bucket.saturating_sub(self.newest);
            let cleared = usize::try_from(span).map_or(BUCKETS, |span| span.min(BUCKETS));
            for back in 0..cleared {
                self.counts[index_of(bucket - i64::try_from(back).unwrap_or(0))] = 0;
            }
            self.newest = bucket;
        }
        let count = &mut self.counts[index_of(bucket)];
        *count = count.saturating_add(1);
    }

    /// Returns the average over the buckets in which parts were accepted, because a link without traffic is not slow.
    /// Incomplete buckets count only if there are no others.
    fn per_second_milli(&self, now: Timestamp, since: Timestamp) -> u64 {
        let last = now.as_millis().div_euclid(BUCKET_MS);
        let first = since.as_millis().div_euclid(BUCKET_MS);
        let kept = i64::try_from(BUCKETS).unwrap_or(0);
        let used =
            (first..=last).rev().take_while(|bucket| last - bucket < kept && self.newest - bucket < kept);
        let used = used.filter(|bucket| *bucket <= self.newest && self.counts[index_of(*bucket)] > 0);
        let used: smallvec::SmallVec<[i64; BUCKETS]> = used.collect();
        let complete = |bucket: &&i64| **bucket > first && **bucket < last;
        let (sum, count) = match used.iter().filter(complete).count() {
            0 => (self.sum(used.iter()), used.len()),
            count => (self.sum(used.iter().filter(complete)), count),
        };
        let per_bucket_milli = (sum * MILLI).checked_div(u64::try_from(count).unwrap_or(1)).unwrap_or(0);
        per_bucket_milli * u64::try_from(1_000 / BUCKET_MS).unwrap_or(1)
    }

    fn sum<'a>(&self, buckets: impl Iterator<Item = &'a i64>) -> u64 {
        buckets.map(|bucket| u64::from(self.counts[index_of(*bucket)])).sum()
    }
}

fn index_of(bucket: i64) -> usize {
    usize::try_from(bucket.rem_euclid(16)).unwrap_or(0)
}

#[cfg(test)]
#[path = "adaptive_rate_tests.rs"]
mod tests;

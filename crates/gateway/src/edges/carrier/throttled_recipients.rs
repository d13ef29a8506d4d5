//! Recipients that a carrier throttles while it accepts parts for others. All links of the carrier share the list.
//! Parts to these recipients are deferred, longer each time, and hold up no other part.

use crate::clock::Moment;
use hermod_domain::phone::Msisdn;
use hermod_domain::retry::Schedule;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Recipients in the list. When it is full, the one that is due first is dropped.
const RECIPIENTS_MAX: usize = 1_000;
/// A recipient that was not throttled for this long is dropped.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

#[derive(Debug)]
struct Limited {
    /// How often its parts were deferred.
    times: u32,
    until: Moment,
}

#[derive(Debug, Default)]
pub(super) struct ThrottledRecipients {
    /// The length of the list, so that an empty list costs no lock.
    count: AtomicUsize,
    known: Mutex<HashMap<Msisdn, Limited>>,
}

impl ThrottledRecipients {
    /// Records that the carrier throttled a listed recipient again. Returns how long its part is deferred; `None` if
    /// it is not listed.
    pub(super) fn throttled(&self, to: Msisdn, now: Moment) -> Option<Duration> {
        let mut known = self.lock_if_any()?;
        let limited = known.get_mut(&to)?;
        if limited.until <= now {
            limited.times = limited.times.saturating_add(1);
            limited.until = now.plus(deferral_wait(limited.times));
        }
        Some(between(now, limited.until))
    }

    /// Returns how long parts for this recipient must not be sent.
    pub(super) fn wait(&self, to: Msisdn, now: Moment) -> Option<Duration> {
        let until = self.lock_if_any()?.get(&to)?.until;
        (now < until).then(|| between(now, until))
    }

    /// Removes a recipient for whom the carrier accepted a part.
    pub(super) fn accepted(&self, to: Msisdn) {
        if let Some(mut known) = self.lock_if_any()
            && known.remove(&to).is_some()
        {
            self.count.store(known.len(), Ordering::Relaxed);
        }
    }

    /// Lists a recipient that is throttled while others are accepted.
    pub(super) fn remember(&self, to: Msisdn, times: u32, until: Moment, now: Moment) {
        let mut known = self.known.lock();
        known.retain(|_, limited| now < limited.until.plus(FORGOTTEN_AFTER));
        if known.len() >= RECIPIENTS_MAX
            && let Some(first) = known.iter().min_by_key(|(_, limited)| limited.until).map(|(to, _)| *to)
        {
            known.remove(&first);
        }
        known.insert(to, Limited { times, until });
        self.count.store(known.len(), Ordering::Relaxed);
    }

    fn lock_if_any(&self) -> Option<MutexGuard<'_, HashMap<Msisdn, Limited>>> {
        (self.count.load(Ordering::Relaxed) > 0).then(|| self.known.lock())
    }
}

/// Returns how long a part is deferred the n-th time, from 1.
pub(super) fn deferral_wait(times: u32) -> Duration {
    Schedule::after_throttled_recipient().wait(times, 0).expect("the last wait is repeated")
}

fn between(now: Moment, until: Moment) -> Duration {
    Duration::from_millis(until.0.saturating_sub(now.0))
}

#[cfg(test)]
#[path = "throttled_recipients_tests.rs"]
mod tests;

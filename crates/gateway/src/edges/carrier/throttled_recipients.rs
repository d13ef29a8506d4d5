//! Recipients that a carrier throttles while it accepts parts for others: the limit is theirs and not the link's. Shared by
//! all links of the carrier. Their parts step aside, for longer and longer, and nothing else waits for them.

use crate::clock::Moment;
use hermod_domain::phone::Msisdn;
use hermod_domain::retry::Schedule;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Recipients that are remembered at once. Beyond that the one that would be tried again first is forgotten.
const LIMITED_MAX: usize = 1_000;
/// A recipient that was not throttled for this long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

#[derive(Debug)]
struct Limited {
    /// How often its parts have stepped aside.
    times: u32,
    until: Moment,
}

#[derive(Debug, Default)]
pub(super) struct LimitedRecipients {
    /// How many there are, so that a link asks nothing more while there are none.
    count: AtomicUsize,
    known: Mutex<HashMap<Msisdn, Limited>>,
}

impl LimitedRecipients {
    /// The carrier throttled this recipient once more: how long its part steps aside. Nothing for one that is not known.
    pub(super) fn throttled(&self, to: Msisdn, now: Moment) -> Option<Duration> {
        let mut known = self.lock_if_any()?;
        let limited = known.get_mut(&to)?;
        if limited.until <= now {
            limited.times = limited.times.saturating_add(1);
            limited.until = now.plus(aside_wait(limited.times));
        }
        Some(between(now, limited.until))
    }

    /// How long a part for this recipient should not even be tried.
    pub(super) fn wait(&self, to: Msisdn, now: Moment) -> Option<Duration> {
        let until = self.lock_if_any()?.get(&to)?.until;
        (now < until).then(|| between(now, until))
    }

    /// The carrier accepted a part for this recipient.
    pub(super) fn accepted(&self, to: Msisdn) {
        if let Some(mut known) = self.lock_if_any()
            && known.remove(&to).is_some()
        {
            self.count.store(known.len(), Ordering::Relaxed);
        }
    }

    /// Others pass and this recipient does not.
    pub(super) fn remember(&self, to: Msisdn, times: u32, until: Moment, now: Moment) {
        let mut known = self.lock();
        known.retain(|_, limited| now < limited.until.plus(FORGOTTEN_AFTER));
        if known.len() >= LIMITED_MAX
            && let Some(first) = known.iter().min_by_key(|(_, limited)| limited.until).map(|(to, _)| *to)
        {
            known.remove(&first);
        }
        known.insert(to, Limited { times, until });
        self.count.store(known.len(), Ordering::Relaxed);
    }

    fn lock_if_any(&self) -> Option<MutexGuard<'_, HashMap<Msisdn, Limited>>> {
        (self.count.load(Ordering::Relaxed) > 0).then(|| self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Msisdn, Limited>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a part steps aside the so-manieth time, from 1.
pub(super) fn aside_wait(times: u32) -> Duration {
    Schedule::after_throttled_recipient().wait(times, 0).expect("the last wait is repeated")
}

fn between(now: Moment, until: Moment) -> Duration {
    Duration::from_millis(until.0.saturating_sub(now.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(last: u64) -> Msisdn {
        Msisdn::from_number(4_915_100_000_000 + last).unwrap()
    }

    #[test]
    fn limited_recipient_steps_aside_for_longer_each_time_until_it_is_accepted() {
        let (limited, to) = (LimitedRecipients::default(), number(1));
        let seconds = |wait: Option<Duration>| wait.map(|wait| wait.as_secs());
        assert_eq!(limited.throttled(to, Moment(0)), None);
        limited.remember(to, 1, Moment(1_000), Moment(0));
        assert_eq!(limited.wait(to, Moment(999)), Some(Duration::from_millis(1)));
        assert_eq!((limited.wait(to, Moment(1_000)), limited.wait(number(2), Moment(0))), (None, None));
        let mut now = 1_000;
        for expect in [5, 30, 60, 60] {
            assert_eq!(seconds(limited.throttled(to, Moment(now))), Some(expect));
            assert_eq!(
                seconds(limited.throttled(to, Moment(now + 1_000))),
                Some(expect - 1),
                "the same wait"
            );
            now += expect * 1_000;
        }
        limited.accepted(to);
        assert_eq!(limited.throttled(to, Moment(now)), None);
    }

    #[test]
    fn no_more_than_a_thousand_recipients_are_remembered_and_not_for_ever() {
        let limited = LimitedRecipients::default();
        let most = u64::try_from(LIMITED_MAX).unwrap();
        for last in 0..=most {
            limited.remember(number(last), 1, Moment(1_000 + last), Moment(0));
        }
        assert_eq!(limited.lock().len(), LIMITED_MAX);
        assert_eq!(limited.wait(number(0), Moment(0)), None, "its turn would have been first");
        limited.remember(number(0), 1, Moment(700_000), Moment(700_000));
        assert_eq!(limited.lock().len(), 1);
    }
}

//! Until when this node may answer customers and send to carriers. Several nodes agree on that by leases on the database's
//! clock; the embedded store belongs to one process and needs none.

use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// How long a lease lasts.
pub(crate) const LEASE: Duration = Duration::from_secs(5);
/// How often it is renewed.
pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(1);
/// In the last part of its lease a node sends nothing to carriers: what it has sent must be on its way before another node
/// may send the same again.
const QUIET: Duration = Duration::from_secs(2);

/// The end of this node's lease, on the clock that runs while the machine sleeps.
#[derive(Debug)]
pub(crate) struct Lease {
    ends_ms: AtomicI64,
}

impl Lease {
    /// Returns a lease that never ends.
    pub(crate) fn endless() -> Lease {
        Lease { ends_ms: AtomicI64::new(i64::MAX) }
    }

    /// Returns a lease that has ended.
    pub(crate) fn ended() -> Lease {
        Lease { ends_ms: AtomicI64::new(i64::MIN) }
    }

    /// Renews it. `asked_at`: when the renewal was sent, because the server may have renewed it at any time since.
    pub(crate) fn renew(&self, asked_at: BootTime) {
        self.ends_ms.fetch_max(asked_at.0.saturating_add(millis(LEASE)), Ordering::AcqRel);
    }

    /// Whether this node may answer.
    pub(crate) fn is_valid(&self) -> bool {
        let ends = self.ends_ms.load(Ordering::Acquire);
        ends == i64::MAX || BootTime::now().0 < ends
    }

    /// Whether this node may send to carriers.
    pub(crate) fn may_send(&self) -> bool {
        let ends = self.ends_ms.load(Ordering::Acquire);
        ends == i64::MAX || BootTime::now().0 < ends.saturating_sub(millis(QUIET))
    }
}

/// A moment of the clock that runs while the machine sleeps, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BootTime(i64);

impl BootTime {
    pub(crate) fn now() -> BootTime {
        let time = clock_gettime(ClockId::Boottime);
        BootTime(time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000))
    }

    /// Returns the time since the machine was started.
    pub(crate) fn since_boot(self) -> Duration {
        Duration::from_millis(self.0.max(0).cast_unsigned())
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).expect("a few seconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_sends_nothing_in_the_last_two_seconds_of_its_lease() {
        let lease = Lease::ended();
        assert!(!lease.is_valid() && !lease.may_send());
        let BootTime(now) = BootTime::now();
        lease.renew(BootTime(now - 4_000));
        assert!(lease.is_valid() && !lease.may_send());
        lease.renew(BootTime(now));
        assert!(lease.is_valid() && lease.may_send());
        lease.renew(BootTime(now - 60_000));
        assert!(lease.is_valid(), "a late answer does not shorten it");
        assert!(Lease::endless().is_valid() && Lease::endless().may_send());
    }
}

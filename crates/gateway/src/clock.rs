//! The only source of time. All code uses a [`Clock`]: the real one, or a manual one that a test advances.
//! [`Clock::now`] is for timestamps: it starts with the machine's clock, follows it slowly and never jumps
//! ([`MonotonicClock`]). Timeouts use a monotonic count of milliseconds ([`Moment`]).

use hermod_domain::monotonic_clock::{ClockObservation, MonotonicClock};
use hermod_domain::time::Timestamp;
pub use hermod_smpp::Moment;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::error::Elapsed;

/// Ten years, which avoids overflow.
const SLEEP_MS_MAX: u64 = 10 * 365 * 24 * 3_600_000;

#[derive(Clone)]
pub struct Clock(Kind);

#[derive(Clone)]
enum Kind {
    Real { start: tokio::time::Instant, steady: Arc<Mutex<MonotonicClock>> },
    Manual(Arc<watch::Sender<ManualTime>>),
}

#[derive(Clone, Copy)]
struct ManualTime {
    wall: Timestamp,
    moment: Moment,
    steady: MonotonicClock,
}

impl Clock {
    pub fn real() -> Clock {
        let steady = MonotonicClock::starting_at(wall_time(), up_ms());
        Clock(Kind::Real { start: tokio::time::Instant::now(), steady: Arc::new(Mutex::new(steady)) })
    }

    /// Returns a clock that only [`Clock::advance`] moves.
    pub fn manual(wall: Timestamp) -> Clock {
        let steady = MonotonicClock::starting_at(wall, 0);
        Clock(Kind::Manual(Arc::new(watch::Sender::new(ManualTime { wall, moment: Moment(0), steady }))))
    }

    /// Returns the time for timestamps. It never goes back, and runs at most a tenth faster or slower than real time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::Real { steady, .. } => {
                // Read the uptime under the lock: a thread delayed in between would use an outdated correction.
                let steady = steady.lock();
                steady.now(up_ms())
            }
            Kind::Manual(time) => {
                let time = time.borrow();
                time.steady.now(time.moment.0)
            }
        }
    }

    /// Reads the machine's clock, to follow it. To be called every second.
    pub fn observe(&self) -> ClockObservation {
        match &self.0 {
            Kind::Real { steady, .. } => {
                let mut steady = steady.lock();
                steady.observe(wall_time(), up_ms())
            }
            Kind::Manual(time) => {
                let mut observed = ClockObservation::InStep;
                time.send_if_modified(|time| {
                    observed = time.steady.observe(time.wall, time.moment.0);
                    // The change wakes no sleeper.
                    false
                });
                observed
            }
        }
    }

    pub fn moment(&self) -> Moment {
        match &self.0 {
            Kind::Real { start, .. } => {
                Moment(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX))
            }
            Kind::Manual(time) => time.borrow().moment,
        }
    }

    pub async fn sleep_until(&self, until: Moment) {
        match &self.0 {
            Kind::Real { start, .. } => {
                let ms = until.0.min(SLEEP_MS_MAX);
                tokio::time::sleep_until(*start + Duration::from_millis(ms)).await;
            }
            Kind::Manual(time) => {
                let mut changes = time.subscribe();
                // The clock holds the sender, so the wait cannot fail.
                let _ = changes.wait_for(|now| now.moment >= until).await;
            }
        }
    }

    pub async fn sleep(&self, wait: Duration) {
        self.sleep_until(self.moment().plus(wait)).await;
    }

    /// Advances a manual clock, both wall time and monotonic time. Panics on the real clock.
    pub fn advance(&self, by: Duration) {
        self.with_manual(|time| {
            time.wall = time.wall.plus(by);
            time.moment = time.moment.plus(by);
        });
    }

    /// Sets the machine's clock of a manual clock, as an operator or NTP would.
    pub fn set_wall(&self, wall: Timestamp) {
        self.with_manual(|time| time.wall = wall);
    }

    /// Returns the machine's clock, for values that other machines compare with theirs. Not for our own timestamps.
    pub fn machine_time(&self) -> Timestamp {
        match &self.0 {
            Kind::Real { .. } => wall_time(),
            Kind::Manual(time) => time.borrow().wall,
        }
    }

    fn with_manual(&self, change: impl FnOnce(&mut ManualTime)) {
        match &self.0 {
            Kind::Real { .. } => panic!("only a manual clock can be moved"),
            Kind::Manual(time) => time.send_modify(change),
        }
    }
}

/// Waits for `future` for at most `limit` of real time: for sockets, processes and shutdown, which follow no test's clock.
/// The error says that the limit passed first.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    tokio::time::timeout(limit, future).await
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn wall_time() -> Timestamp {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the machine's uptime in milliseconds, including suspend where the system counts it: a suspend is not a clock
/// jump.
fn up_ms() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const UP: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const UP: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let up = rustix::time::clock_gettime(UP);
    let seconds = u64::try_from(up.tv_sec).unwrap_or(0);
    let millis = u64::try_from(up.tv_nsec / 1_000_000).unwrap_or(0);
    seconds.saturating_mul(1_000).saturating_add(millis)
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;

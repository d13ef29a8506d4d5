//! The only place that knows what time it is. Everything else asks a [`Clock`]: the real one, or one that a test moves
//! by hand. [`Clock::now`] dates things: it starts with the machine's clock, follows it at a walk and never jumps
//! ([`SteadyTime`]). Waiting goes by a monotonic count of milliseconds ([`Moment`]).

use hermod_domain::monotonic_clock::{Observed, SteadyTime};
use hermod_domain::time::Timestamp;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::error::Elapsed;

/// Milliseconds since the clock was made. Never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

impl Moment {
    pub fn plus(self, wait: Duration) -> Moment {
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Moment(self.0.saturating_add(ms))
    }
}

/// Ten years: for ever, without the sums overflowing.
const SLEEP_MS_MAX: u64 = 10 * 365 * 24 * 3_600_000;

#[derive(Clone)]
pub struct Clock(Kind);

#[derive(Clone)]
enum Kind {
    Real { start: tokio::time::Instant, steady: Arc<Mutex<SteadyTime>> },
    Manual(Arc<watch::Sender<ManualTime>>),
}

#[derive(Clone, Copy)]
struct ManualTime {
    wall: Timestamp,
    moment: Moment,
    steady: SteadyTime,
}

impl Clock {
    pub fn real() -> Clock {
        let steady = SteadyTime::starting_at(wall_time(), up_ms());
        Clock(Kind::Real { start: tokio::time::Instant::now(), steady: Arc::new(Mutex::new(steady)) })
    }

    /// A clock that stands still until [`Clock::advance`] moves it.
    pub fn manual(wall: Timestamp) -> Clock {
        let steady = SteadyTime::starting_at(wall, 0);
        Clock(Kind::Manual(Arc::new(watch::Sender::new(ManualTime { wall, moment: Moment(0), steady }))))
    }

    /// The time of the day. Never goes back, and never by more than a tenth faster or slower than time passes.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::Real { steady, .. } => {
                // How long the machine has been up is asked under the lock: otherwise somebody who was held up in between
                // would go by a course that has been corrected since.
                let steady = lock(steady);
                steady.now(up_ms())
            }
            Kind::Manual(time) => {
                let time = time.borrow();
                time.steady.now(time.moment.0)
            }
        }
    }

    /// Looks at the machine's clock, to follow it. To be called every second.
    pub fn observe(&self) -> Observed {
        match &self.0 {
            Kind::Real { steady, .. } => {
                let mut steady = lock(steady);
                steady.observe(wall_time(), up_ms())
            }
            Kind::Manual(time) => {
                let mut observed = Observed::InStep;
                time.send_if_modified(|time| {
                    observed = time.steady.observe(time.wall, time.moment.0);
                    // Nobody waits for this.
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
                // The sender lives in this very clock, so the wait cannot fail.
                let _ = changes.wait_for(|now| now.moment >= until).await;
            }
        }
    }

    pub async fn sleep(&self, wait: Duration) {
        self.sleep_until(self.moment().plus(wait)).await;
    }

    /// Moves a manual clock, wall time and waiting alike. Panics on the real one: nobody moves that.
    pub fn advance(&self, by: Duration) {
        self.with_manual(|time| {
            time.wall = time.wall.plus(by);
            time.moment = time.moment.plus(by);
        });
    }

    /// Sets the clock of a manual clock's machine, as an operator or a time server would.
    pub fn set_wall(&self, wall: Timestamp) {
        self.with_manual(|time| time.wall = wall);
    }

    /// What the machine's clock shows, which nothing here goes by. Others do: it is what they are told where they compare.
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

/// Milliseconds that the machine has been up, those it was suspended for among them where the system counts them: a
/// laptop that was closed for the night has not jumped.
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

/// A count is right even if somebody panicked while looking at it.
fn lock<T>(counted: &Mutex<T>) -> MutexGuard<'_, T> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clock_starts_where_the_machines_stands_and_goes_as_it_does() {
        let clock = Clock::real();
        for _ in 0..3 {
            let apart = clock.now().as_millis() - clock.machine_time().as_millis();
            assert!(apart.abs() < 500, "{apart} ms");
            assert_eq!(clock.observe(), Observed::InStep);
        }
        let (before, other) = (clock.now(), clock.clone());
        assert!(other.now() >= before, "clones share one count");
    }

    #[test]
    fn a_manual_clock_moves_whole_or_only_its_machines_clock() {
        let start = Timestamp::from_millis(1_794_700_800_000);
        let (clock, hour) = (Clock::manual(start), Duration::from_secs(3_600));
        clock.advance(hour);
        assert_eq!((clock.now(), clock.observe()), (start.plus(hour), Observed::InStep));
        clock.set_wall(start.plus(3 * hour));
        assert_eq!(clock.now(), start.plus(hour));
        assert_eq!(clock.observe(), Observed::Jumped { ahead_ms: 7_200_000 });
        clock.advance(10 * Duration::from_secs(1));
        assert_eq!(clock.now(), start.plus(hour + Duration::from_secs(11)));
        assert_eq!(clock.machine_time(), start.plus(3 * hour + Duration::from_secs(10)));
    }
}

//! The only place that knows what time it is. Everything else asks a [`Clock`]: the real one, or one that a test moves
//! by hand. Wall time ([`Clock::now`]) dates things and may jump; waiting goes by a monotonic count of milliseconds
//! ([`Moment`]), which does not.

use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

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
    Real { start: tokio::time::Instant },
    Manual(Arc<watch::Sender<ManualTime>>),
}

#[derive(Clone, Copy)]
struct ManualTime {
    wall: Timestamp,
    moment: Moment,
}

impl Clock {
    pub fn real() -> Clock {
        Clock(Kind::Real { start: tokio::time::Instant::now() })
    }

    /// A clock that stands still until [`Clock::advance`] moves it.
    pub fn manual(wall: Timestamp) -> Clock {
        Clock(Kind::Manual(Arc::new(watch::Sender::new(ManualTime { wall, moment: Moment(0) }))))
    }

    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::Real { .. } => wall_time(),
            Kind::Manual(time) => time.borrow().wall,
        }
    }

    pub fn moment(&self) -> Moment {
        match &self.0 {
            Kind::Real { start } => Moment(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)),
            Kind::Manual(time) => time.borrow().moment,
        }
    }

    pub async fn sleep_until(&self, until: Moment) {
        match &self.0 {
            Kind::Real { start } => {
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

    /// Sets a manual clock's wall time alone, as an operator or a time server would.
    pub fn set_wall(&self, wall: Timestamp) {
        self.with_manual(|time| time.wall = wall);
    }

    fn with_manual(&self, change: impl FnOnce(&mut ManualTime)) {
        match &self.0 {
            Kind::Real { .. } => panic!("only a manual clock can be moved"),
            Kind::Manual(time) => time.send_modify(change),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn wall_time() -> Timestamp {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

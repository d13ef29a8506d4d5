//! Releases the messages of an open loop when they are due. The runtime's timers have steps of a millisecond, which would send
//! in bursts and add to every measured latency; a thread that sleeps precisely keeps the error at about 0.1 ms.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::schedule::SendSchedule;
use crate::runtime;

/// Messages due within this time are released together, which limits the thread to 10,000 wake-ups per second.
const STEP_MIN: Duration = Duration::from_micros(100);
/// How much later than asked Linux may wake the thread, in nanoseconds. The default of 50 us would add half a step to each.
const TIMER_SLACK: NonZeroU64 = NonZeroU64::MIN;
/// The thread checks this often whether the run was stopped.
const STEP_MAX: Duration = Duration::from_millis(20);

/// Messages released in one step.
const RELEASED_MAX: usize = 100_000;

/// A running pacer. It ends when all messages are released or the schedule is stopped.
pub(crate) struct Pacer {
    released: Arc<Semaphore>,
    thread: JoinHandle<()>,
}

/// One permit for each message that is due; connections wait for them.
#[derive(Clone)]
pub(crate) struct SendPermits(Arc<Semaphore>);

impl Pacer {
    /// Releases one permit for each message of the schedule, and at the end one for each of `waiters`, which then find the
    /// schedule empty.
    pub(crate) fn start(schedule: Arc<SendSchedule>, waiters: u32) -> Pacer {
        let released = Arc::new(Semaphore::new(0));
        let permits = Arc::clone(&released);
        let thread = thread::spawn(move || {
            // Where it is not allowed the steps are a little longer.
            let _ = rustix::thread::set_current_timer_slack(Some(TIMER_SLACK));
            release(&schedule, &permits);
            permits.add_permits(waiters as usize);
        });
        Pacer { released, thread }
    }

    pub(crate) fn permits(&self) -> SendPermits {
        SendPermits(Arc::clone(&self.released))
    }

    pub(crate) fn finish(self) {
        self.thread.join().expect("the pacer does not panic");
    }
}

impl SendPermits {
    /// Waits until a message is due.
    pub(crate) async fn acquire(&self) {
        self.0.acquire().await.expect("the semaphore is never closed").forget();
    }

    /// Returns whether another message is due, and takes its permit.
    pub(crate) fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok_and(|permit| {
            permit.forget();
            true
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "a thread sleeps more exactly than the runtime's timer")]
fn release(schedule: &SendSchedule, permits: &Semaphore) {
    let mut released = 0;
    while let Some(next) = schedule.due_at(released) {
        let now = runtime::now();
        if next > now {
            thread::sleep((next - now).clamp(STEP_MIN, STEP_MAX));
            continue;
        }
        let due = due_by(schedule, released, now);
        permits.add_permits(due - released);
        released = due;
    }
}

/// Returns how many messages are due by `now`, of which `released` were due before. After a long pause (a suspended laptop)
/// the run catches up in steps, because a semaphore holds a limited number of permits.
fn due_by(schedule: &SendSchedule, released: usize, now: Instant) -> usize {
    let mut due = released;
    while due - released < RELEASED_MAX && schedule.due_at(due).is_some_and(|at| at <= now) {
        due += 1;
    }
    due
}

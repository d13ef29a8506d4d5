//! Wakes an open loop when its messages are due. The runtime's timers step by the millisecond, which would add about
//! one to every latency measured; a thread of its own that sleeps to the point keeps that under a fifth of it.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::schedule::Schedule;
use crate::runtime;

/// Arrivals closer together than this are released together: it bounds the wake-ups to 5,000 a second.
const STEP_MIN: Duration = Duration::from_micros(200);
/// The thread looks this often whether the run was stopped.
const STEP_MAX: Duration = Duration::from_millis(20);

/// RuleCounters released in one step.
const TURNS_MAX: usize = 100_000;

/// A running pacer. It ends when everything is released or the schedule is stopped.
pub(crate) struct Pacer {
    released: Arc<Semaphore>,
    thread: JoinHandle<()>,
}

/// Where connections wait for their next turn.
#[derive(Clone)]
pub(crate) struct SendPermits(Arc<Semaphore>);

impl Pacer {
    /// Releases one turn for each arrival of the schedule, and at the end one for each of `waiters`, who then find
    /// the schedule empty.
    pub(crate) fn start(schedule: Arc<Schedule>, waiters: u32) -> Pacer {
        let released = Arc::new(Semaphore::new(0));
        let turns = Arc::clone(&released);
        let thread = thread::spawn(move || {
            release(&schedule, &turns);
            turns.add_permits(waiters as usize);
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
    /// Waits until an arrival is due.
    pub(crate) async fn pass(&self) {
        self.0.acquire().await.expect("the semaphore is never closed").forget();
    }

    /// Takes another turn if one is due already.
    pub(crate) fn try_pass(&self) -> bool {
        self.0.try_acquire().is_ok_and(|turn| {
            turn.forget();
            true
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "a thread sleeps more exactly than the runtime's timer")]
fn release(schedule: &Schedule, turns: &Semaphore) {
    let mut released = 0;
    while let Some(next) = schedule.due_at(released) {
        let now = runtime::now();
        if next > now {
            thread::sleep((next - now).clamp(STEP_MIN, STEP_MAX));
            continue;
        }
        let due = due_by(schedule, released, now);
        turns.add_permits(due - released);
        released = due;
    }
}

/// How many arrivals are due by `now`, when `released` of them were before. A run that starts far behind (a laptop
/// that slept) catches up in steps, because a semaphore holds only so many turns at once.
fn due_by(schedule: &Schedule, released: usize, now: Instant) -> usize {
    let mut due = released;
    while due - released < TURNS_MAX && schedule.due_at(due).is_some_and(|at| at <= now) {
        due += 1;
    }
    due
}

//! A wall clock that never jumps and never runs backwards. It starts at the system clock's time, counts the machine's
//! uptime, and follows later changes of the system clock gradually. Deadlines therefore expire when their time has
//! really passed, not because the system clock was set.

use crate::time::Timestamp;

/// Larger differences are a jump: NTP does not slew a clock that is further off.
const JUMP_MS: i64 = 1_000;
/// How fast a small difference is corrected, in thousandths: five milliseconds per second.
const SLEW_PER_MILLE: i64 = 5;
/// How fast a jump is followed, in thousandths.
const APPROACH_PER_MILLE: i64 = 100;

/// The result of comparing with the system clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockObservation {
    /// Both clocks agree.
    InStep,
    /// The system clock jumped since the last observation, and is ahead by this now.
    Jumped { ahead_ms: i64 },
    /// The system clock jumped earlier, and is still ahead by this.
    Following { ahead_ms: i64 },
}

impl ClockObservation {
    pub const fn ahead_ms(self) -> i64 {
        match self {
            ClockObservation::InStep => 0,
            ClockObservation::Jumped { ahead_ms } | ClockObservation::Following { ahead_ms } => ahead_ms,
        }
    }
}

/// The clock. Pure: callers pass the machine's uptime and the system clock's time.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    /// This clock's time at the last observation.
    from_ms: i64,
    /// The uptime at the last observation.
    up_ms: u64,
    /// How far the system clock was ahead at the last observation.
    ahead_ms: i64,
}

impl MonotonicClock {
    /// Starts at the system clock's time.
    pub fn starting_at(wall: Timestamp, up_ms: u64) -> MonotonicClock {
        MonotonicClock { from_ms: wall.as_millis(), up_ms, ahead_ms: 0 }
    }

    pub fn now(&self, up_ms: u64) -> Timestamp {
        let passed = i64::try_from(up_ms.saturating_sub(self.up_ms)).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.from_ms.saturating_add(passed).saturating_add(self.correction(passed)))
    }

    /// Compares with the system clock; to be called about every second. The correction is linear in between, so a
    /// missed call does no harm.
    pub fn observe(&mut self, wall: Timestamp, up_ms: u64) -> ClockObservation {
        let now = self.now(up_ms).as_millis();
        let passed = i64::try_from(up_ms.saturating_sub(self.up_ms)).unwrap_or(i64::MAX);
        let expected = self.ahead_ms.saturating_sub(self.correction(passed));
        let ahead_ms = wall.as_millis().saturating_sub(now);
        let was_apart = self.ahead_ms.saturating_abs() >= JUMP_MS;
        *self = MonotonicClock { from_ms: now, up_ms, ahead_ms };
        if ahead_ms.saturating_abs() < JUMP_MS {
            ClockObservation::InStep
        } else if was_apart && ahead_ms.saturating_sub(expected).saturating_abs() < JUMP_MS {
            ClockObservation::Following { ahead_ms }
        } else {
            ClockObservation::Jumped { ahead_ms }
        }
    }

    /// Returns the correction after `passed` milliseconds. It is less than the time passed, so the clock never stops.
    fn correction(&self, passed: i64) -> i64 {
        let per_mille =
            if self.ahead_ms.saturating_abs() < JUMP_MS { SLEW_PER_MILLE } else { APPROACH_PER_MILLE };
        let limit = (passed / 1_000).saturating_mul(per_mille) + passed % 1_000 * per_mille / 1_000;
        self.ahead_ms.clamp(-limit, limit)
    }
}

#[cfg(test)]
#[path = "monotonic_clock_tests.rs"]
mod tests;

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
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2026-11-15T00:00:00Z.
    const START: i64 = 1_794_700_800_000;
    const SECOND: i64 = 1_000;
    const HOUR: i64 = 3_600 * SECOND;
    const DAY: i64 = 24 * HOUR;

    /// A machine with its system clock, its uptime, and our clock, which observes every second.
    struct Machine {
        wall_ms: i64,
        up_ms: u64,
        steady: MonotonicClock,
    }

    impl Machine {
        fn starting_at(wall_ms: i64) -> Machine {
            let up_ms = 77_123;
            let steady = MonotonicClock::starting_at(Timestamp::from_millis(wall_ms), up_ms);
            Machine { wall_ms, up_ms, steady }
        }

        fn now(&self) -> i64 {
            self.steady.now(self.up_ms).as_millis()
        }

        fn advance(&mut self, ms: u32) {
            self.up_ms += u64::from(ms);
            self.wall_ms += i64::from(ms);
        }

        fn observe(&mut self) -> ClockObservation {
            self.steady.observe(Timestamp::from_millis(self.wall_ms), self.up_ms)
        }

        /// Observes every second and returns the last observation.
        fn run(&mut self, seconds: i64) -> ClockObservation {
            let mut observed = ClockObservation::InStep;
            for _ in 0..seconds {
                self.advance(1_000);
                observed = self.observe();
            }
            observed
        }
    }

    #[test]
    fn jump_is_reported_once_and_followed_at_a_tenth() {
        for jump in [HOUR, -HOUR, DAY, -DAY, -5 * SECOND, 3 * SECOND] {
            let mut machine = Machine::starting_at(START);
            machine.run(60);
            let before = machine.now();
            machine.wall_ms += jump;
            assert_eq!(machine.now(), before, "{jump} ms: not observed yet");
            assert_eq!(machine.observe(), ClockObservation::Jumped { ahead_ms: jump });
            assert_eq!(machine.now(), before, "{jump} ms");
            let share = (jump.abs() - SECOND).min(60 * SECOND / 10);
            let steps = share / (SECOND / 10);
            let observed = machine.run(steps);
            let followed = steps * SECOND / 10 * jump.signum();
            assert_eq!(machine.now(), before + steps * SECOND + followed, "{jump} ms");
            assert_eq!(observed, ClockObservation::Following { ahead_ms: jump - followed }, "{jump} ms");
        }
    }

    #[test]
    fn clock_agrees_with_the_system_clock_eventually() {
        for jump in [HOUR, -HOUR, -5 * SECOND] {
            let mut machine = Machine::starting_at(START);
            machine.wall_ms += jump;
            // Ten times as long, and more for the last second.
            let observed = machine.run(jump.abs() / SECOND * 10 + 300);
            assert_eq!((observed, machine.now()), (ClockObservation::InStep, machine.wall_ms), "{jump} ms");
        }
    }

    #[test]
    fn second_jump_during_the_first_is_reported() {
        let mut machine = Machine::starting_at(START);
        machine.wall_ms += HOUR;
        assert_eq!(machine.observe(), ClockObservation::Jumped { ahead_ms: HOUR });
        machine.run(10);
        machine.wall_ms -= 2 * HOUR;
        assert_eq!(machine.observe(), ClockObservation::Jumped { ahead_ms: -HOUR - SECOND });
        machine.wall_ms += HOUR + SECOND;
        assert_eq!(machine.observe(), ClockObservation::InStep, "the system clock was corrected");
    }

    #[test]
    fn ntp_slew_is_followed_without_a_report() {
        for off in [999, -999, 40, -40] {
            let mut machine = Machine::starting_at(START);
            machine.wall_ms += off;
            assert_eq!(machine.run(1), ClockObservation::InStep);
            let before = machine.now();
            machine.run(10);
            assert_eq!(machine.now() - before, 10 * SECOND + off.clamp(-50, 50), "{off} ms");
            machine.run(300);
            assert_eq!(machine.now(), machine.wall_ms, "{off} ms");
        }
    }

    #[test]
    fn no_date_is_special() {
        for date in ["2037-12-31T23:59:30Z", "2038-01-19T03:13:50Z", "2090-02-28T23:59:30Z"] {
            let start = Timestamp::parse(date).unwrap().as_millis();
            let mut machine = Machine::starting_at(start);
            assert_eq!(machine.run(60), ClockObservation::InStep);
            assert_eq!(machine.now(), start + 60 * SECOND, "{date}");
        }
        let mut machine = Machine::starting_at(START);
        machine.wall_ms = Timestamp::parse("2038-01-19T03:14:08Z").unwrap().as_millis();
        assert!(matches!(machine.observe(), ClockObservation::Jumped { .. }));
        assert_eq!(machine.now(), START);
    }

    #[test]
    fn a_day_without_observation_does_not_overcorrect() {
        let mut machine = Machine::starting_at(START);
        machine.wall_ms += 10 * SECOND;
        machine.observe();
        machine.advance(86_400_000);
        assert_eq!(machine.now(), machine.wall_ms);
        assert_eq!(machine.observe(), ClockObservation::InStep);
    }

    #[test]
    fn extreme_times_do_not_overflow() {
        let mut machine = Machine::starting_at(i64::MAX - 1);
        machine.up_ms = u64::MAX;
        assert_eq!(machine.now(), i64::MAX);
        machine.wall_ms = i64::MIN;
        assert!(machine.observe().ahead_ms() < 0);
        assert_eq!(machine.now(), i64::MAX);
    }

    proptest! {
        #[test]
        fn clock_never_runs_backwards_and_deviates_by_at_most_a_tenth(
            steps in prop::collection::vec((0..5_000_u32, -2 * DAY..2 * DAY, 0..4_u8), 1..200)
        ) {
            let mut machine = Machine::starting_at(START);
            let mut last = machine.now();
            for (ms, jump, kind) in steps {
                if kind == 0 {
                    machine.wall_ms += jump;
                }
                machine.advance(ms);
                let now = machine.now();
                let passed = i64::from(ms);
                prop_assert!(now >= last + passed - passed / 10 - 1, "{} after {}", now - last, passed);
                prop_assert!(now <= last + passed + passed / 10 + 1, "{} after {}", now - last, passed);
                if kind < 3 {
                    machine.observe();
                    prop_assert_eq!(machine.now(), now, "a look changes nothing by itself");
                }
                last = now;
            }
        }
    }
}

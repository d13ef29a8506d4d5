//! Unit tests of `monotonic_clock.rs`.

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

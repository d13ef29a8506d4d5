//! A wall clock that cannot jump. It starts where the machine's clock stands and counts on by itself; what the machine's
//! clock says later is followed little by little and never backwards. Whatever is dated by it lapses when its time has
//! really passed, and not because somebody corrected a clock.

use crate::time::Timestamp;

/// Differences from here on are a jump: no time server slews a clock that is further off than this.
const JUMP_MS: i64 = 1_000;
/// How fast a small difference is made up for, in thousandths: five milliseconds in a second.
const SLEW_PER_MILLE: i64 = 5;
/// How fast a jump is approached, in thousandths.
const APPROACH_PER_MILLE: i64 = 100;

/// What a look at the machine's clock came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// It goes as we do.
    InStep,
    /// It has just jumped, and is so many milliseconds ahead of us now.
    Jumped { ahead_ms: i64 },
    /// It jumped a while ago, and is still so many milliseconds ahead of us.
    Following { ahead_ms: i64 },
}

impl Observed {
    pub const fn ahead_ms(self) -> i64 {
        match self {
            Observed::InStep => 0,
            Observed::Jumped { ahead_ms } | Observed::Following { ahead_ms } => ahead_ms,
        }
    }
}

/// Pure: how long the machine has been up and what its clock shows are told to it.
#[derive(Clone, Copy, Debug)]
pub struct SteadyTime {
    /// What this clock showed when the other was last looked at.
    from_ms: i64,
    /// How long the machine had been up then.
    up_ms: u64,
    /// How far ahead the other was then: what is to be made up for.
    ahead_ms: i64,
}

impl SteadyTime {
    /// It starts where the machine's clock stands.
    pub fn starting_at(wall: Timestamp, up_ms: u64) -> SteadyTime {
        SteadyTime { from_ms: wall.as_millis(), up_ms, ahead_ms: 0 }
    }

    pub fn now(&self, up_ms: u64) -> Timestamp {
        let passed = i64::try_from(up_ms.saturating_sub(self.up_ms)).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.from_ms.saturating_add(passed).saturating_add(self.made_up(passed)))
    }

    /// To be called every second or so. Between two looks the course is straight, so a missed one does no harm.
    pub fn observe(&mut self, wall: Timestamp, up_ms: u64) -> Observed {
        let now = self.now(up_ms).as_millis();
        let passed = i64::try_from(up_ms.saturating_sub(self.up_ms)).unwrap_or(i64::MAX);
        let expected = self.ahead_ms.saturating_sub(self.made_up(passed));
        let ahead_ms = wall.as_millis().saturating_sub(now);
        let was_apart = self.ahead_ms.saturating_abs() >= JUMP_MS;
        *self = SteadyTime { from_ms: now, up_ms, ahead_ms };
        if ahead_ms.saturating_abs() < JUMP_MS {
            Observed::InStep
        } else if was_apart && ahead_ms.saturating_sub(expected).saturating_abs() < JUMP_MS {
            Observed::Following { ahead_ms }
        } else {
            Observed::Jumped { ahead_ms }
        }
    }

    /// How much of the difference is made up for after so long. Less than the time itself, so this clock never stops.
    fn made_up(&self, passed: i64) -> i64 {
        let per_mille =
            if self.ahead_ms.saturating_abs() < JUMP_MS { SLEW_PER_MILLE } else { APPROACH_PER_MILLE };
        let most = (passed / 1_000).saturating_mul(per_mille) + passed % 1_000 * per_mille / 1_000;
        self.ahead_ms.clamp(-most, most)
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

    /// A machine: its clock, how long it has been up, and ours, looked at every second.
    struct Machine {
        wall_ms: i64,
        up_ms: u64,
        steady: SteadyTime,
    }

    impl Machine {
        fn starting_at(wall_ms: i64) -> Machine {
            let up_ms = 77_123;
            let steady = SteadyTime::starting_at(Timestamp::from_millis(wall_ms), up_ms);
            Machine { wall_ms, up_ms, steady }
        }

        fn now(&self) -> i64 {
            self.steady.now(self.up_ms).as_millis()
        }

        fn passes(&mut self, ms: u32) {
            self.up_ms += u64::from(ms);
            self.wall_ms += i64::from(ms);
        }

        fn looks(&mut self) -> Observed {
            self.steady.observe(Timestamp::from_millis(self.wall_ms), self.up_ms)
        }

        /// The last of so many looks.
        fn lives(&mut self, seconds: i64) -> Observed {
            let mut observed = Observed::InStep;
            for _ in 0..seconds {
                self.passes(1_000);
                observed = self.looks();
            }
            observed
        }
    }

    #[test]
    fn a_jump_is_told_once_and_followed_by_a_tenth() {
        for jump in [HOUR, -HOUR, DAY, -DAY, -5 * SECOND, 3 * SECOND] {
            let mut machine = Machine::starting_at(START);
            machine.lives(60);
            let before = machine.now();
            machine.wall_ms += jump;
            assert_eq!(machine.now(), before, "{jump} ms: nobody has looked yet");
            assert_eq!(machine.looks(), Observed::Jumped { ahead_ms: jump });
            assert_eq!(machine.now(), before, "{jump} ms");
            let share = (jump.abs() - SECOND).min(60 * SECOND / 10);
            let steps = share / (SECOND / 10);
            let observed = machine.lives(steps);
            let followed = steps * SECOND / 10 * jump.signum();
            assert_eq!(machine.now(), before + steps * SECOND + followed, "{jump} ms");
            assert_eq!(observed, Observed::Following { ahead_ms: jump - followed }, "{jump} ms");
        }
    }

    #[test]
    fn in_the_end_it_goes_as_the_machine_does() {
        for jump in [HOUR, -HOUR, -5 * SECOND] {
            let mut machine = Machine::starting_at(START);
            machine.wall_ms += jump;
            // Ten times as long, and a while for the last second.
            let observed = machine.lives(jump.abs() / SECOND * 10 + 300);
            assert_eq!((observed, machine.now()), (Observed::InStep, machine.wall_ms), "{jump} ms");
        }
    }

    #[test]
    fn a_second_jump_while_the_first_is_followed_is_told_as_well() {
        let mut machine = Machine::starting_at(START);
        machine.wall_ms += HOUR;
        assert_eq!(machine.looks(), Observed::Jumped { ahead_ms: HOUR });
        machine.lives(10);
        machine.wall_ms -= 2 * HOUR;
        assert_eq!(machine.looks(), Observed::Jumped { ahead_ms: -HOUR - SECOND });
        machine.wall_ms += HOUR + SECOND;
        assert_eq!(machine.looks(), Observed::InStep, "it was set right again");
    }

    #[test]
    fn what_a_time_server_does_to_the_machine_is_followed_without_a_word() {
        for off in [999, -999, 40, -40] {
            let mut machine = Machine::starting_at(START);
            machine.wall_ms += off;
            assert_eq!(machine.lives(1), Observed::InStep);
            let before = machine.now();
            machine.lives(10);
            assert_eq!(machine.now() - before, 10 * SECOND + off.clamp(-50, 50), "{off} ms");
            machine.lives(300);
            assert_eq!(machine.now(), machine.wall_ms, "{off} ms");
        }
    }

    #[test]
    fn no_date_is_special() {
        for date in ["2037-12-31T23:59:30Z", "2038-01-19T03:13:50Z", "2090-02-28T23:59:30Z"] {
            let start = Timestamp::parse(date).unwrap().as_millis();
            let mut machine = Machine::starting_at(start);
            assert_eq!(machine.lives(60), Observed::InStep);
            assert_eq!(machine.now(), start + 60 * SECOND, "{date}");
        }
        let mut machine = Machine::starting_at(START);
        machine.wall_ms = Timestamp::parse("2038-01-19T03:14:08Z").unwrap().as_millis();
        assert!(matches!(machine.looks(), Observed::Jumped { .. }));
        assert_eq!(machine.now(), START);
    }

    #[test]
    fn without_a_look_for_a_day_it_still_follows_no_further_than_it_should() {
        let mut machine = Machine::starting_at(START);
        machine.wall_ms += 10 * SECOND;
        machine.looks();
        machine.passes(86_400_000);
        assert_eq!(machine.now(), machine.wall_ms);
        assert_eq!(machine.looks(), Observed::InStep);
    }

    #[test]
    fn no_clock_shows_what_it_cannot_hold() {
        let mut machine = Machine::starting_at(i64::MAX - 1);
        machine.up_ms = u64::MAX;
        assert_eq!(machine.now(), i64::MAX);
        machine.wall_ms = i64::MIN;
        assert!(machine.looks().ahead_ms() < 0);
        assert_eq!(machine.now(), i64::MAX);
    }

    proptest! {
        #[test]
        fn it_never_goes_back_and_never_runs_by_more_than_a_tenth(
            steps in prop::collection::vec((0..5_000_u32, -2 * DAY..2 * DAY, 0..4_u8), 1..200)
        ) {
            let mut machine = Machine::starting_at(START);
            let mut last = machine.now();
            for (ms, jump, kind) in steps {
                if kind == 0 {
                    machine.wall_ms += jump;
                }
                machine.passes(ms);
                let now = machine.now();
                let passed = i64::from(ms);
                prop_assert!(now >= last + passed - passed / 10 - 1, "{} after {}", now - last, passed);
                prop_assert!(now <= last + passed + passed / 10 + 1, "{} after {}", now - last, passed);
                if kind < 3 {
                    machine.looks();
                    prop_assert_eq!(machine.now(), now, "a look changes nothing by itself");
                }
                last = now;
            }
        }
    }
}

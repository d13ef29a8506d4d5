//! How many more parts a link may be given: free window slots that also have a rate token, none while the carrier asked
//! for a pause. Only what can leave at once is asked for, so that a crash leaves no more in doubt than the window holds.

use hermod_domain::pace::{Pace, Rate};
use hermod_domain::time::Timestamp;
use std::time::Duration;

use crate::clock::Moment;

/// The rate recovers from a throttling by this share of the full rate each second.
const RECOVERY_PERCENT_PER_S: u64 = 5;

pub(super) struct Flow {
    window: u32,
    full_rate: u32,
    rate: u32,
    pace: Pace,
    /// Slots the store may fill and has not filled yet.
    granted: u32,
    paused_until: Moment,
    recovers_at: Moment,
}

impl Flow {
    pub(super) fn new(window: u32, parts_per_second: u32, now: Moment) -> Flow {
        let full_rate = parts_per_second.clamp(1, hermod_domain::pace::PER_SECOND_MAX);
        Flow {
            window,
            full_rate,
            rate: full_rate,
            // The burst is no more than a window, and a link that was lost does not come back within half a second.
            pace: Pace::full(rate_of(full_rate, window), as_timestamp(now)),
            granted: 0,
            paused_until: now,
            recovers_at: now,
        }
    }

    /// A granted slot was filled.
    pub(super) fn used(&mut self) {
        self.granted = self.granted.saturating_sub(1);
    }

    /// How many slots can be granted now, given how many the session has free.
    pub(super) fn grant(&mut self, window_free: u32, now: Moment) -> u32 {
        self.recover(now);
        if now < self.paused_until {
            return 0;
        }
        let free = self.grantable(window_free);
        let slots = self.pace.take_up_to(free, as_timestamp(now));
        self.granted += slots;
        slots
    }

    /// When to ask again, if there are free slots that could not be granted.
    pub(super) fn next_grant_at(&mut self, window_free: u32, now: Moment) -> Option<Moment> {
        if self.grantable(window_free) == 0 {
            return None;
        }
        if now < self.paused_until {
            return Some(self.paused_until);
        }
        let gap_ms = (1000 / u64::from(self.rate)).max(1);
        Some(now.plus(Duration::from_millis(gap_ms)))
    }

    /// Slots that are free and not granted yet. No more than a burst may be granted and unfilled: granted slots have
    /// paid their rate token, and hoarding them while idle would make a burst of its own.
    fn grantable(&self, window_free: u32) -> u32 {
        window_free.min(burst_of(self.rate, self.window)).saturating_sub(self.granted)
    }

    /// The carrier said "slow down": the whole link pauses and goes on at half its rate. What was granted and not filled
    /// is taken back; the store does the same when it hears of the answer.
    pub(super) fn throttled(&mut self, pause: Duration, now: Moment) {
        self.granted = 0;
        self.paused_until = self.paused_until.max(now.plus(pause));
        self.recovers_at = self.paused_until.plus(Duration::from_secs(1));
        self.set_rate((self.rate / 2).max(1), now);
    }

    fn recover(&mut self, now: Moment) {
        while self.rate < self.full_rate && self.recovers_at <= now {
            let step = u64::from(self.full_rate) * RECOVERY_PERCENT_PER_S / 100;
            let step = u32::try_from(step.max(1)).unwrap_or(u32::MAX);
            self.set_rate(self.rate.saturating_add(step).min(self.full_rate), now);
            self.recovers_at = self.recovers_at.plus(Duration::from_secs(1));
        }
    }

    fn set_rate(&mut self, rate: u32, now: Moment) {
        self.rate = rate;
        self.pace.change_rate(rate_of(rate, self.window), as_timestamp(now));
    }
}

/// Bursts are no larger than the window, and no longer than a tenth of a second.
fn burst_of(per_second: u32, window: u32) -> u32 {
    window.min(per_second / 10).max(1)
}

fn rate_of(per_second: u32, window: u32) -> Rate {
    let burst = burst_of(per_second, window);
    Rate::per_second(per_second)
        .and_then(|rate| rate.with_burst(burst))
        .expect("both were clamped into range")
}

/// The pace counts on a clock that never jumps.
fn as_timestamp(now: Moment) -> Timestamp {
    Timestamp::from_millis(i64::try_from(now.0).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment(ms)
    }

    #[test]
    fn no_more_is_granted_than_the_window_holds() {
        let mut flow = Flow::new(10, 1000, at(0));
        assert_eq!(flow.grant(10, at(1000)), 10);
        assert_eq!(flow.grant(10, at(2000)), 0, "all ten are granted and not used");
        flow.used();
        assert_eq!(flow.grant(9, at(2000)), 0, "the tenth is in the session's window now");
        assert_eq!(flow.grant(10, at(2001)), 1, "answered: the slot is free again");
    }

    fn granted_in(flow: &mut Flow, ms: std::ops::Range<u64>) -> u32 {
        let mut granted = 0;
        for ms in ms {
            let slots = flow.grant(100, at(ms));
            (0..slots).for_each(|_| flow.used());
            granted += slots;
        }
        granted
    }

    #[test]
    fn the_rate_holds_over_time() {
        let mut flow = Flow::new(100, 50, at(0));
        let granted = granted_in(&mut flow, 0..10_000);
        assert!((495..=510).contains(&granted), "ten seconds and a small burst: {granted}");
    }

    #[test]
    fn idling_saves_up_no_more_than_a_tenth_of_a_second() {
        let mut flow = Flow::new(100, 50, at(0));
        let hoarded = flow.grant(100, at(60_000));
        (0..hoarded).for_each(|_| flow.used());
        let granted = hoarded + granted_in(&mut flow, 60_000..61_000);
        assert!(granted <= 50 + 10, "{granted}");
    }

    #[test]
    fn a_throttled_link_pauses_halves_and_recovers() {
        let mut flow = Flow::new(100, 100, at(0));
        flow.grant(100, at(1000));
        flow.throttled(Duration::from_secs(1), at(1000));
        assert_eq!(flow.grant(100, at(1999)), 0, "paused");
        assert_eq!(flow.next_grant_at(100, at(1500)), Some(at(2000)));
        let in_a_second = granted_in(&mut flow, 2000..3000);
        assert!((45..=65).contains(&in_a_second), "half the rate and a little: {in_a_second}");
        flow.grant(0, at(60_000));
        assert_eq!(flow.rate, 100, "recovered");
    }
}

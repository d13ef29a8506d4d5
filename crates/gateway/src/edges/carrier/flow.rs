//! How many more parts a link may be given: free window slots that also have a rate token, its own and the account's,
//! none while the carrier asked for a pause. Only what can leave at once is asked for, so that a crash leaves no more in
//! doubt than the window holds.

use super::shaper::{Shaper, as_timestamp, burst_of, rate_of};
use crate::clock::Moment;
use hermod_domain::pace::{PER_SECOND_MAX, Pace};
use std::time::Duration;

/// The rate recovers from a throttling by this share of the full rate each second.
const RECOVERY_PERCENT_PER_S: u64 = 5;

pub(super) struct Flow<'a> {
    account: &'a Shaper,
    window: u32,
    full_rate: u32,
    rate: u32,
    pace: Pace,
    /// Slots the store may fill and has not filled yet. Each has paid a token of the account.
    granted: u32,
    paused_until: Moment,
    recovers_at: Moment,
}

impl<'a> Flow<'a> {
    pub(super) fn new(account: &'a Shaper, window: u32, parts_per_second: u32, now: Moment) -> Flow<'a> {
        let full_rate = parts_per_second.clamp(1, PER_SECOND_MAX);
        Flow {
            account,
            window,
            full_rate,
            rate: full_rate,
            // The burst is no more than a window, and a link that was lost does not come back within half a second.
            pace: Pace::full(rate_of(full_rate, burst_of(full_rate, window)), as_timestamp(now)),
            granted: 0,
            paused_until: now,
            recovers_at: now,
        }
    }

    /// Parts per second that it may send now.
    pub(super) fn rate(&self) -> u32 {
        self.rate
    }

    /// Granted slots were filled.
    pub(super) fn used(&mut self, parts: u32) {
        self.granted = self.granted.saturating_sub(parts);
    }

    /// What was granted and not filled will not be.
    pub(super) fn take_back(&mut self) {
        self.granted = 0;
    }

    /// How many slots can be granted now, given how many the session has free.
    pub(super) fn grant(&mut self, window_free: u32, now: Moment) -> u32 {
        self.recover(now);
        if now < self.paused_until {
            return 0;
        }
        let free = self.grantable(window_free).min(self.pace.remaining(as_timestamp(now)));
        let slots = self.account.take(free, now);
        self.pace.take_up_to(slots, as_timestamp(now));
        self.granted += slots;
        slots
    }

    /// When to ask again: if there are free slots that could not be granted, or the rate is on its way back.
    pub(super) fn next_grant_at(&mut self, window_free: u32, now: Moment) -> Option<Moment> {
        if self.grantable(window_free) == 0 {
            return (self.rate < self.full_rate).then_some(self.recovers_at);
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
        let most = burst_of(self.rate, self.window).min(self.account.share());
        window_free.min(most).saturating_sub(self.granted)
    }

    /// The carrier said "slow down": the whole link pauses and goes on at half its rate. What was granted and not filled
    /// is taken back; the store does the same when it hears of the answer.
    pub(super) fn throttled(&mut self, pause: Duration, now: Moment) {
        self.take_back();
        // Everything that was under way when it was said is answered in the same way: that is one "slow down".
        let said_before = now < self.paused_until;
        self.paused_until = self.paused_until.max(now.plus(pause));
        self.recovers_at = self.paused_until.plus(Duration::from_secs(1));
        if !said_before {
            self.set_rate((self.rate / 2).max(1), now);
        }
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
        self.pace.change_rate(rate_of(rate, burst_of(rate, self.window)), as_timestamp(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment(ms)
    }

    fn alone(window: u32, rate: u32) -> Shaper {
        Shaper::new(rate, 1, window, at(0))
    }

    #[test]
    fn no_more_is_granted_than_the_window_holds() {
        let account = alone(10, 1000);
        let mut flow = Flow::new(&account, 10, 1000, at(0));
        assert_eq!(flow.grant(10, at(1000)), 10);
        assert_eq!(flow.grant(10, at(2000)), 0, "all ten are granted and not used");
        flow.used(1);
        assert_eq!(flow.grant(9, at(2000)), 0, "the tenth is in the session's window now");
        assert_eq!(flow.grant(10, at(2001)), 1, "answered: the slot is free again");
    }

    fn granted_in(flow: &mut Flow<'_>, ms: std::ops::Range<u64>) -> u32 {
        let mut granted = 0;
        for ms in ms {
            let slots = flow.grant(100, at(ms));
            flow.used(slots);
            granted += slots;
        }
        granted
    }

    #[test]
    fn the_rate_holds_over_time() {
        let account = alone(100, 50);
        let mut flow = Flow::new(&account, 100, 50, at(0));
        let granted = granted_in(&mut flow, 0..10_000);
        assert!((495..=510).contains(&granted), "ten seconds and a small burst: {granted}");
    }

    #[test]
    fn a_link_keeps_to_its_own_rate_within_the_accounts() {
        for (account_rate, link_rate, expect) in [(50, 20, 200), (20, 50, 200), (200, 200, 2000)] {
            let account = alone(100, account_rate);
            let mut flow = Flow::new(&account, 100, link_rate, at(0));
            let granted = granted_in(&mut flow, 0..10_000);
            assert!((expect..=expect + 25).contains(&granted), "{account_rate} {link_rate}: {granted}");
        }
    }

    #[test]
    fn idling_saves_up_no_more_than_a_tenth_of_a_second() {
        let account = alone(100, 50);
        let mut flow = Flow::new(&account, 100, 50, at(0));
        let hoarded = flow.grant(100, at(60_000));
        flow.used(hoarded);
        let granted = hoarded + granted_in(&mut flow, 60_000..61_000);
        assert!(granted <= 50 + 10, "{granted}");
    }

    #[test]
    fn a_throttled_link_pauses_halves_and_recovers() {
        let account = alone(100, 100);
        let mut flow = Flow::new(&account, 100, 100, at(0));
        flow.grant(100, at(1000));
        flow.throttled(Duration::from_secs(1), at(1000));
        assert_eq!(flow.grant(100, at(1999)), 0, "paused");
        assert_eq!(flow.next_grant_at(100, at(1500)), Some(at(2000)));
        let in_a_second = granted_in(&mut flow, 2000..3000);
        assert!((45..=65).contains(&in_a_second), "half the rate and a little: {in_a_second}");
        flow.grant(0, at(60_000));
        assert_eq!(flow.rate(), 100, "recovered");
    }

    #[test]
    fn a_window_full_of_throttled_answers_halves_the_rate_once() {
        let account = alone(100, 100);
        let mut flow = Flow::new(&account, 100, 100, at(0));
        (0..10).for_each(|ms| flow.throttled(Duration::from_secs(1), at(ms)));
        assert_eq!(flow.rate(), 50);
        flow.throttled(Duration::from_secs(5), at(1_500));
        assert_eq!(flow.rate(), 25, "said again after the pause");
        assert_eq!(flow.next_grant_at(1, at(2_000)), Some(at(6_500)));
        assert_eq!(
            flow.next_grant_at(0, at(2_000)),
            Some(at(7_500)),
            "it recovers while nothing can leave, too"
        );
    }

    #[test]
    fn a_link_that_others_hold_nothing_back_from_goes_on() {
        let account = Shaper::new(10, 2, 100, at(0));
        let mut idle = Flow::new(&account, 100, 10, at(0));
        let mut busy = Flow::new(&account, 100, 10, at(0));
        assert_eq!((idle.grant(100, at(0)), idle.grant(100, at(10_000))), (1, 0), "no more than its share");
        let granted = granted_in(&mut busy, 10_000..20_000);
        assert!((95..=105).contains(&granted), "{granted}");
    }
}

//! How many more parts a link may be given: free window slots that also have a rate token, its own and the account's.
//! Only what can leave at once is asked for, so that a crash leaves no more in doubt than the window holds.
//!
//! A link that has just bound starts with a window of one and doubles it with every answered round, so that a carrier
//! which dies again and again never has more than a few parts in doubt. A link that was throttled pauses, tries one part
//! alone, and then starts in the same way at the rate that the carrier was found to take. If only some recipients are
//! throttled, their parts step aside and the link goes on as before.

mod throttle_suspects;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use super::shaper::{Shaper, as_timestamp, burst_of, rate_of};
use super::throttled_recipients::LimitedRecipients;
use crate::clock::Moment;
use hermod_domain::adaptive_rate::{AdaptiveRate, Hold};
use hermod_domain::pace::{PER_SECOND_MAX, Pace};
use hermod_domain::phone::Msisdn;
use std::time::Duration;
use throttle_suspects::{Cleared, Suspects};

/// A throttled link sends in bursts that are no longer than this part of a second: a carrier that counts in any one second
/// would throttle it for a burst on top of its rate.
const HELD_BURSTS_PER_S: u32 = 50;

/// Whether parts may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The carrier throttled. Nothing leaves before this time, nor before everything under way was answered.
    Paused(Moment),
    /// One part is tried alone.
    Trying,
}

pub(super) struct Flow<'a> {
    account: &'a Shaper,
    limited: &'a LimitedRecipients,
    window: u32,
    /// Slow start: the window of now, at most `window`.
    open_window: u32,
    rate: AdaptiveRate,
    pace: Pace,
    /// Slots the store may fill and has not filled yet. Each has paid a token of the account.
    granted: u32,
    phase: Phase,
    suspects: Suspects,
    /// What held the rate back before the first of the suspects was throttled.
    hold_before: Option<Hold>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        account: &'a Shaper,
        limited: &'a LimitedRecipients,
        window: u32,
        parts_per_second: u32,
        now: Moment,
    ) -> Flow<'a> {
        let full_rate = parts_per_second.clamp(1, PER_SECOND_MAX);
        Flow {
            account,
            limited,
            window,
            open_window: 1,
            rate: AdaptiveRate::new(full_rate, as_timestamp(now)),
            // The burst is no more than a window, and a link that was lost does not come back within half a second.
            pace: Pace::full(rate_of(full_rate, burst_of(full_rate, window)), as_timestamp(now)),
            granted: 0,
            phase: Phase::Open,
            suspects: Suspects::none(now),
            hold_before: None,
        }
    }

    /// Parts per second that it may send now.
    pub(super) fn rate(&self) -> u32 {
        self.rate.get()
    }

    /// Whether the carrier's throttling keeps the link from sending as fast as it is configured to.
    pub(super) fn is_throttled(&self) -> bool {
        self.phase != Phase::Open || self.rate.hold().is_some()
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
        if self.rate.step(as_timestamp(now)) {
            self.set_pace(now);
        }
        if matches!(self.phase, Phase::Paused(until) if now < until) {
            return 0;
        }
        let free = self.grantable(window_free).min(self.pace.remaining(as_timestamp(now)));
        let slots = self.account.take(free, now);
        self.pace.take_up_to(slots, as_timestamp(now));
        self.granted += slots;
        if slots > 0 && matches!(self.phase, Phase::Paused(_)) {
            self.phase = Phase::Trying;
        }
        slots
    }

    /// When to ask again: if there are free slots that could not be granted, or the rate is on its way back.
    pub(super) fn next_grant_at(&mut self, window_free: u32, now: Moment) -> Option<Moment> {
        if self.grantable(window_free) == 0 {
            let step_at = self.rate.next_step_at()?;
            return Some(Moment(u64::try_from(step_at.as_millis()).unwrap_or(0)));
        }
        if let Phase::Paused(until) = self.phase
            && now < until
        {
            return Some(until);
        }
        let gap_ms = (1000 / u64::from(self.rate())).max(1);
        Some(now.plus(Duration::from_millis(gap_ms)))
    }

    /// Slots that are free and not granted yet. No more than a burst may be granted and unfilled: granted slots have
    /// paid their rate token, and hoarding them while idle would make a burst of its own.
    fn grantable(&self, window_free: u32) -> u32 {
        let under_way = self.window.saturating_sub(window_free);
        let open = if self.phase == Phase::Open { self.open_window } else { 1 };
        let most = burst_of(self.rate(), self.window).min(self.account.share());
        open.saturating_sub(under_way).min(most).saturating_sub(self.granted)
    }

    /// How long a part for this recipient should step aside without being sent, if it should.
    pub(super) fn steps_aside(&self, to: Msisdn, now: Moment) -> Option<Duration> {
        self.limited.wait(to, now)
    }

    /// The carrier accepted a part.
    pub(super) fn accepted(&mut self, to: Msisdn, now: Moment) {
        self.rate.accepted(as_timestamp(now));
        self.limited.accepted(to);
        self.answered(to, now);
    }

    /// The carrier answered a part, with anything but "slow down".
    pub(super) fn answered(&mut self, to: Msisdn, now: Moment) {
        if !self.suspects.is_empty() && !matches!(self.phase, Phase::Paused(_)) {
            self.clear_suspects(to, now);
        }
        match self.phase {
            Phase::Open => {
                if self.open_window < self.window {
                    self.open_window += 1;
                }
            }
            Phase::Paused(_) => {}
            Phase::Trying => {
                self.phase = Phase::Open;
                self.open_window = self.window.min(2);
                self.rate.opened(as_timestamp(now));
                // What was saved up during the pause would be a burst on top of the rate.
                self.pace = Pace::empty(self.pace.rate(), as_timestamp(now));
            }
        }
    }

    fn clear_suspects(&mut self, passed: Msisdn, now: Moment) {
        if let Cleared::Recipients { limited, all } = self.suspects.passed(passed, now) {
            for suspect in limited {
                self.limited.remember(suspect.to, suspect.times_aside, suspect.until, now);
            }
            if all {
                self.rate.restore(self.hold_before, as_timestamp(now));
                self.set_pace(now);
            }
        }
    }

    /// The carrier said "slow down". The part goes back to the front and the link pauses; or the part steps aside for the
    /// time returned and the link goes on with others. What was granted and not filled is taken back in the first case
    /// only; the store does the same when it hears of the answer.
    pub(super) fn throttled(&mut self, to: Msisdn, pause: Duration, now: Moment) -> Option<Duration> {
        if let Some(wait) = self.limited.throttled(to, now) {
            return Some(wait);
        }
        match self.phase {
            Phase::Open if self.suspects.contains(to) => {
                let aside = self.suspects.retried(to, pause, now);
                if aside.is_some() {
                    return aside;
                }
            }
            Phase::Open => {
                if self.suspects.is_empty() {
                    self.hold_before = self.rate.hold();
                }
                self.suspects.add(to, now);
                self.rate.throttled(pause, as_timestamp(now));
                self.set_pace(now);
            }
            // What was under way when it was said first is answered in the same way: that is one "slow down".
            Phase::Paused(_) => self.suspects.add(to, now),
            Phase::Trying => {
                self.rate.still_throttled(as_timestamp(now));
                let aside = self.suspects.retried(to, pause, now);
                if aside.is_some() {
                    return aside;
                }
            }
        }
        self.take_back();
        let until = now.plus(pause);
        self.phase = Phase::Paused(match self.phase {
            Phase::Paused(before) => before.max(until),
            Phase::Open | Phase::Trying => until,
        });
        None
    }

    fn set_pace(&mut self, now: Moment) {
        let (rate, held) = (self.rate(), self.rate.hold().is_some());
        let burst = burst_of(rate, self.window);
        let burst = if held { burst.min(rate / HELD_BURSTS_PER_S).max(1) } else { burst };
        self.pace.change_rate(rate_of(rate, burst), as_timestamp(now));
    }
}

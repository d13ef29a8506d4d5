//! Flow control of one link: grants the store as many slots as there are free window slots with a rate token of the
//! link and of the carrier. Only parts that can be sent at once are requested, so that a crash leaves no more parts in
//! doubt than the window holds.
//!
//! Slow start: a new link begins with a window of one and doubles it with every answered round, so that a carrier that
//! crashes repeatedly has only a few parts in doubt. A throttled link pauses, sends one part as a trial, and then
//! starts slowly at the rate that the carrier accepted. If only some recipients are throttled, their parts are
//! deferred and the link keeps its rate.

mod throttle_suspects;

#[cfg(test)]
mod tests;

use super::shaper::{Shaper, as_timestamp, burst_of, rate_of};
use super::throttled_recipients::ThrottledRecipients;
use crate::clock::Moment;
use hermod_domain::adaptive_rate::{AdaptiveRate, ReducedRate};
use hermod_domain::pace::{PER_SECOND_MAX, Pace};
use hermod_domain::phone::Msisdn;
use std::time::Duration;
use throttle_suspects::{Cleared, ThrottleSuspects};

/// A throttled link sends bursts of at most one second divided by this: a carrier with a sliding window of one second
/// would throttle a larger burst on top of the rate.
const HELD_BURSTS_PER_S: u32 = 50;

/// Whether parts may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The carrier throttled. Nothing is sent before this time, nor before all outstanding parts were answered.
    Paused(Moment),
    /// One part is outstanding as a trial.
    Trying,
}

pub(super) struct Flow<'a> {
    account: &'a Shaper,
    limited: &'a ThrottledRecipients,
    window: u32,
    /// Slow start: the current window, at most `window`.
    open_window: u32,
    rate: AdaptiveRate,
    pace: Pace,
    /// Slots granted to the store and not filled yet. Each has taken a token of the carrier's rate.
    granted: u32,
    phase: Phase,
    suspects: ThrottleSuspects,
    /// The rate hold before the first suspect was throttled.
    hold_before: Option<ReducedRate>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        account: &'a Shaper,
        limited: &'a ThrottledRecipients,
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
            // A full bucket is safe: the burst is at most a window, and a lost link needs half a second to reconnect.
            pace: Pace::full(rate_of(full_rate, burst_of(full_rate, window)), as_timestamp(now)),
            granted: 0,
            phase: Phase::Open,
            suspects: ThrottleSuspects::none(now),
            hold_before: None,
        }
    }

    /// Returns the parts per second that the link may send now.
    pub(super) fn rate(&self) -> u32 {
        self.rate.get()
    }

    /// Whether throttling by the carrier keeps the link below its configured rate.
    pub(super) fn is_throttled(&self) -> bool {
        self.phase != Phase::Open || self.rate.reduced().is_some()
    }

    /// Records that the store filled granted slots.
    pub(super) fn used(&mut self, parts: u32) {
        self.granted = self.granted.saturating_sub(parts);
    }

    /// Revokes the slots that were granted and not filled.
    pub(super) fn take_back(&mut self) {
        self.granted = 0;
    }

    /// Grants as many slots as can be sent now, given the free slots of the session's window.
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

    /// Returns when to call [`Flow::grant`] again: free slots could not be granted, or the rate is recovering.
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

    /// Returns the free slots that are not granted yet. At most one burst may be granted and unfilled: granted slots
    /// have taken their rate token, and collecting them while idle would allow a burst above the rate.
    fn grantable(&self, window_free: u32) -> u32 {
        let outstanding = self.window.saturating_sub(window_free);
        let open = if self.phase == Phase::Open { self.open_window } else { 1 };
        let most = burst_of(self.rate(), self.window).min(self.account.share());
        open.saturating_sub(outstanding).min(most).saturating_sub(self.granted)
    }

    /// Returns how long a part for this recipient is deferred without being sent, if its recipient is throttled.
    pub(super) fn deferral(&self, to: Msisdn, now: Moment) -> Option<Duration> {
        self.limited.wait(to, now)
    }

    /// Records that the carrier accepted a part.
    pub(super) fn accepted(&mut self, to: Msisdn, now: Moment) {
        self.rate.accepted(as_timestamp(now));
        self.limited.accepted(to);
        self.answered(to, now);
    }

    /// Records a response other than "throttled".
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
                // Tokens saved during the pause would allow a burst above the rate.
                self.pace = Pace::empty(self.pace.rate(), as_timestamp(now));
            }
        }
    }

    fn clear_suspects(&mut self, passed: Msisdn, now: Moment) {
        if let Cleared::Recipients { limited, all } = self.suspects.passed(passed, now) {
            for suspect in limited {
                self.limited.remember(suspect.to, suspect.times_deferred, suspect.until, now);
            }
            if all {
                self.rate.restore(self.hold_before, as_timestamp(now));
                self.set_pace(now);
            }
        }
    }

    /// Records that the carrier throttled a part. Returns `None` if the part goes back to the front of the queue and
    /// the link pauses; this revokes unfilled slots, as the store does when it receives the response. Returns the wait
    /// if only the part is deferred and the link continues.
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
                    self.hold_before = self.rate.reduced();
                }
                self.suspects.add(to, now);
                self.rate.throttled(pause, as_timestamp(now));
                self.set_pace(now);
            }
            // The parts outstanding at the first throttling are throttled too: this counts as one.
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
        let (rate, held) = (self.rate(), self.rate.reduced().is_some());
        let burst = burst_of(rate, self.window);
        let burst = if held { burst.min(rate / HELD_BURSTS_PER_S).max(1) } else { burst };
        self.pace.change_rate(rate_of(rate, burst), as_timestamp(now));
    }
}

//! The token bucket that all links of a carrier share. Carriers limit the throughput of the account, not of a bind. A
//! share per link keeps tokens for the others.

use crate::clock::Moment;
use hermod_domain::pace::{PER_SECOND_MAX, Pace, Rate};
use hermod_domain::time::Timestamp;
use parking_lot::Mutex;

#[derive(Debug)]
pub(super) struct Shaper {
    share: u32,
    pace: Mutex<Pace>,
    /// Of all links of the carrier, on all nodes.
    rate: u32,
    burst: u32,
    links: u32,
}

impl Shaper {
    pub(super) fn new(parts_per_second: u32, links: u8, window: u32, now: Moment) -> Shaper {
        let rate = parts_per_second.clamp(1, PER_SECOND_MAX);
        let links = u32::from(links.max(1));
        let burst = burst_of(rate, window.saturating_mul(links));
        let pace = Pace::full(rate_of(rate, burst), as_timestamp(now));
        Shaper { share: (burst / links).max(1), pace: Mutex::new(pace), rate, burst, links }
    }

    /// Returns the tokens that one link may hold unused; all links together hold one burst. Each link may hold at least
    /// one: all parts of a message go over the same link, and must not starve there.
    pub(super) fn share(&self) -> u32 {
        self.share
    }

    /// Sets how many of the carrier's links this node has: its links get their share of the rate.
    pub(super) fn set_links_here(&self, here: u32, now: Moment) {
        let part = |whole: u32| {
            let part = u64::from(whole) * u64::from(here.min(self.links)) / u64::from(self.links);
            u32::try_from(part).unwrap_or(whole).max(1)
        };
        let rate = rate_of(part(self.rate), part(self.burst));
        self.pace.lock().change_rate(rate, as_timestamp(now));
    }

    /// Takes up to `wanted` tokens. Returns how many.
    pub(super) fn take(&self, wanted: u32, now: Moment) -> u32 {
        if wanted == 0 {
            return 0;
        }
        self.pace.lock().take_up_to(wanted, as_timestamp(now))
    }
}

/// Returns the burst size: at most the window, and a tenth of a second.
pub(super) fn burst_of(per_second: u32, window: u32) -> u32 {
    window.min(per_second / 10).clamp(1, PER_SECOND_MAX)
}

pub(super) fn rate_of(per_second: u32, burst: u32) -> Rate {
    Rate::per_second(per_second)
        .and_then(|rate| rate.with_burst(burst))
        .expect("both were clamped into range")
}

/// Converts the monotonic time for `Pace`.
pub(super) fn as_timestamp(now: Moment) -> Timestamp {
    Timestamp::from_millis(i64::try_from(now.0).unwrap_or(i64::MAX))
}

#[cfg(test)]
#[path = "shaper_tests.rs"]
mod tests;

//! The token bucket that all links of a carrier share. Carriers limit the throughput of the account, not of a bind. A
//! share per link keeps tokens for the others.

use crate::clock::Moment;
use hermod_domain::pace::{PER_SECOND_MAX, Pace, Rate};
use hermod_domain::time::Timestamp;
use std::sync::{Mutex, PoisonError};

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
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).change_rate(rate, as_timestamp(now));
    }

    /// Takes up to `wanted` tokens. Returns how many.
    pub(super) fn take(&self, wanted: u32, now: Moment) -> u32 {
        if wanted == 0 {
            return 0;
        }
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).take_up_to(wanted, as_timestamp(now))
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
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment(ms)
    }

    #[test]
    fn links_share_one_rate() {
        let shaper = Shaper::new(100, 4, 10, at(0));
        let mut taken = [0_u32; 4];
        for ms in 0..10_000 {
            for link in &mut taken {
                *link += shaper.take(shaper.share(), at(ms));
            }
        }
        let all: u32 = taken.iter().sum();
        assert!((1000..=1010).contains(&all), "ten seconds and a small burst: {taken:?}");
    }

    #[test]
    fn nodes_share_the_rate_by_their_links() {
        let nodes = [(1, 25), (3, 75)].map(|(here, rate)| {
            let shaper = Shaper::new(100, 4, 10, at(0));
            shaper.set_links_here(here, at(0));
            (shaper, rate)
        });
        for (shaper, rate) in nodes {
            let taken: u32 = (0..10_000).map(|ms| shaper.take(10, at(ms))).sum();
            assert!((rate * 10..=rate * 10 + 10).contains(&taken), "{taken} of {rate} per second");
        }
    }

    #[test]
    fn links_together_hold_one_burst_or_one_token_each() {
        for (rate, links, share) in [(100, 1, 10), (100, 4, 2), (1000, 4, 10), (100_000, 2, 10), (5, 16, 1)] {
            assert_eq!(
                Shaper::new(rate, links, 10, at(0)).share(),
                share,
                "{rate} parts per second, {links} links"
            );
        }
    }

    #[test]
    fn one_link_cannot_take_the_share_of_another() {
        let shaper = Shaper::new(100, 2, 10, at(0));
        assert_eq!(shaper.take(shaper.share(), at(0)), 5);
        assert_eq!(shaper.take(shaper.share(), at(0)), 5, "the other link's share is still there");
        assert_eq!(shaper.take(1, at(0)), 0);
        assert_eq!(shaper.take(5, at(30)), 3);
    }
}

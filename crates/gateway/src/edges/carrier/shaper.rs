//! The rate of one carrier account, shared by all its links. Carriers count parts per account, whichever bind they come
//! over; so tokens are taken from one bucket, and no link may put aside so many that the others have none.

use crate::clock::Moment;
use hermod_domain::pace::{PER_SECOND_MAX, Pace, Rate};
use hermod_domain::time::Timestamp;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) struct Shaper {
    /// Tokens that one link may hold without having used them.
    share: u32,
    bucket: Mutex<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    pace: Pace,
    burst: u32,
    /// Tokens that links have taken and not used yet. Held while idle they would add up to a burst of their own.
    held: u32,
}

impl Shaper {
    pub(super) fn new(parts_per_second: u32, links: u8, window: u32, now: Moment) -> Shaper {
        let rate = parts_per_second.clamp(1, PER_SECOND_MAX);
        let links = u32::from(links.max(1));
        let burst = burst_of(rate, window.saturating_mul(links));
        let pace = Pace::full(rate_of(rate, burst), as_timestamp(now));
        Shaper { share: (burst / links).max(1), bucket: Mutex::new(Bucket { pace, burst, held: 0 }) }
    }

    pub(super) fn share(&self) -> u32 {
        self.share
    }

    /// Takes as many tokens as there are for a link, up to `wanted`.
    pub(super) fn take(&self, wanted: u32, now: Moment) -> u32 {
        if wanted == 0 {
            return 0;
        }
        let mut bucket = self.bucket();
        let room = bucket.burst.saturating_sub(bucket.held);
        let taken = bucket.pace.take_up_to(wanted.min(room), as_timestamp(now));
        bucket.held += taken;
        taken
    }

    /// Tokens that a link held are used, or will not be.
    pub(super) fn let_go(&self, tokens: u32) {
        if tokens > 0 {
            let mut bucket = self.bucket();
            bucket.held = bucket.held.saturating_sub(tokens);
        }
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bursts are no larger than the window, and no longer than a tenth of a second.
pub(super) fn burst_of(per_second: u32, window: u32) -> u32 {
    window.min(per_second / 10).clamp(1, PER_SECOND_MAX)
}

pub(super) fn rate_of(per_second: u32, burst: u32) -> Rate {
    Rate::per_second(per_second)
        .and_then(|rate| rate.with_burst(burst))
        .expect("both were clamped into range")
}

/// Paces count on a clock that never jumps.
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
                let tokens = shaper.take(shaper.share(), at(ms));
                shaper.let_go(tokens);
                *link += tokens;
            }
        }
        let all: u32 = taken.iter().sum();
        assert!((1000..=1010).contains(&all), "ten seconds and a small burst: {taken:?}");
    }

    #[test]
    fn what_idle_links_hold_is_no_burst_of_its_own() {
        for (rate, links, burst) in [(100, 4, 10), (1000, 4, 40), (5, 16, 1), (30, 16, 3)] {
            let shaper = Shaper::new(rate, links, 10, at(0));
            let mut held = 0;
            for second in 0..60 {
                let links = (0..links).map(|_| shaper.take(shaper.share(), at(second * 1000)));
                held += links.sum::<u32>();
            }
            assert_eq!(held, burst, "{rate} parts per second over {links} links");
        }
    }

    #[test]
    fn one_link_cannot_hold_the_share_of_another() {
        let shaper = Shaper::new(100, 2, 10, at(0));
        assert_eq!(shaper.share(), 5);
        assert_eq!(shaper.take(shaper.share(), at(0)), 5);
        assert_eq!(shaper.take(shaper.share(), at(0)), 5, "the other link's share is still there");
        assert_eq!(shaper.take(1, at(1000)), 0, "all that may be held is held");
        shaper.let_go(1);
        assert_eq!(shaper.take(5, at(1000)), 1);
    }
}

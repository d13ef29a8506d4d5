//! How fast a bind may submit, and what becomes of one that does not listen.

use crate::clock::Moment;
use crate::world::World;
use hermod_domain::catalogue::{Account, Tier};
use hermod_domain::ids::AccountId;
use hermod_domain::pace::{PER_SECOND_MAX, Pace, Rate};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Submissions a second of a standard account, all its binds together.
const STANDARD_PER_SECOND: u32 = 100;
/// Submissions a second on each bind of an enterprise account.
const ENTERPRISE_PER_SECOND: u32 = 10_000;
/// `query_sm`s a second on each bind: some clients do nothing else.
const QUERIES_PER_SECOND: u32 = 5;
/// Who goes on for this long after having been told to slow down is read no more for a while.
const PATIENCE: Duration = Duration::from_secs(10);
/// For that while.
const PAUSE: Duration = Duration::from_secs(1);
/// Who is not told for this long has listened.
const LISTENED: Duration = Duration::from_secs(2);

pub(super) struct BindPace {
    /// Of an enterprise account's bind.
    own: Option<Pace>,
    queries: Pace,
    /// Since when it goes on although it was told to slow down, and when it was told last.
    ignoring: Option<(Moment, Moment)>,
    paused_until: Option<Moment>,
}

impl BindPace {
    pub(super) fn new(now: Timestamp) -> BindPace {
        BindPace {
            own: None,
            queries: Pace::full(rate(QUERIES_PER_SECOND), now),
            ignoring: None,
            paused_until: None,
        }
    }

    /// Takes what a submission of so many parts costs; false if there is not enough left.
    pub(super) fn admit(&mut self, world: &World, account: (AccountId, &Account), parts: u32) -> bool {
        let (id, document) = account;
        let now = world.clock.now();
        let admitted = match document.tier {
            Tier::Standard => {
                let per_second = rate(document.smpp_rate.unwrap_or(STANDARD_PER_SECOND));
                world.take_submits(id, per_second, parts)
            }
            Tier::Enterprise => {
                let per_second = rate(document.smpp_rate.unwrap_or(ENTERPRISE_PER_SECOND));
                let own = self.own.get_or_insert_with(|| Pace::full(per_second, now));
                if own.rate() != per_second {
                    own.change_rate(per_second, now);
                }
                own.take_all(parts, now)
            }
        };
        if !admitted {
            self.told(world.clock.moment());
        }
        admitted
    }

    pub(super) fn admit_query(&mut self, now: Timestamp) -> bool {
        self.queries.take_all(1, now)
    }

    /// It was told to slow down.
    fn told(&mut self, now: Moment) {
        let since = match self.ignoring {
            Some((since, last)) if now < last.plus(LISTENED) => since,
            _ => now,
        };
        self.ignoring = Some((since, now));
        if now >= since.plus(PATIENCE) {
            self.paused_until = Some(now.plus(PAUSE));
        }
    }

    /// Until when nothing is read from it.
    pub(super) fn paused_until(&self, now: Moment) -> Option<Moment> {
        self.paused_until.filter(|until| now < *until)
    }
}

fn rate(per_second: u32) -> Rate {
    Rate::per_second(per_second.clamp(1, PER_SECOND_MAX)).expect("clamped to what a rate may be")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_does_not_listen_is_not_read_for_a_second() {
        let mut pace = BindPace::new(Timestamp::EPOCH);
        let told = |pace: &mut BindPace, at| {
            pace.told(Moment(at));
            pace.paused_until(Moment(at)).map(|until| until.0)
        };
        assert_eq!(told(&mut pace, 0), None);
        for at in (1_000..10_000).step_by(1_000) {
            assert_eq!(told(&mut pace, at), None, "{at}");
        }
        assert_eq!(told(&mut pace, 10_000), Some(11_000));
        assert_eq!(pace.paused_until(Moment(11_000)), None);
        assert_eq!(told(&mut pace, 11_000), Some(12_000), "it goes on where it stopped");
        assert_eq!(told(&mut pace, 15_000), None, "it listened for a while");
    }

    #[test]
    fn queries_have_a_bucket_of_their_own() {
        let mut pace = BindPace::new(Timestamp::EPOCH);
        let admitted = (0..7).filter(|_| pace.admit_query(Timestamp::EPOCH)).count();
        assert_eq!(admitted, 5);
        assert!(pace.admit_query(Timestamp::from_millis(200)));
    }
}

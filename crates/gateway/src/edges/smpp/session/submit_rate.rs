//! Limits how fast a bind may submit and query. A client that ignores throttling is not read from for a while.

use crate::clock::Moment;
use crate::gateway::Gateway;
use hermod_domain::catalogue::{Account, Tier};
use hermod_domain::ids::AccountId;
use hermod_domain::pace::{PER_SECOND_MAX, Pace, Rate};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Parts per second of a standard account, over all its binds.
const STANDARD_PER_SECOND: u32 = 100;
/// Parts per second of each bind of an enterprise account.
const ENTERPRISE_PER_SECOND: u32 = 10_000;
/// `query_sm`s per second of each bind.
const QUERIES_PER_SECOND: u32 = 5;
/// A client that keeps sending for this long after being throttled is paused.
const IGNORED_FOR: Duration = Duration::from_secs(10);
/// How long a paused client is not read from.
const PAUSE: Duration = Duration::from_secs(1);
/// A client that was not throttled for this long has slowed down.
const SLOWED_DOWN_FOR: Duration = Duration::from_secs(2);

pub(super) struct SubmitRate {
    /// The bucket of an enterprise account's bind.
    own: Option<Pace>,
    queries: Pace,
    /// Since when the client ignores throttling, and when it was throttled last.
    ignoring_since: Option<(Moment, Moment)>,
    paused_until: Option<Moment>,
}

impl SubmitRate {
    pub(super) fn new(now: Timestamp) -> SubmitRate {
        SubmitRate {
            own: None,
            queries: Pace::full(rate(QUERIES_PER_SECOND), now),
            ignoring_since: None,
            paused_until: None,
        }
    }

    /// Takes `parts` tokens. Returns false if there are not enough.
    pub(super) fn admit(&mut self, gateway: &Gateway, account: (AccountId, &Account), parts: u32) -> bool {
        let (id, document) = account;
        let now = gateway.clock.now();
        let admitted = match document.tier {
            Tier::Standard => {
                let per_second = rate(document.smpp_rate.unwrap_or(STANDARD_PER_SECOND));
                gateway.take_submits(id, per_second, parts)
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
            self.on_throttled(gateway.clock.moment());
        }
        admitted
    }

    pub(super) fn admit_query(&mut self, now: Timestamp) -> bool {
        self.queries.take_all(1, now)
    }

    /// Records that the client was throttled.
    fn on_throttled(&mut self, now: Moment) {
        let since = match self.ignoring_since {
            Some((since, last)) if now < last.plus(SLOWED_DOWN_FOR) => since,
            _ => now,
        };
        self.ignoring_since = Some((since, now));
        if now >= since.plus(IGNORED_FOR) {
            self.paused_until = Some(now.plus(PAUSE));
        }
    }

    /// Returns until when the client is not read from.
    pub(super) fn paused_until(&self, now: Moment) -> Option<Moment> {
        self.paused_until.filter(|until| now < *until)
    }
}

fn rate(per_second: u32) -> Rate {
    Rate::per_second(per_second.clamp(1, PER_SECOND_MAX)).expect("clamped to what a rate may be")
}

#[cfg(test)]
#[path = "submit_rate_tests.rs"]
mod tests;

//! How long a connection is waited for. A timer armed for every request would cost more than the request's own
//! parsing, so each connection has one that looks now and then at what the connection is doing and since when.

use super::limits::Limits;
use crate::arrivals::TrustedProxies;
use crate::clock::{Clock, Moment};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a request knows about the connection it came on.
#[derive(Clone)]
pub struct Carried {
    /// The other end of the connection, canonical.
    pub(crate) peer: IpAddr,
    pub(crate) proxies: Arc<TrustedProxies>,
    pub(crate) patience: Arc<Patience>,
}

impl Carried {
    /// A connection that was just accepted.
    pub fn new(peer: IpAddr, proxies: Arc<TrustedProxies>, clock: Clock) -> Carried {
        Carried { peer: peer.to_canonical(), proxies, patience: Arc::new(Patience::new(clock)) }
    }
}

/// What we are waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The rest of a request's head, or the first byte of a new connection.
    Head,
    /// The rest of a request's body.
    Body,
    /// Ourselves: the client has done its part.
    Serving,
    /// The next request, if one comes at all.
    Idle,
    /// The body took too long: whoever is reading it must give up and answer.
    Overdue,
}

/// What to do about a connection when its timer has fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing yet: look again then.
    LookAgain(Moment),
    /// Tell the reader of the body, and look again then.
    GiveUpOnBody(Moment),
    Close,
}

/// The stage of one connection and when it began. All who touch it are the same task, one after the other; it is atomic
/// only because that task may move between threads.
pub(crate) struct Patience {
    clock: Clock,
    /// Milliseconds since the clock's start, times 8, plus the stage.
    packed: AtomicU64,
}

const STAGE_BITS: u32 = 3;
const STAGES: [Stage; 5] = [Stage::Head, Stage::Body, Stage::Serving, Stage::Idle, Stage::Overdue];

const _: () = assert!(STAGES.len() <= 1 << STAGE_BITS);

impl Patience {
    /// A connection that was just accepted.
    pub(crate) fn new(clock: Clock) -> Patience {
        let patience = Patience { clock, packed: AtomicU64::new(0) };
        patience.enter(Stage::Head);
        patience
    }

    pub(crate) fn enter(&self, stage: Stage) {
        let since = match stage {
            Stage::Head | Stage::Body | Stage::Idle | Stage::Overdue => self.clock.moment(),
            // We wait for ourselves as long as it takes, so nobody asks since when: one look at the clock less.
            Stage::Serving => Moment(0),
        };
        // `as` on a fieldless enum is its place in the list above.
        self.packed.store(since.0 << STAGE_BITS | stage as u64, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> (Stage, Moment) {
        let packed = self.packed.load(Ordering::Relaxed);
        let place = usize::try_from(packed & ((1 << STAGE_BITS) - 1)).expect("three bits fit");
        (STAGES[place], Moment(packed >> STAGE_BITS))
    }

    /// Bytes arrived: on an idle connection they begin a request.
    pub(crate) fn bytes_came(&self) {
        if self.now().0 == Stage::Idle {
            self.enter(Stage::Head);
        }
    }

    pub(crate) fn judge(&self, limits: &Limits, now: Moment) -> Verdict {
        let Limits { header_read_max, body_read_max, idle_max, .. } = *limits;
        let (stage, since) = self.now();
        let end = match stage {
            Stage::Head | Stage::Overdue => since.plus(header_read_max),
            Stage::Body => since.plus(body_read_max),
            Stage::Idle => since.plus(idle_max),
            Stage::Serving => Moment(u64::MAX),
        };
        if now < end {
            // A stage that begins after this look must still be caught in time, so none is ever further away than the
            // shortest wait there is.
            return Verdict::LookAgain(end.min(now.plus(shortest(limits))));
        }
        match stage {
            Stage::Head | Stage::Idle | Stage::Overdue | Stage::Serving => Verdict::Close,
            Stage::Body => Verdict::GiveUpOnBody(now.plus(header_read_max)),
        }
    }
}

fn shortest(limits: &Limits) -> Duration {
    limits.header_read_max.min(limits.body_read_max).min(limits.idle_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::time::Timestamp;

    const LIMITS: Limits = Limits {
        connections_max: 1,
        per_address_max: 1,
        half_open_max: 1,
        handshake_max: Duration::from_secs(10),
        header_read_max: Duration::from_secs(10),
        body_read_max: Duration::from_secs(30),
        idle_max: Duration::from_secs(75),
        drain_max: Duration::from_secs(5),
    };

    /// Enters a stage at second 100 and says what is judged of it at `second`.
    fn judged(stage: Stage, second: u64) -> String {
        let clock = Clock::manual(Timestamp::from_millis(0));
        clock.advance(Duration::from_secs(100));
        let patience = Patience::new(clock);
        patience.enter(stage);
        match patience.judge(&LIMITS, Moment(second * 1000)) {
            Verdict::LookAgain(at) => format!("again at {}", at.0 / 1000),
            Verdict::GiveUpOnBody(at) => format!("give up on body, again at {}", at.0 / 1000),
            Verdict::Close => "close".to_owned(),
        }
    }

    #[test]
    fn each_stage_has_its_own_limit() {
        assert_eq!(judged(Stage::Head, 109), "again at 110");
        assert_eq!(judged(Stage::Head, 110), "close");
        assert_eq!(judged(Stage::Body, 125), "again at 130");
        assert_eq!(judged(Stage::Body, 130), "give up on body, again at 140");
        assert_eq!(judged(Stage::Overdue, 110), "close");
        assert_eq!(judged(Stage::Idle, 174), "again at 175");
        assert_eq!(judged(Stage::Idle, 175), "close");
        assert_eq!(judged(Stage::Serving, 99_999), "again at 100009");
    }

    #[test]
    fn no_look_is_further_away_than_the_shortest_limit() {
        assert_eq!(judged(Stage::Idle, 100), "again at 110");
        assert_eq!(judged(Stage::Body, 100), "again at 110");
    }

    #[test]
    fn bytes_begin_a_request_only_where_none_is_under_way() {
        let patience = Patience::new(Clock::manual(Timestamp::from_millis(0)));
        for (before, after) in [
            (Stage::Idle, Stage::Head),
            (Stage::Head, Stage::Head),
            (Stage::Body, Stage::Body),
            (Stage::Serving, Stage::Serving),
            (Stage::Overdue, Stage::Overdue),
        ] {
            patience.enter(before);
            patience.bytes_came();
            assert_eq!(patience.now().0, after);
        }
    }
}

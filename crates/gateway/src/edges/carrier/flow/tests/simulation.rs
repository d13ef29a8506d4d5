//! Simulates a link that always has parts to send against carriers whose limit is below the configured rate, and checks
//! throughput and the share of throttled parts. Time advances in milliseconds; nothing is random.

use super::super::*;
use super::number;
use std::collections::VecDeque;

const CONFIGURED: u32 = PER_SECOND_MAX;
const WINDOW: u32 = 100;
/// A third of it passes before the carrier receives the part.
const ROUND_TRIP_MS: u64 = 15;
const PAUSE: Duration = Duration::from_secs(1);

/// How a carrier measures its limit.
#[derive(Clone, Copy, Debug)]
enum Counts {
    /// A token bucket that holds this many milliseconds' worth.
    Bucket(u32),
    /// A sliding window of one second.
    Sliding,
}

struct Carrier {
    counts: Counts,
    per_second: u32,
    bucket: Pace,
    accepted_at: VecDeque<u64>,
}

impl Carrier {
    fn new(counts: Counts, per_second: u32) -> Carrier {
        let bucket = Pace::full(rate(counts, per_second), as_timestamp(Moment(0)));
        Carrier { counts, per_second, bucket, accepted_at: VecDeque::new() }
    }

    fn change(&mut self, per_second: u32, ms: u64) {
        self.per_second = per_second;
        self.bucket.change_rate(rate(self.counts, per_second), as_timestamp(Moment(ms)));
    }

    fn accepts(&mut self, ms: u64) -> bool {
        match self.counts {
            Counts::Bucket(_) => self.bucket.admit(as_timestamp(Moment(ms))).is_ok(),
            Counts::Sliding => {
                while self.accepted_at.front().is_some_and(|at| at + 1_000 <= ms) {
                    self.accepted_at.pop_front();
                }
                let room = self.accepted_at.len() < usize::try_from(self.per_second).expect("a rate");
                if room {
                    self.accepted_at.push_back(ms);
                }
                room
            }
        }
    }
}

fn rate(counts: Counts, per_second: u32) -> hermod_domain::pace::Rate {
    let burst = match counts {
        Counts::Bucket(ms) => per_second * ms / 1_000,
        Counts::Sliding => 1,
    };
    rate_of(per_second, burst.max(1))
}

/// Responses counted over a run.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    accepted: u64,
    throttled: u64,
}

struct Stage<'a> {
    flow: Flow<'a>,
    carrier: Carrier,
    /// Outstanding responses: arrival time, recipient, and whether it is accepted.
    answers: VecDeque<(u64, Msisdn, bool)>,
    /// Throttled parts, to be sent again first.
    again: VecDeque<Msisdn>,
    next: u64,
    ms: u64,
}

impl<'a> Stage<'a> {
    fn new(account: &'a Shaper, limited: &'a ThrottledRecipients, carrier: Carrier) -> Stage<'a> {
        let flow = Flow::new(account, limited, WINDOW, CONFIGURED, Moment(0));
        Stage { flow, carrier, answers: VecDeque::new(), again: VecDeque::new(), next: 0, ms: 0 }
    }

    fn run(&mut self, seconds: u64) -> Seen {
        let mut seen = Seen::default();
        for ms in self.ms..self.ms + seconds * 1_000 {
            let now = Moment(ms);
            while self.answers.front().is_some_and(|(at, ..)| *at <= ms)
                && let Some((_, to, accepted)) = self.answers.pop_front()
            {
                if accepted {
                    seen.accepted += 1;
                    self.flow.accepted(to, now);
                } else {
                    seen.throttled += 1;
                    assert_eq!(
                        self.flow.throttled(to, PAUSE, now),
                        None,
                        "the link is throttled, not a recipient"
                    );
                    self.again.push_back(to);
                }
            }
            let outstanding = u32::try_from(self.answers.len()).expect("a window");
            let slots = self.flow.grant(WINDOW - outstanding, now);
            self.flow.used(slots);
            for _ in 0..slots {
                let to = self.again.pop_front().unwrap_or_else(|| number(self.next));
                self.next += 1;
                let accepted = self.carrier.accepts(ms + ROUND_TRIP_MS / 3);
                self.answers.push_back((ms + ROUND_TRIP_MS, to, accepted));
            }
        }
        self.ms += seconds * 1_000;
        seen
    }
}

#[track_caller]
fn check_share(seen: Seen, per_second: u32, seconds: u64, about: &str) {
    let given = u64::from(per_second) * seconds;
    assert!(seen.accepted * 100 >= given * 90, "{about}: {seen:?} of {given}");
}

#[track_caller]
fn check_throttled(seen: Seen, about: &str) {
    let all = seen.accepted + seen.throttled;
    assert!(seen.throttled * 100 < all, "{about}: {seen:?}");
}

#[test]
fn carrier_below_the_configured_rate_is_used_to_nine_tenths_with_under_one_percent_throttled() {
    for per_second in [50, 700, 5_000] {
        for counts in [Counts::Bucket(1_000), Counts::Bucket(100), Counts::Sliding] {
            let about = format!("{per_second} a second, {counts:?}");
            let (account, limited) =
                (Shaper::new(CONFIGURED, 1, WINDOW, Moment(0)), ThrottledRecipients::default());
            let mut stage = Stage::new(&account, &limited, Carrier::new(counts, per_second));
            let first = stage.run(60);
            let later = stage.run(600);
            check_share(later, per_second, 600, &about);
            check_throttled(later, &about);
            let all = Seen {
                accepted: first.accepted + later.accepted,
                throttled: first.throttled + later.throttled,
            };
            check_throttled(all, &format!("{about}, with the start"));
        }
    }
}

#[test]
fn rate_follows_a_carrier_whose_limit_changes() {
    let (account, limited) = (Shaper::new(CONFIGURED, 1, WINDOW, Moment(0)), ThrottledRecipients::default());
    let mut stage = Stage::new(&account, &limited, Carrier::new(Counts::Bucket(1_000), 700));
    for per_second in [700, 70, 300, 2_000, 1_500, 20] {
        stage.carrier.change(per_second, stage.ms);
        stage.run(200);
        let about = format!("{per_second} a second, after a change");
        let seen = stage.run(300);
        check_share(seen, per_second, 300, &about);
        check_throttled(seen, &about);
    }
}

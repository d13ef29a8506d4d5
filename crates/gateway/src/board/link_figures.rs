//! One link of a carrier in figures: where it stands, what it may do, what it has done. The link writes them as it goes,
//! metrics and the operator read them at any time.

use super::meter::{PerSecond, Tally};
use super::traffic::{Traffic, place_of};
use crate::clock::Moment;
use hermod_domain::carrier::ErrorClass;
use hermod_domain::time::Timestamp;
use metrics::{Gauge, counter, gauge};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    Both,
    /// The transmitter of a pair.
    Sends,
    /// The receiver of a pair.
    Receives,
}

impl Direction {
    pub const fn as_str(self) -> &'static str {
        match self {
            Direction::Both => "both",
            Direction::Sends => "sends",
            Direction::Receives => "receives",
        }
    }

    pub const fn sends(self) -> bool {
        match self {
            Direction::Both | Direction::Sends => true,
            Direction::Receives => false,
        }
    }
}

/// Where a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// For the time of its next attempt.
    Waiting,
    Connecting,
    Binding,
    Bound,
    /// It takes no more parts and waits for answers.
    Draining,
}

impl LinkState {
    pub const fn as_str(self) -> &'static str {
        match self {
            LinkState::Waiting => "waiting",
            LinkState::Connecting => "connecting",
            LinkState::Binding => "binding",
            LinkState::Bound => "bound",
            LinkState::Draining => "draining",
        }
    }
}

/// What a link was told to be, by the carrier's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSettings {
    pub address: String,
    pub tls: bool,
    pub window: u32,
    /// Parts per second, when nobody has asked it to slow down.
    pub full_rate: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastError {
    pub at: Timestamp,
    pub text: String,
}

/// What changes seldom.
#[derive(Debug)]
struct Standing {
    settings: LinkSettings,
    /// The carrier's entry has it.
    wanted: bool,
    state: LinkState,
    since: Timestamp,
    next_attempt_at: Option<Timestamp>,
    last_error: Option<LastError>,
}

/// Lives as long as the process; a link that is bound anew goes on counting.
pub struct LinkFigures {
    carrier: String,
    number: u8,
    direction: Direction,
    standing: Mutex<Standing>,
    out: AtomicU32,
    rate: AtomicU32,
    throttled: AtomicBool,
    per_second: PerSecond,
    bind_attempts: Tally,
    submitted: Tally,
    accepted: Tally,
    refused: [Tally; ErrorClass::ALL.len()],
    timed_out: Tally,
    receipts: Tally,
    unmatched: Tally,
    inbound: Tally,
    gauges: Gauges,
}

/// Set about once a second.
struct Gauges {
    bound: Gauge,
    window: Gauge,
    out: Gauge,
    rate: Gauge,
    full_rate: Gauge,
    per_second: Gauge,
}

/// A link as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkShown {
    /// From 1; the two halves of a pair have the same.
    pub number: u8,
    pub direction: Direction,
    pub address: String,
    pub tls: bool,
    pub state: LinkState,
    pub since: Timestamp,
    pub next_attempt_at: Option<Timestamp>,
    pub bind_attempts: u64,
    pub window: u32,
    /// Parts sent and not answered.
    pub out: u32,
    /// Parts per second that it may send now, and when all is well.
    pub rate: u32,
    pub full_rate: u32,
    /// Tenths of parts per second, over the last ten seconds.
    pub submitted_per_10_s: u64,
    /// Since the start of the process.
    pub totals: Traffic,
    pub last_error: Option<LastError>,
}

impl LinkFigures {
    pub(super) fn new(
        carrier: &str,
        number: u8,
        direction: Direction,
        settings: LinkSettings,
        now: Timestamp,
    ) -> LinkFigures {
        let labels = [
            ("carrier", carrier.to_owned()),
            ("link", number.to_string()),
            ("direction", direction.as_str().to_owned()),
        ];
        let tally = |name: &'static str| Tally::new(counter!(name, &labels));
        LinkFigures {
            carrier: carrier.to_owned(),
            number,
            direction,
            out: AtomicU32::new(0),
            rate: AtomicU32::new(settings.full_rate),
            throttled: AtomicBool::new(false),
            per_second: PerSecond::default(),
            bind_attempts: tally("hermod_link_bind_attempts_total"),
            submitted: tally("hermod_link_submitted_total"),
            accepted: tally("hermod_link_accepted_total"),
            refused: ErrorClass::ALL.map(|class| {
                let mut labels = labels.to_vec();
                labels.push(("class", class.as_str().to_owned()));
                Tally::new(counter!("hermod_link_refused_total", &labels))
            }),
            timed_out: tally("hermod_link_timed_out_total"),
            receipts: tally("hermod_link_receipts_total"),
            unmatched: tally("hermod_link_receipts_unmatched_total"),
            inbound: tally("hermod_link_inbound_total"),
            gauges: Gauges {
                bound: gauge!("hermod_link_bound", &labels),
                window: gauge!("hermod_link_window", &labels),
                out: gauge!("hermod_link_out", &labels),
                rate: gauge!("hermod_link_rate", &labels),
                full_rate: gauge!("hermod_link_full_rate", &labels),
                per_second: gauge!("hermod_link_parts_per_second", &labels),
            },
            standing: Mutex::new(Standing {
                settings,
                wanted: true,
                state: LinkState::Waiting,
                since: now,
                next_attempt_at: None,
                last_error: None,
            }),
        }
    }

    pub fn carrier(&self) -> &str {
        &self.carrier
    }

    pub fn number(&self) -> u8 {
        self.number
    }

    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The entry has changed.
    pub(super) fn set_up(&self, settings: LinkSettings) {
        self.set_rate(settings.full_rate, false);
        let mut standing = self.standing();
        standing.settings = settings;
        standing.wanted = true;
    }

    /// The carrier's entry has no such link any more, or not now.
    pub(super) fn retire(&self, now: Timestamp) {
        self.enter(LinkState::Waiting, now);
        self.standing().wanted = false;
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.standing().wanted
    }

    pub fn enter(&self, state: LinkState, now: Timestamp) {
        let mut standing = self.standing();
        if standing.state != state {
            standing.state = state;
            standing.since = now;
        }
        standing.next_attempt_at = None;
    }

    pub fn wait_until(&self, next_attempt_at: Timestamp, now: Timestamp) {
        self.enter(LinkState::Waiting, now);
        self.standing().next_attempt_at = Some(next_attempt_at);
    }

    pub fn failed(&self, text: String, now: Timestamp) {
        self.standing().last_error = Some(LastError { at: now, text });
    }

    /// A link that can be given parts, or brings receipts.
    pub fn is_bound(&self) -> bool {
        self.standing().state == LinkState::Bound
    }

    pub fn attempted(&self) {
        self.bind_attempts.add(1);
    }

    pub fn submitted(&self, parts: u32, now: Moment) {
        if parts > 0 {
            self.submitted.add(u64::from(parts));
            self.per_second.add(parts, now);
        }
    }

    pub fn accepted(&self) {
        self.accepted.add(1);
    }

    pub fn refused(&self, class: ErrorClass) {
        self.refused[place_of(class)].add(1);
    }

    pub fn timed_out(&self) {
        self.timed_out.add(1);
    }

    pub fn receipt(&self) {
        self.receipts.add(1);
    }

    pub fn unmatched_receipts(&self, count: u64) {
        self.unmatched.add(count);
    }

    pub fn inbound(&self) {
        self.inbound.add(1);
    }

    pub fn set_out(&self, out: u32) {
        self.out.store(out, Ordering::Relaxed);
    }

    /// The rate of now, and whether throttling by the carrier keeps the link from its full rate.
    pub fn set_rate(&self, rate: u32, throttled: bool) {
        self.rate.store(rate, Ordering::Relaxed);
        self.throttled.store(throttled, Ordering::Relaxed);
    }

    pub fn rate(&self) -> u32 {
        self.rate.load(Ordering::Relaxed)
    }

    pub fn is_throttled(&self) -> bool {
        self.throttled.load(Ordering::Relaxed)
    }

    pub fn totals(&self) -> Traffic {
        Traffic {
            submitted: self.submitted.get(),
            accepted: self.accepted.get(),
            refused: std::array::from_fn(|class| self.refused[class].get()),
            timed_out: self.timed_out.get(),
            receipts: self.receipts.get(),
            unmatched: self.unmatched.get(),
            inbound: self.inbound.get(),
        }
    }

    pub fn show(&self, now: Moment) -> LinkShown {
        let standing = self.standing();
        let Standing { settings, wanted: _, state, since, next_attempt_at, last_error } = &*standing;
        let LinkSettings { address, tls, window, full_rate } = settings;
        LinkShown {
            number: self.number,
            direction: self.direction,
            address: address.clone(),
            tls: *tls,
            state: *state,
            since: *since,
            next_attempt_at: *next_attempt_at,
            bind_attempts: self.bind_attempts.get(),
            window: *window,
            out: self.out.load(Ordering::Relaxed),
            rate: self.rate.load(Ordering::Relaxed),
            full_rate: *full_rate,
            submitted_per_10_s: self.per_second.tenths(now),
            totals: self.totals(),
            last_error: last_error.clone(),
        }
    }

    /// Tells the gauges. To be called about every second.
    pub(super) fn publish(&self, now: Moment) {
        let shown = self.show(now);
        let Gauges { bound, window, out, rate, full_rate, per_second } = &self.gauges;
        bound.set(u32::from(shown.state == LinkState::Bound));
        window.set(shown.window);
        out.set(shown.out);
        rate.set(shown.rate);
        full_rate.set(shown.full_rate);
        per_second.set(f64::from(u32::try_from(shown.submitted_per_10_s).unwrap_or(u32::MAX)) / 10.0);
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LinkFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LinkFigures { carrier, number, direction, standing, .. } = self;
        f.debug_struct("LinkFigures")
            .field("carrier", carrier)
            .field("number", number)
            .field("direction", direction)
            .field("standing", standing)
            .finish_non_exhaustive()
    }
}

//! The status of one carrier link: state, settings and counters. The link writes it; metrics and the operator read it
//! at any time.

use super::counters::{PerSecond, SharedCount};
use super::traffic::{Traffic, place_of};
use crate::clock::Moment;
use hermod_domain::carrier::ErrorClass;
use hermod_domain::time::Timestamp;
use metrics::{Gauge, counter, gauge};
use parking_lot::Mutex;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

hermod_domain::named! {
    /// Whether a link sends, receives, or both.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Direction {
        Both = "both",
        /// The transmitter of a pair.
        Sends = "sends",
        /// The receiver of a pair.
        Receives = "receives",
    }
}

impl Direction {
    pub const fn sends(self) -> bool {
        match self {
            Direction::Both | Direction::Sends => true,
            Direction::Receives => false,
        }
    }
}

hermod_domain::named! {
    /// The state of a link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum LinkState {
        /// Waits for the next bind attempt.
        Waiting = "waiting",
        Connecting = "connecting",
        Binding = "binding",
        Bound = "bound",
        /// Takes no more parts and waits for responses.
        Draining = "draining",
    }
}

/// A link's settings from the carrier's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSettings {
    pub address: String,
    pub tls: bool,
    pub window: u32,
    /// Parts per second without throttling.
    pub full_rate: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastError {
    pub at: Timestamp,
    pub text: String,
}

/// The part of the status that changes rarely.
#[derive(Debug)]
struct RareChanges {
    settings: LinkSettings,
    /// The carrier's entry has this link.
    wanted: bool,
    state: LinkState,
    since: Timestamp,
    next_attempt_at: Option<Timestamp>,
    last_error: Option<LastError>,
}

/// Lives as long as the process; the counters continue after a new bind.
pub struct LinkStatus {
    carrier: String,
    number: u8,
    direction: Direction,
    rare: Mutex<RareChanges>,
    out: AtomicU32,
    rate: AtomicU32,
    throttled: AtomicBool,
    per_second: PerSecond,
    bind_attempts: SharedCount,
    submitted: SharedCount,
    accepted: SharedCount,
    refused: [SharedCount; ErrorClass::ALL.len()],
    timed_out: SharedCount,
    receipts: SharedCount,
    unmatched: SharedCount,
    inbound: SharedCount,
    gauges: Gauges,
}

/// Updated about once a second.
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
pub struct LinkSnapshot {
    /// From 1; both binds of a pair have the same number.
    pub number: u8,
    pub direction: Direction,
    pub address: String,
    pub tls: bool,
    pub state: LinkState,
    pub since: Timestamp,
    pub next_attempt_at: Option<Timestamp>,
    pub bind_attempts: u64,
    pub window: u32,
    /// Outstanding parts: sent and not answered.
    pub out: u32,
    /// Parts per second that it may send now, and without throttling.
    pub rate: u32,
    pub full_rate: u32,
    /// Tenths of parts per second, over the last ten seconds.
    pub submitted_per_10_s: u64,
    /// Since the start of the process.
    pub totals: Traffic,
    pub last_error: Option<LastError>,
}

impl LinkStatus {
    pub(super) fn new(
        carrier: &str,
        number: u8,
        direction: Direction,
        settings: LinkSettings,
        now: Timestamp,
    ) -> LinkStatus {
        let labels = [
            ("carrier", carrier.to_owned()),
            ("link", number.to_string()),
            ("direction", direction.as_str().to_owned()),
        ];
        let shared_count = |name: &'static str| SharedCount::new(counter!(name, &labels));
        LinkStatus {
            carrier: carrier.to_owned(),
            number,
            direction,
            out: AtomicU32::new(0),
            rate: AtomicU32::new(settings.full_rate),
            throttled: AtomicBool::new(false),
            per_second: PerSecond::default(),
            bind_attempts: shared_count("hermod_link_bind_attempts_total"),
            submitted: shared_count("hermod_link_submitted_total"),
            accepted: shared_count("hermod_link_accepted_total"),
            refused: ErrorClass::ALL.map(|class| {
                let mut labels = labels.to_vec();
                labels.push(("class", class.as_str().to_owned()));
                SharedCount::new(counter!("hermod_link_refused_total", &labels))
            }),
            timed_out: shared_count("hermod_link_timed_out_total"),
            receipts: shared_count("hermod_link_receipts_total"),
            unmatched: shared_count("hermod_link_receipts_unmatched_total"),
            inbound: shared_count("hermod_link_inbound_total"),
            gauges: Gauges {
                bound: gauge!("hermod_link_bound", &labels),
                window: gauge!("hermod_link_window", &labels),
                out: gauge!("hermod_link_out", &labels),
                rate: gauge!("hermod_link_rate", &labels),
                full_rate: gauge!("hermod_link_full_rate", &labels),
                per_second: gauge!("hermod_link_parts_per_second", &labels),
            },
            rare: Mutex::new(RareChanges {
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

    /// Applies the settings of a changed entry.
    pub(super) fn set_up(&self, settings: LinkSettings) {
        self.set_rate(settings.full_rate, false);
        let mut rare = self.rare.lock();
        rare.settings = settings;
        rare.wanted = true;
    }

    /// Marks a link that the carrier's entry does not have any more.
    pub(super) fn retire(&self, now: Timestamp) {
        self.enter(LinkState::Waiting, now);
        self.rare.lock().wanted = false;
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.rare.lock().wanted
    }

    pub fn enter(&self, state: LinkState, now: Timestamp) {
        let mut rare = self.rare.lock();
        if rare.state != state {
            rare.state = state;
            rare.since = now;
        }
        rare.next_attempt_at = None;
    }

    pub fn wait_until(&self, next_attempt_at: Timestamp, now: Timestamp) {
        self.enter(LinkState::Waiting, now);
        self.rare.lock().next_attempt_at = Some(next_attempt_at);
    }

    pub fn failed(&self, text: String, now: Timestamp) {
        self.rare.lock().last_error = Some(LastError { at: now, text });
    }

    /// Whether the link is bound.
    pub fn is_bound(&self) -> bool {
        self.rare.lock().state == LinkState::Bound
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

    pub fn out(&self) -> u32 {
        self.out.load(Ordering::Relaxed)
    }

    pub fn set_out(&self, out: u32) {
        self.out.store(out, Ordering::Relaxed);
    }

    /// Sets the current rate, and whether throttling keeps the link below its full rate.
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

    pub fn show(&self, now: Moment) -> LinkSnapshot {
        let rare = self.rare.lock();
        let RareChanges { settings, wanted: _, state, since, next_attempt_at, last_error } = &*rare;
        let LinkSettings { address, tls, window, full_rate } = settings;
        LinkSnapshot {
            number: self.number,
            direction: self.direction,
            address: address.clone(),
            tls: *tls,
            state: *state,
            since: *since,
            next_attempt_at: *next_attempt_at,
            bind_attempts: self.bind_attempts.get(),
            window: *window,
            out: self.out(),
            rate: self.rate.load(Ordering::Relaxed),
            full_rate: *full_rate,
            submitted_per_10_s: self.per_second.tenths(now),
            totals: self.totals(),
            last_error: last_error.clone(),
        }
    }

    /// Updates the gauges. To be called about every second.
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
}

impl fmt::Debug for LinkStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LinkStatus { carrier, number, direction, rare, .. } = self;
        f.debug_struct("LinkStatus")
            .field("carrier", carrier)
            .field("number", number)
            .field("direction", direction)
            .field("rare", rare)
            .finish_non_exhaustive()
    }
}

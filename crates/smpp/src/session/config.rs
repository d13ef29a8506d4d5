//! The limits and timers of a session. Callers set the values; `standard()` has those of the contract.

use std::time::Duration;

use crate::{Bind, BindType, Hidden, VERSION_3_4};

/// A time on a monotonic clock, in milliseconds. Callers pass it; nothing here reads a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(pub u64);

impl Moment {
    /// Returns the time `ms` later.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Moment {
        Moment(self.0.saturating_add(ms))
    }

    #[must_use]
    pub fn plus(self, wait: Duration) -> Moment {
        self.plus_ms(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns the time since `earlier`; zero if that is later.
    pub const fn since(self, earlier: Moment) -> Duration {
        Duration::from_millis(self.ms_since(earlier))
    }

    /// Returns the milliseconds since `earlier`; zero if that is later.
    pub const fn ms_since(self, earlier: Moment) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Limits and timers of both roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// The maximum of our outstanding requests, and of timed-out ones whose late responses are still recognised.
    pub window_max: u32,
    /// The maximum of the peer's outstanding requests; above it the session stops reading.
    pub peer_window_max: u32,
    /// The response timeout of our requests; then the slot is freed.
    pub response_ms: u64,
    /// The idle time after which we send `enquire_link`; `None` never sends it.
    pub enquire_idle_ms: Option<u64>,
    /// The timeout of `enquire_link`; then it counts as missed.
    pub enquire_wait_ms: u64,
    /// The number of consecutive misses that closes the session.
    pub enquire_misses_max: u32,
    /// The idle time after which we unbind; `None` never does.
    pub inactivity_ms: Option<u64>,
    /// The time between the first and the last octet of a PDU.
    pub pdu_read_ms: u64,
    /// The maximum wait for responses to our requests, and for `unbind_resp`, when the session ends.
    pub drain_ms: u64,
    /// The maximum time for our responses to the peer's requests when the session ends.
    pub answer_ms: u64,
    /// The largest accepted PDU.
    pub pdu_bytes_max: u32,
    /// The unsent octets above which the session stops reading.
    pub output_bytes_max: usize,
    /// The capacity reserved in the read buffer before a read.
    pub read_chunk_bytes: usize,
    /// The number of requests in a wrong state or direction within one minute that ends the session.
    pub wrong_state_per_minute_max: u32,
    /// The number of unknown commands within one minute that ends the session.
    pub unknown_command_per_minute_max: u32,
}

/// The configuration of a client session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// Limits and timers.
    pub limits: SessionLimits,
    /// The timeout of the bind; then the session closes.
    pub bind_ms: u64,
}

/// The configuration of a server session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Limits and timers. An accepted bind sets `window_max` and `peer_window_max` to those of the connection.
    pub limits: SessionLimits,
    /// The time from the connection to an accepted bind; nothing extends it.
    pub session_init_ms: u64,
}

impl SessionLimits {
    const STANDARD: SessionLimits = SessionLimits {
        window_max: 10,
        peer_window_max: 10,
        response_ms: 60_000,
        enquire_idle_ms: Some(30_000),
        enquire_wait_ms: 10_000,
        enquire_misses_max: 2,
        inactivity_ms: None,
        pdu_read_ms: 10_000,
        drain_ms: 5_000,
        answer_ms: 5_000,
        pdu_bytes_max: 16_384,
        output_bytes_max: 256 * 1024,
        read_chunk_bytes: 8 * 1024,
        wrong_state_per_minute_max: 10,
        unknown_command_per_minute_max: 10,
    };
}

impl ClientConfig {
    /// Returns the defaults for binds to carriers.
    pub const fn standard() -> ClientConfig {
        // Receipts arrive in bursts and each waits for a commit, so carriers get a larger window than they grant.
        let limits = SessionLimits { peer_window_max: 100, ..SessionLimits::STANDARD };
        ClientConfig { limits, bind_ms: 10_000 }
    }
}

impl ServerConfig {
    /// Returns the documented values of the server.
    pub const fn standard() -> ServerConfig {
        let limits = SessionLimits {
            response_ms: 30_000,
            // The inactivity timeout detects dead peers; `probe` is for the one case that cannot wait.
            enquire_idle_ms: None,
            enquire_wait_ms: 5_000,
            inactivity_ms: Some(60_000),
            // A submit without a response may have been charged.
            answer_ms: 30_000,
            ..SessionLimits::STANDARD
        };
        ServerConfig { limits, session_init_ms: 10_000 }
    }
}

/// A client's bind request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindRequest<'a> {
    /// The bind type.
    pub kind: BindType,
    /// The fields of the bind PDU.
    pub bind: Bind<'a>,
}

impl<'a> BindRequest<'a> {
    /// Makes a 3.4 bind with an empty system_type and no address range.
    pub fn new(kind: BindType, system_id: &'a [u8], password: &'a [u8]) -> Self {
        let password = Hidden(password);
        let bind = Bind { system_id, password, interface_version: VERSION_3_4, ..Bind::default() };
        BindRequest { kind, bind }
    }

    /// Returns the bind with another version. Below 0x34 it is a 3.3 bind, on which no TLVs and no `data_sm` are sent.
    #[must_use]
    pub const fn with_version(mut self, interface_version: u8) -> Self {
        self.bind.interface_version = interface_version;
        self
    }
}

/// The parameters of an accepted bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindAcceptance<'a> {
    /// Our system_id for the bind response.
    pub system_id: &'a [u8],
    /// The maximum of outstanding deliveries to this client.
    pub window_max: u32,
    /// The maximum of outstanding requests of this client.
    pub peer_window_max: u32,
}

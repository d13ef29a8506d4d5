//! Every limit and timer of a session, by name. Values are the caller's; `standard()` holds the ones of
//! our contract so that they are written down once.

use crate::{Bind, BindType, Hidden, VERSION_3_4};

/// A moment on any monotonic clock, in milliseconds. The session never asks for it; it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(pub u64);

impl Moment {
    /// This much later.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Moment {
        Moment(self.0.saturating_add(ms))
    }

    /// How long since `earlier`, zero if it is not earlier.
    pub const fn ms_since(self, earlier: Moment) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// What both roles hold a session to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Our requests that may wait for an answer at once, and as many that did so in vain and may still be
    /// answered late.
    pub window_max: u32,
    /// The peer's requests the application may hold unanswered; past it the session stops reading.
    pub inbound_max: u32,
    /// Our request to its answer; then the slot is freed and reported as timed out.
    pub response_ms: u64,
    /// Silence from the peer before we send `enquire_link`; `None` never sends it.
    pub enquire_idle_ms: Option<u64>,
    /// `enquire_link` to its answer; then it counts as missed.
    pub enquire_wait_ms: u64,
    /// Misses in a row that close the session.
    pub enquire_misses_max: u32,
    /// Silence from the peer before we unbind; `None` never does.
    pub inactivity_ms: Option<u64>,
    /// First octet to last octet of one PDU.
    pub pdu_read_ms: u64,
    /// Longest wait for open requests, and for `unbind_resp`, when the session ends.
    pub drain_ms: u64,
    /// Largest PDU read.
    pub pdu_bytes_max: u32,
    /// Unsent octets past which the session reads nothing more.
    pub output_bytes_max: usize,
    /// Free room made in the read buffer before a read.
    pub read_chunk_bytes: usize,
    /// Requests in a wrong state or direction within one minute; this many end the session.
    pub wrong_state_per_minute_max: u32,
    /// Unknown commands within one minute; this many end the session.
    pub unknown_command_per_minute_max: u32,
}

/// What a client session is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// Limits and timers.
    pub limits: Limits,
    /// Bind to its answer; then the session closes.
    pub bind_ms: u64,
}

/// What a server session is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Limits and timers. `window_max` and `inbound_max` are replaced by the account's when a bind is
    /// accepted.
    pub limits: Limits,
    /// Connection to accepted bind; nothing extends it.
    pub session_init_ms: u64,
}

impl Limits {
    const STANDARD: Limits = Limits {
        window_max: 10,
        inbound_max: 10,
        response_ms: 60_000,
        enquire_idle_ms: Some(30_000),
        enquire_wait_ms: 10_000,
        enquire_misses_max: 2,
        inactivity_ms: None,
        pdu_read_ms: 10_000,
        drain_ms: 5_000,
        pdu_bytes_max: 16_384,
        output_bytes_max: 256 * 1024,
        read_chunk_bytes: 8 * 1024,
        wrong_state_per_minute_max: 10,
        unknown_command_per_minute_max: 10,
    };
}

impl ClientConfig {
    /// The figures we bind to a carrier with unless its profile says otherwise.
    pub const fn standard() -> ClientConfig {
        // Receipts come in bursts and each waits for a commit, so a carrier is given more room than its
        // own window gives us.
        let limits = Limits { inbound_max: 100, ..Limits::STANDARD };
        ClientConfig { limits, bind_ms: 10_000 }
    }
}

impl ServerConfig {
    /// The figures our server documents.
    pub const fn standard() -> ServerConfig {
        let limits = Limits {
            response_ms: 30_000,
            // Sixty seconds of silence already prove death; `probe` is for the one case that cannot wait.
            enquire_idle_ms: None,
            enquire_wait_ms: 5_000,
            inactivity_ms: Some(60_000),
            ..Limits::STANDARD
        };
        ServerConfig { limits, session_init_ms: 10_000 }
    }
}

/// What a client binds with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindRequest<'a> {
    /// What the session is for.
    pub kind: BindType,
    /// The fields of the bind PDU.
    pub bind: Bind<'a>,
}

impl<'a> BindRequest<'a> {
    /// A 3.4 bind with a blank system type and no address range.
    pub fn new(kind: BindType, system_id: &'a [u8], password: &'a [u8]) -> Self {
        let password = Hidden(password);
        let bind = Bind { system_id, password, interface_version: VERSION_3_4, ..Bind::default() };
        BindRequest { kind, bind }
    }

    /// The same bind in another version. Below 0x34 it is a 3.3 bind, on which we send no TLVs and no `data_sm`.
    #[must_use]
    pub const fn speaking(mut self, interface_version: u8) -> Self {
        self.bind.interface_version = interface_version;
        self
    }
}

/// How a server accepts a bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acceptance<'a> {
    /// Our own system id, told to the client.
    pub system_id: &'a [u8],
    /// Deliveries to this client that may be unanswered at once.
    pub window_max: u32,
    /// Requests of this client that may be unanswered at once.
    pub inbound_max: u32,
}

//! An SMPP session without a socket or a clock, in both roles. Octets and times go in; octets, events and the next
//! deadline come out. It handles enquire_link, wrong states, unreadable PDUs, nacks, the unbind handshake and all
//! timers by itself.
//!
//! A driver is a loop: call `next_event` until it returns `None`, write `output`, then wait for the first of readable
//! octets (only while `may_read`), `next_deadline`, and requests of the application.

mod capture;
mod config;
mod event;
mod per_minute;
mod receive;
mod state_table;
mod timed_out;
mod timers;
mod unbind;
mod window;

#[cfg(test)]
mod tests;

pub use config::{BindAcceptance, BindRequest, ClientConfig, Moment, ServerConfig, SessionLimits};
pub use event::{CloseReason, Counters, RequestError, RespondError, SessionEvent};

use bytes::BytesMut;
use std::collections::VecDeque;

use crate::{
    BindResp, BindType, CommandId, CommandStatus, EncodeError, Header, Pdu, Tag, TlvBuffer, VERSION_3_4, pdu,
};
use capture::CapturedPdus;
use per_minute::PerMinute;
use receive::OpenRequest;
use state_table::{SessionRole, StateColumn};
use timed_out::TimedOutRequests;
use timers::Enquiry;
use unbind::Drain;
use window::{SEQUENCE_MAX, Window};

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Server: connected, not bound.
    Open,
    /// Client: the bind was sent. Server: the application is checking it.
    Binding,
    /// Bound.
    Bound(BindType),
    /// Unbinding, by us or by the peer.
    Draining,
    /// Ended.
    Closed,
}

#[derive(Clone, Copy)]
enum Stage {
    Open,
    /// The bind type and the bind's sequence number.
    Binding(BindType, u32),
    Bound(BindType),
    Draining(Drain),
    Closed,
}

/// An SMPP session. `T` is the caller's token for each request.
pub struct Session<T> {
    role: SessionRole,
    stage: Stage,
    limits: SessionLimits,
    /// The deadline of the bind.
    init_by: Moment,
    is_3_4: bool,
    input: BytesMut,
    output: BytesMut,
    events: VecDeque<SessionEvent<T>>,
    window: Window<T>,
    timed_out: TimedOutRequests,
    /// After a timeout a server has a window of one until a request succeeds.
    is_window_reduced: bool,
    next_sequence: u32,
    /// The peer's requests without a response, usually completed from the front.
    open: VecDeque<OpenRequest>,
    /// The next PDU waits for the application or the output: the session does not read.
    is_stalled: bool,
    /// The time of the last PDU, or when the session resumed reading.
    idle_since: Moment,
    /// The time of the first octets of an incomplete PDU.
    partial_since: Option<Moment>,
    enquiry: Enquiry,
    wrong_state: PerMinute,
    unknown: PerMinute,
    counters: Counters,
    captured: CapturedPdus,
    /// The latest time passed in. The session's time never runs backward.
    latest: Moment,
}

impl<T> Session<T> {
    /// Makes a client session, with the bind in its output.
    pub fn client(config: ClientConfig, request: &BindRequest<'_>, now: Moment) -> Result<Self, EncodeError> {
        let init_by = now.plus_ms(config.bind_ms);
        let mut session = Session::new(SessionRole::Client, config.limits, init_by, now);
        session.is_3_4 = request.bind.is_3_4();
        let sequence = session.take_sequence();
        let pdu = Pdu::Bind(request.kind, request.bind);
        pdu::encode(&pdu, CommandStatus::OK, sequence, &mut session.output)?;
        session.counters.pdus_out = 1;
        session.stage = Stage::Binding(request.kind, sequence);
        Ok(session)
    }

    /// Makes a server session that waits for a bind.
    pub fn server(config: ServerConfig, now: Moment) -> Self {
        Session::new(SessionRole::Server, config.limits, now.plus_ms(config.session_init_ms), now)
    }

    fn new(role: SessionRole, limits: SessionLimits, init_by: Moment, now: Moment) -> Self {
        Session {
            role,
            stage: Stage::Open,
            limits,
            init_by,
            is_3_4: false,
            input: BytesMut::new(),
            output: BytesMut::new(),
            events: VecDeque::new(),
            window: Window::new(),
            timed_out: TimedOutRequests::default(),
            is_window_reduced: false,
            next_sequence: 1,
            open: VecDeque::new(),
            is_stalled: false,
            idle_since: now,
            partial_since: None,
            enquiry: Enquiry::default(),
            wrong_state: PerMinute::new(limits.wrong_state_per_minute_max),
            unknown: PerMinute::new(limits.unknown_command_per_minute_max),
            counters: Counters::default(),
            captured: CapturedPdus::default(),
            latest: now,
        }
    }

    /// Returns the buffer to read into, with a capacity of `read_chunk_bytes`, which never depends on a length that the
    /// peer claims. Call `on_input` after reading.
    pub fn read_buffer(&mut self) -> &mut BytesMut {
        self.input.reserve(self.limits.read_chunk_bytes);
        &mut self.input
    }

    /// Processes octets that were read into `read_buffer`. Call `next_event` afterwards.
    pub fn on_input(&mut self, now: Moment) {
        let now = self.advance_clock(now);
        if !self.input.is_empty() {
            self.partial_since.get_or_insert(now);
        }
    }

    /// Processes received octets: `read_buffer` and `on_input` in one.
    pub fn receive(&mut self, octets: &[u8], now: Moment) {
        self.input.extend_from_slice(octets);
        self.on_input(now);
    }

    /// Whether the driver may read from the socket. Not reading is the back-pressure.
    pub fn may_read(&self) -> bool {
        match self.stage {
            Stage::Closed => false,
            // Nothing is read while a bind is being checked.
            Stage::Binding(..) if self.role == SessionRole::Server => false,
            Stage::Draining(drain) if self.role == SessionRole::Server && drain.is_by_peer() => false,
            _ => !self.is_stalled,
        }
    }

    /// Processes received PDUs up to the next event. Call it until it returns `None` after every other call, then write
    /// the output.
    pub fn next_event(&mut self, now: Moment) -> Option<SessionEvent<T>> {
        let now = self.advance_clock(now);
        if self.events.is_empty() {
            self.process_input(now);
        }
        self.events.pop_front()
    }

    /// Returns the octets to write. The driver removes them from the front.
    pub fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Sends a request, which uses a window slot, and returns its sequence number. The token is returned in exactly one
    /// of `Response`, `TimedOut` and `Lost`; a `LateResponse` after `TimedOut` has the sequence number.
    pub fn request(&mut self, pdu: &Pdu<'_>, token: T, now: Moment) -> Result<u32, RequestError> {
        let now = self.advance_clock(now);
        let kind = match self.stage {
            Stage::Bound(kind) => kind,
            Stage::Open | Stage::Binding(..) => return Err(RequestError::NotBound),
            Stage::Draining(_) => return Err(RequestError::Draining),
            Stage::Closed => return Err(RequestError::Closed),
        };
        let command = pdu.command();
        let response = command.response().filter(|_| state_table::may_request(self.role, kind, command));
        let response = response.ok_or(RequestError::NotAllowed)?;
        if !self.is_3_4 && pdu.needs_3_4() {
            return Err(RequestError::Needs3_4);
        }
        if self.window_free() == 0 {
            return Err(RequestError::WindowFull);
        }
        pdu::encode(pdu, CommandStatus::OK, self.next_sequence, &mut self.output)?;
        let sequence = self.take_sequence();
        self.timed_out.forget(sequence);
        self.window.insert(sequence, response, now.plus_ms(self.limits.response_ms), token);
        self.counters.pdus_out = self.counters.pdus_out.saturating_add(1);
        Ok(sequence)
    }

    /// Responds to a request with status 0. `request` is the header of the request's frame.
    pub fn respond(&mut self, request: Header, pdu: &Pdu<'_>, now: Moment) -> Result<(), RespondError> {
        let now = self.advance_clock(now);
        if request.command.response() != Some(pdu.command()) {
            return Err(RespondError::Mismatched);
        }
        let index = self.outstanding_index(request)?;
        if !self.is_3_4 && !pdu.tlvs().is_empty() {
            return Err(RespondError::Needs3_4);
        }
        pdu::encode(pdu, CommandStatus::OK, request.sequence, &mut self.output)?;
        self.counters.pdus_out = self.counters.pdus_out.saturating_add(1);
        self.remove_outstanding(index, now);
        Ok(())
    }

    /// Responds to a request with an error status and no body.
    pub fn reject(
        &mut self,
        request: Header,
        status: CommandStatus,
        now: Moment,
    ) -> Result<(), RespondError> {
        let now = self.advance_clock(now);
        let index = self.outstanding_index(request)?;
        let response = request.command.response().ok_or(RespondError::Mismatched)?;
        self.send_header(response, status, request.sequence);
        self.remove_outstanding(index, now);
        Ok(())
    }

    /// Forgets a request that gets no response: the end of the session does not wait for it.
    pub fn forget(&mut self, request: Header, now: Moment) -> Result<(), RespondError> {
        let now = self.advance_clock(now);
        let index = self.outstanding_index(request)?;
        self.remove_outstanding(index, now);
        Ok(())
    }

    /// Server: accepts the bind of `SessionEvent::BindRequested`.
    pub fn accept_bind(&mut self, acceptance: &BindAcceptance<'_>, now: Moment) -> Result<(), RespondError> {
        let now = self.advance_clock(now);
        let Stage::Binding(kind, sequence) = self.stage else { return Err(RespondError::NotOpen) };
        if self.role != SessionRole::Server {
            return Err(RespondError::NotOpen);
        }
        let BindAcceptance { system_id, window_max, peer_window_max } = *acceptance;
        let mut tlvs = TlvBuffer::new();
        if self.is_3_4 {
            tlvs.push_u8(Tag::SC_INTERFACE_VERSION, VERSION_3_4);
        }
        let pdu = Pdu::BindResp(kind, BindResp { system_id, tlvs: tlvs.as_tlvs() });
        pdu::encode(&pdu, CommandStatus::OK, sequence, &mut self.output)?;
        self.counters.pdus_out = self.counters.pdus_out.saturating_add(1);
        self.limits.window_max = window_max;
        self.limits.peer_window_max = peer_window_max;
        self.stage = Stage::Bound(kind);
        self.resume(now);
        Ok(())
    }

    /// Server: rejects the bind of `SessionEvent::BindRequested` and closes.
    pub fn reject_bind(&mut self, status: CommandStatus, now: Moment) -> Result<(), RespondError> {
        self.advance_clock(now);
        let Stage::Binding(kind, sequence) = self.stage else { return Err(RespondError::NotOpen) };
        if self.role != SessionRole::Server {
            return Err(RespondError::NotOpen);
        }
        self.send_header(kind.response(), status, sequence);
        self.close(CloseReason::BindRejected(status));
        Ok(())
    }

    /// Returns the state.
    pub const fn state(&self) -> SessionState {
        match self.stage {
            Stage::Open => SessionState::Open,
            Stage::Binding(..) => SessionState::Binding,
            Stage::Bound(kind) => SessionState::Bound(kind),
            Stage::Draining(_) => SessionState::Draining,
            Stage::Closed => SessionState::Closed,
        }
    }

    /// Whether both sides use 3.4, so that `data_sm` and TLVs may be sent; otherwise `request` refuses them. Known once
    /// bound.
    ///
    /// A server uses the client's `interface_version`. A client uses the lower of its own and the server's
    /// `sc_interface_version`. A server that does not send it is taken for 3.4, because many that accept TLVs omit it;
    /// carriers with 3.3 are bound as 3.3.
    pub const fn peer_is_3_4(&self) -> bool {
        self.is_3_4
    }

    /// Returns the number of free window slots.
    pub fn window_free(&self) -> u32 {
        match self.stage {
            Stage::Bound(_) => self.window_max().saturating_sub(self.window.used()),
            _ => 0,
        }
    }

    fn window_max(&self) -> u32 {
        if self.is_window_reduced { self.limits.window_max.min(1) } else { self.limits.window_max }
    }

    /// Returns the number of our outstanding requests.
    pub const fn outstanding(&self) -> u32 {
        self.window.used()
    }

    /// Returns the number of the peer's outstanding requests.
    pub fn peer_outstanding(&self) -> u32 {
        u32::try_from(self.open.len()).unwrap_or(u32::MAX)
    }

    /// Returns the counters.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    fn advance_clock(&mut self, now: Moment) -> Moment {
        self.latest = self.latest.max(now);
        self.latest
    }

    fn column(&self) -> Option<StateColumn> {
        match self.stage {
            Stage::Open | Stage::Binding(..) => Some(StateColumn::Open),
            Stage::Bound(kind) => Some(StateColumn::Bound(kind)),
            Stage::Draining(_) => Some(StateColumn::Drain),
            Stage::Closed => None,
        }
    }

    fn take_sequence(&mut self) -> u32 {
        let sequence = self.next_sequence;
        self.next_sequence = if sequence >= SEQUENCE_MAX { 1 } else { sequence.saturating_add(1) };
        sequence
    }

    fn send_header(&mut self, command: CommandId, status: CommandStatus, sequence: u32) {
        pdu::encode_header(command, status, sequence, &mut self.output);
        self.counters.pdus_out = self.counters.pdus_out.saturating_add(1);
    }
}

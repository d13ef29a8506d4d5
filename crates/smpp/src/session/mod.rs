//! A session without a socket or a clock, in both roles. Octets and moments go in; octets, events and the
//! next deadline come out. It settles by itself whatever needs no application: enquiries, wrong states,
//! unreadable PDUs, nacks, the unbind handshake and every timer.
//!
//! A driver is a loop: call `next_event` until it gives `None`, write `output`, then wait for whichever
//! comes first of readable octets (only while `may_read`), `next_deadline`, and work from the application.

mod config;
mod ending;
mod event;
mod gate;
mod inbound;
mod overdue;
mod per_minute;
mod timers;
mod watching;
mod window;

#[cfg(test)]
mod bind_type_tests;
#[cfg(test)]
mod late_tests;
#[cfg(test)]
mod pair_tests;
#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod story_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod timer_tests;

pub use config::{Acceptance, BindRequest, ClientConfig, Limits, Moment, ServerConfig};
pub use event::{AnswerRefused, CloseReason, Counters, Event, Refused};

use bytes::BytesMut;
use std::collections::VecDeque;

use crate::{
    BindResp, BindType, CommandId, CommandStatus, EncodeError, Header, Pdu, Tag, TlvBuffer, VERSION_3_4, pdu,
};
use ending::Drain;
use gate::{Column, Role};
use inbound::OpenRequest;
use overdue::Overdue;
use per_minute::PerMinute;
use timers::Enquiry;
use watching::Seen;
use window::{SEQUENCE_MAX, Window};

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Server: connected, not bound.
    Open,
    /// Client: the bind is on its way. Server: the application is checking it.
    Binding,
    /// Bound.
    Bound(BindType),
    /// Unbinding, by us or by the peer.
    Draining,
    /// Over.
    Closed,
}

#[derive(Clone, Copy)]
enum Stage {
    Open,
    /// The bind and its sequence, under which it is answered.
    Binding(BindType, u32),
    Bound(BindType),
    Draining(Drain),
    Closed,
}

/// One SMPP session. `T` is the caller's token for each request it sends.
pub struct Session<T> {
    role: Role,
    stage: Stage,
    limits: Limits,
    /// By when the session has to be bound.
    init_by: Moment,
    is_3_4: bool,
    input: BytesMut,
    output: BytesMut,
    events: VecDeque<Event<T>>,
    window: Window<T>,
    overdue: Overdue,
    /// After a timeout a server delivers one at a time until one succeeds.
    narrowed: bool,
    next_sequence: u32,
    /// The peer's requests the application has not answered, mostly answered from the front.
    open: VecDeque<OpenRequest>,
    /// The next PDU waits for the application or for the output: we are not reading.
    stalled: bool,
    /// The last whole PDU, or when we began to read again.
    quiet_since: Moment,
    /// The first octets of a PDU that is not whole yet.
    partial_since: Option<Moment>,
    enquiry: Enquiry,
    wrong_state: PerMinute,
    unknown: PerMinute,
    counters: Counters,
    seen: Seen,
    /// The latest moment told. Time never runs backward in here, whatever the caller's clock does.
    latest: Moment,
}

impl<T> Session<T> {
    /// A client that binds at once: the bind is already in the output.
    pub fn client(config: ClientConfig, request: &BindRequest<'_>, now: Moment) -> Result<Self, EncodeError> {
        let init_by = now.plus_ms(config.bind_ms);
        let mut session = Session::new(Role::Client, config.limits, init_by, now);
        session.is_3_4 = request.bind.is_3_4();
        let sequence = session.take_sequence();
        let pdu = Pdu::Bind(request.kind, request.bind);
        pdu::encode(&pdu, CommandStatus::OK, sequence, &mut session.output)?;
        session.counters.pdus_out = 1;
        session.stage = Stage::Binding(request.kind, sequence);
        Ok(session)
    }

    /// A server that waits for a bind.
    pub fn server(config: ServerConfig, now: Moment) -> Self {
        Session::new(Role::Server, config.limits, now.plus_ms(config.session_init_ms), now)
    }

    fn new(role: Role, limits: Limits, init_by: Moment, now: Moment) -> Self {
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
            overdue: Overdue::default(),
            narrowed: false,
            next_sequence: 1,
            open: VecDeque::new(),
            stalled: false,
            quiet_since: now,
            partial_since: None,
            enquiry: Enquiry::default(),
            wrong_state: PerMinute::new(limits.wrong_state_per_minute_max),
            unknown: PerMinute::new(limits.unknown_command_per_minute_max),
            counters: Counters::default(),
            seen: Seen::default(),
            latest: now,
        }
    }

    /// The buffer to read into, with `read_chunk_bytes` of room made. The room never depends on what a
    /// peer claims. Call `on_input` after reading.
    pub fn read_buffer(&mut self) -> &mut BytesMut {
        self.input.reserve(self.limits.read_chunk_bytes);
        &mut self.input
    }

    /// Octets were read into `read_buffer`. Call `next_event` after it.
    pub fn on_input(&mut self, now: Moment) {
        let now = self.told(now);
        if !self.input.is_empty() {
            self.partial_since.get_or_insert(now);
        }
    }

    /// Octets came: `read_buffer` and `on_input` in one.
    pub fn receive(&mut self, octets: &[u8], now: Moment) {
        self.input.extend_from_slice(octets);
        self.on_input(now);
    }

    /// The driver may read from the socket. While it is false, stop reading: that is the back-pressure.
    pub fn may_read(&self) -> bool {
        match self.stage {
            Stage::Closed => false,
            // One bind at a time, and nothing behind it.
            Stage::Binding(..) if self.role == Role::Server => false,
            Stage::Draining(drain) if self.role == Role::Server && drain.is_by_peer() => false,
            _ => !self.stalled,
        }
    }

    /// Reads on through what has been received, up to the next thing the application must know. Call it
    /// until `None` after every other call, then write the output.
    pub fn next_event(&mut self, now: Moment) -> Option<Event<T>> {
        let now = self.told(now);
        if self.events.is_empty() {
            self.read_on(now);
        }
        self.events.pop_front()
    }

    /// Octets to write. The driver takes them off the front.
    pub fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Sends a request and takes a window slot for it; gives its sequence number. The token comes back in
    /// exactly one of `Answered`, `TimedOut` and `Lost`; a `LateAnswer` to a `TimedOut` names the sequence.
    pub fn request(&mut self, pdu: &Pdu<'_>, token: T, now: Moment) -> Result<u32, Refused> {
        let now = self.told(now);
        let kind = match self.stage {
            Stage::Bound(kind) => kind,
            Stage::Open | Stage::Binding(..) => return Err(Refused::NotBound),
            Stage::Draining(_) => return Err(Refused::Draining),
            Stage::Closed => return Err(Refused::Closed),
        };
        let command = pdu.command();
        let answer = command.answer().filter(|_| gate::may_request(self.role, kind, command));
        let answer = answer.ok_or(Refused::NotAllowed)?;
        if !self.is_3_4 && pdu.needs_3_4() {
            return Err(Refused::Needs3_4);
        }
        if self.window_free() == 0 {
            return Err(Refused::WindowFull);
        }
        pdu::encode(pdu, CommandStatus::OK, self.next_sequence, &mut self.output)?;
        let sequence = self.take_sequence();
        self.overdue.forget(sequence);
        self.window.insert(sequence, answer, now.plus_ms(self.limits.response_ms), token);
        self.counters.pdus_out = self.counters.pdus_out.saturating_add(1);
        Ok(sequence)
    }

    /// Answers a request with status 0. The header is that of the request's frame.
    pub fn answer(&mut self, request: Header, pdu: &Pdu<'_>, now: Moment) -> Result<(), AnswerRefused> {
        let now = self.told(now);
        if request.command.answer() != Some(pdu.command()) {
            return Err(AnswerRefused::Mismatched);
        }
        let at = self.open_at(request)?;
        if !self.is_3_4 && !pdu.tlvs().is_empty() {
            return Err(AnswerRefused::Needs3_4);
        }
        pdu::encode(pdu, CommandStatus::OK, request.sequence, &mut self.output)?;
        self.counters.pdus_out = self.counters.pdus_out.saturating_add(1);
        self.close_request(at, now);
        Ok(())
    }

    /// Answers a request with an error status: the header alone.
    pub fn refuse(
        &mut self,
        request: Header,
        status: CommandStatus,
        now: Moment,
    ) -> Result<(), AnswerRefused> {
        let now = self.told(now);
        let at = self.open_at(request)?;
        let answer = request.command.answer().ok_or(AnswerRefused::Mismatched)?;
        self.send_header(answer, status, request.sequence);
        self.close_request(at, now);
        Ok(())
    }

    /// Server: accepts the bind of `Event::BindRequested`.
    pub fn accept_bind(&mut self, acceptance: &Acceptance<'_>, now: Moment) -> Result<(), AnswerRefused> {
        let now = self.told(now);
        let Stage::Binding(kind, sequence) = self.stage else { return Err(AnswerRefused::NotOpen) };
        if self.role != Role::Server {
            return Err(AnswerRefused::NotOpen);
        }
        let Acceptance { system_id, window_max, inbound_max } = *acceptance;
        let mut tlvs = TlvBuffer::new();
        if self.is_3_4 {
            tlvs.push_u8(Tag::SC_INTERFACE_VERSION, VERSION_3_4);
        }
        let pdu = Pdu::BindResp(kind, BindResp { system_id, tlvs: tlvs.as_tlvs() });
        pdu::encode(&pdu, CommandStatus::OK, sequence, &mut self.output)?;
        self.counters.pdus_out = self.counters.pdus_out.saturating_add(1);
        self.limits.window_max = window_max;
        self.limits.inbound_max = inbound_max;
        self.stage = Stage::Bound(kind);
        self.resume(now);
        Ok(())
    }

    /// Server: refuses the bind of `Event::BindRequested` and closes.
    pub fn refuse_bind(&mut self, status: CommandStatus, now: Moment) -> Result<(), AnswerRefused> {
        self.told(now);
        let Stage::Binding(kind, sequence) = self.stage else { return Err(AnswerRefused::NotOpen) };
        if self.role != Role::Server {
            return Err(AnswerRefused::NotOpen);
        }
        self.send_header(kind.answer(), status, sequence);
        self.close(CloseReason::BindRefused(status));
        Ok(())
    }

    /// Where the session stands.
    pub const fn state(&self) -> State {
        match self.stage {
            Stage::Open => State::Open,
            Stage::Binding(..) => State::Binding,
            Stage::Bound(kind) => State::Bound(kind),
            Stage::Draining(_) => State::Draining,
            Stage::Closed => State::Closed,
        }
    }

    /// Both sides speak 3.4, so `data_sm` and TLVs may be sent; otherwise `request` refuses them. Known once
    /// bound.
    ///
    /// A server takes the client's `interface_version`. A client takes the lower of its own and the server's
    /// `sc_interface_version`: it is 3.4 only if we bound as 3.4 and the server does not say less. A server
    /// that says nothing is taken for 3.4, because many that take TLVs leave it out; a carrier that really
    /// speaks 3.3 is bound to as 3.3.
    pub const fn peer_is_3_4(&self) -> bool {
        self.is_3_4
    }

    /// Slots free for `request`.
    pub fn window_free(&self) -> u32 {
        match self.stage {
            Stage::Bound(_) => self.window_max().saturating_sub(self.window.live()),
            _ => 0,
        }
    }

    fn window_max(&self) -> u32 {
        if self.narrowed { self.limits.window_max.min(1) } else { self.limits.window_max }
    }

    /// Our requests waiting for an answer.
    pub const fn outstanding(&self) -> u32 {
        self.window.live()
    }

    /// The peer's requests the application has not answered.
    pub fn inbound_open(&self) -> u32 {
        u32::try_from(self.open.len()).unwrap_or(u32::MAX)
    }

    /// What the session has seen and settled by itself.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    fn told(&mut self, now: Moment) -> Moment {
        self.latest = self.latest.max(now);
        self.latest
    }

    fn column(&self) -> Option<Column> {
        match self.stage {
            Stage::Open | Stage::Binding(..) => Some(Column::Open),
            Stage::Bound(kind) => Some(Column::Bound(kind)),
            Stage::Draining(_) => Some(Column::Drain),
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

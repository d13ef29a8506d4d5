//! A session without a socket or a clock, in both roles.
use bytes::BytesMut;
use std::marker::PhantomData;

mod config;
mod event;

pub use config::{Acceptance, BindRequest, ClientConfig, Limits, Moment, ServerConfig};
pub use event::{AnswerRefused, CloseReason, Counters, Event, Refused};

use crate::{BindType, CommandStatus, EncodeError, Header, Pdu};

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

/// One SMPP session. `T` is the caller's token for each request it sends.
pub struct Session<T> {
    input: BytesMut,
    output: BytesMut,
    tokens: PhantomData<T>,
}

impl<T> Session<T> {
    /// A client that binds at once: the bind is already in the output.
    pub fn client(_config: ClientConfig, _bind: &BindRequest<'_>, _now: Moment) -> Result<Self, EncodeError> {
        Ok(Session { input: BytesMut::new(), output: BytesMut::new(), tokens: PhantomData })
    }

    /// A server that waits for a bind.
    pub fn server(_config: ServerConfig, _now: Moment) -> Self {
        Session { input: BytesMut::new(), output: BytesMut::new(), tokens: PhantomData }
    }

    /// The buffer to read into, with free room made; call `on_input` after reading.
    pub fn read_buffer(&mut self) -> &mut BytesMut {
        &mut self.input
    }

    /// Octets were read into `read_buffer`.
    pub fn on_input(&mut self, _now: Moment) {}

    /// Octets came: `read_buffer` and `on_input` in one.
    pub fn receive(&mut self, octets: &[u8], now: Moment) {
        self.input.extend_from_slice(octets);
        self.on_input(now);
    }

    /// The driver may read from the socket. While it is false, stop reading: that is the back-pressure.
    pub fn may_read(&self) -> bool {
        true
    }

    /// Reads on through what has been received, up to the next thing the application must know.
    /// Call it until `None` after every other call, then write the output.
    pub fn next_event(&mut self, _now: Moment) -> Option<Event<T>> {
        None
    }

    /// Octets to write. The driver takes them off the front.
    pub fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// When `on_deadline` wants to be called next.
    pub fn next_deadline(&self) -> Option<Moment> {
        None
    }

    /// Lets every timer that is due act.
    pub fn on_deadline(&mut self, _now: Moment) {}

    /// Sends a request and takes a window slot for it; gives its sequence number.
    pub fn request(&mut self, _pdu: &Pdu<'_>, _token: T, _now: Moment) -> Result<u32, Refused> {
        Err(Refused::NotBound)
    }

    /// Answers a request with status 0.
    pub fn answer(&mut self, _request: Header, _pdu: &Pdu<'_>, _now: Moment) -> Result<(), AnswerRefused> {
        Err(AnswerRefused::NotOpen)
    }

    /// Answers a request with an error status, header alone.
    pub fn refuse(
        &mut self,
        _request: Header,
        _status: CommandStatus,
        _now: Moment,
    ) -> Result<(), AnswerRefused> {
        Err(AnswerRefused::NotOpen)
    }

    /// Server: accepts the bind of `Event::BindRequested`.
    pub fn accept_bind(&mut self, _acceptance: &Acceptance<'_>, _now: Moment) -> Result<(), AnswerRefused> {
        Err(AnswerRefused::NotOpen)
    }

    /// Server: refuses the bind of `Event::BindRequested` and closes.
    pub fn refuse_bind(&mut self, _status: CommandStatus, _now: Moment) -> Result<(), AnswerRefused> {
        Err(AnswerRefused::NotOpen)
    }

    /// Ends the session in good order. A client first waits for open answers.
    pub fn unbind(&mut self, _now: Moment) {}

    /// Sends `enquire_link` now; one miss closes the session.
    pub fn probe(&mut self, _now: Moment) {}

    /// The connection broke, or the peer closed it.
    pub fn connection_lost(&mut self, _now: Moment) {}

    /// Where the session stands.
    pub fn state(&self) -> State {
        State::Open
    }

    /// The peer may be sent TLVs (its version is 3.4 or later).
    pub fn peer_is_3_4(&self) -> bool {
        true
    }

    /// Slots free for `request`.
    pub fn window_free(&self) -> u32 {
        0
    }

    /// Our requests waiting for an answer.
    pub fn outstanding(&self) -> u32 {
        0
    }

    /// The peer's requests the application has not answered.
    pub fn inbound_open(&self) -> u32 {
        0
    }

    /// What the session settled by itself.
    pub fn counters(&self) -> Counters {
        Counters::default()
    }
}

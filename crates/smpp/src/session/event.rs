//! What a session tells its driver, and what it refuses.

use thiserror::Error;

use crate::{BindType, CommandStatus, DecodeError, EncodeError, Frame};

/// Something the application has to know or do. Everything else the session settles by itself.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<T> {
    /// Client: the bind was accepted. Requests may be sent from now on.
    Bound {
        /// What we bound as.
        kind: BindType,
        /// The `bind_*_resp`.
        frame: Frame,
    },
    /// Client: the bind was refused (or nacked). `Closed` follows.
    BindRefused(CommandStatus),
    /// Server: somebody wants to bind. Answer with `accept_bind` or `refuse_bind`; nothing more is read
    /// until then. The time to bind runs on: an answer that comes after it is refused, and `Closed` has
    /// been told. The frame is known to decode as `Pdu::Bind`.
    BindRequested(Frame),
    /// A request the application must answer, by `answer` or `refuse` with this frame's header. The frame
    /// is known to decode; a client's by `decode_from_carrier`.
    Request(Frame),
    /// `alert_notification`: there is nothing to answer. The frame is known to decode.
    Notification(Frame),
    /// One of our requests has its answer: the matching `_resp`, or a `generic_nack`. The status is in the
    /// frame's header. The slot is free.
    Answered {
        /// What the request was sent with.
        token: T,
        /// The answer.
        frame: Frame,
    },
    /// No answer in time: in doubt. The slot is free. While the session lives, an answer may still come as
    /// `LateAnswer`; with the session's end the doubt is final.
    TimedOut {
        /// What the request was sent under; a late answer says it again.
        sequence: u32,
        /// What the request was sent with.
        token: T,
    },
    /// The answer to a request that had timed out, at most once. As many of the latest time-outs are
    /// remembered as the window is wide.
    LateAnswer {
        /// As in `TimedOut`.
        sequence: u32,
        /// The answer: the matching `_resp`, or a `generic_nack`.
        frame: Frame,
    },
    /// The peer has unbound. Send nothing more; `Closed` follows when open work is done.
    PeerUnbound,
    /// Sent and unanswered when the session ended: in doubt, oldest first. `Closed` follows.
    Lost(Vec<T>),
    /// The last event. Flush the output, half-close, wait briefly for the peer, close.
    Closed(CloseReason),
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CloseReason {
    /// The connection broke or the peer closed it.
    #[error("the connection was lost")]
    ConnectionLost,
    /// We unbound, and the peer agreed.
    #[error("we unbound")]
    Unbound,
    /// We unbound, and the peer did not answer in time.
    #[error("we unbound without an answer")]
    UnbindTimeout,
    /// The peer unbound, and its open work is done or out of time.
    #[error("the peer unbound")]
    PeerUnbound,
    /// Client: the server refused the bind. Server: the application or a bad field did.
    #[error("the bind was refused with {0}")]
    BindRefused(CommandStatus),
    /// Client: no answer to the bind.
    #[error("the bind was not answered in time")]
    BindTimeout,
    /// Server: no valid bind in time.
    #[error("nobody bound in time")]
    SessionInit,
    /// Too many `enquire_link`s went unanswered.
    #[error("the peer does not answer enquire_link")]
    PeerSilent,
    /// Nothing was received for too long.
    #[error("the peer was idle for too long")]
    Inactive,
    /// A PDU was begun and not finished in time.
    #[error("a PDU was not finished in time")]
    PduRead,
    /// The stream lost its framing.
    #[error("command_length {0} is not a PDU's")]
    BadFrame(u32),
    /// Too many requests in a wrong state or direction.
    #[error("too many requests in a wrong state")]
    WrongState,
    /// Too many unknown commands.
    #[error("too many unknown commands")]
    UnknownCommands,
    /// A bind could not be read.
    #[error("{0}")]
    BadBind(DecodeError),
}

/// Why `request` did not send. Nothing was written and no slot is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Every slot waits for an answer.
    #[error("the window is full")]
    WindowFull,
    /// Not bound yet.
    #[error("the session is not bound")]
    NotBound,
    /// Unbinding, by us or by the peer.
    #[error("the session is ending")]
    Draining,
    /// The session has closed.
    #[error("the session is closed")]
    Closed,
    /// This role and bind type do not send this PDU as a request.
    #[error("this bind may not send that request")]
    NotAllowed,
    /// A `data_sm`, or a TLV, to a peer that speaks 3.3: ask `peer_is_3_4` first.
    #[error("the peer speaks 3.3, which has neither data_sm nor TLVs")]
    Needs3_4,
    /// A field does not fit.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Why an answer was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AnswerRefused {
    /// No such request is open: answered already, or the session has closed.
    #[error("no such request is open")]
    NotOpen,
    /// The PDU is not the answer to that request.
    #[error("that is not the answer to this request")]
    Mismatched,
    /// A TLV to a peer that speaks 3.3. The request is still open.
    #[error("the peer speaks 3.3, which has no TLVs")]
    Needs3_4,
    /// A field does not fit. The request is still open.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// What a session has seen and settled by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counters {
    /// Whole PDUs read.
    pub pdus_in: u64,
    /// PDUs written.
    pub pdus_out: u64,
    /// Answers nobody waited for: unknown ones, doubled ones.
    pub unmatched_answers: u64,
    /// Requests that timed out.
    pub timeouts: u64,
    /// Answers that came after their request had timed out.
    pub late_answers: u64,
    /// Requests answered with an error because their body was unreadable.
    pub undecodable: u64,
    /// Requests in a wrong state or direction.
    pub wrong_state: u64,
    /// Commands outside the table.
    pub unknown_commands: u64,
    /// Requests whose sequence number was 0 or above 0x7FFFFFFF.
    pub odd_sequences: u64,
    /// `enquire_link`s of ours that went unanswered.
    pub enquire_misses: u64,
}

//! The events, errors and counters of a session.

use thiserror::Error;

use crate::{BindType, CommandStatus, DecodeError, EncodeError, Frame};

/// An event for the application. The session handles everything else by itself.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionEvent<T> {
    /// Client: the bind was accepted. Requests may be sent from now on.
    Bound {
        /// The bind type.
        kind: BindType,
        /// The `bind_*_resp`.
        frame: Frame,
    },
    /// Client: the bind was rejected (or nacked). `Closed` follows.
    BindRejected(CommandStatus),
    /// Server: the peer requests a bind. Respond with `accept_bind` or `reject_bind`; nothing more is read until then.
    /// The bind timeout continues: after it, `Closed` follows and the response fails. The frame decodes as `Pdu::Bind`.
    BindRequested(Frame),
    /// A request of the peer. Respond with `respond` or `reject` and this frame's header. The frame decodes; a client's
    /// by `decode_from_carrier`.
    Request(Frame),
    /// `alert_notification`, which has no response. The frame decodes.
    Notification(Frame),
    /// The response to one of our requests: the matching `_resp`, or a `generic_nack`. The status is in the frame's
    /// header. The window slot is free.
    Response {
        /// The request's token.
        token: T,
        /// The response.
        frame: Frame,
    },
    /// No response in time: the request is in doubt and its window slot is free. A response may still follow as
    /// `LateResponse` until the session ends.
    TimedOut {
        /// The request's sequence number, which a late response repeats.
        sequence: u32,
        /// The request's token.
        token: T,
    },
    /// The response to a request that timed out, at most once. The session remembers as many timed-out requests as the
    /// window has slots.
    LateResponse {
        /// As in `TimedOut`.
        sequence: u32,
        /// The response: the matching `_resp`, or a `generic_nack`.
        frame: Frame,
    },
    /// The peer unbound. No more requests can be sent; `Closed` follows when outstanding requests are done.
    PeerUnbound,
    /// The tokens of requests without a response when the session ended, oldest first: in doubt. `Closed` follows.
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
    /// We unbound, and the peer responded.
    #[error("we unbound")]
    Unbound,
    /// We unbound, and the peer did not respond in time.
    #[error("we unbound and the peer did not respond")]
    UnbindTimeout,
    /// The peer unbound, and its outstanding requests are done or timed out.
    #[error("the peer unbound")]
    PeerUnbound,
    /// The bind was rejected: by the server, or on a server by the application or for an invalid field.
    #[error("the bind was rejected with {0}")]
    BindRejected(CommandStatus),
    /// Client: no response to the bind.
    #[error("the bind timed out")]
    BindTimeout,
    /// Server: no valid bind in time.
    #[error("no bind was received in time")]
    SessionInit,
    /// Too many `enquire_link` requests had no response.
    #[error("the peer does not respond to enquire_link")]
    PeerSilent,
    /// Nothing was received for too long.
    #[error("the peer was idle for too long")]
    Inactive,
    /// A PDU was not received completely in time.
    #[error("a PDU was not received completely in time")]
    PduRead,
    /// The stream has an invalid command_length.
    #[error("invalid command_length {0}")]
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

/// Why `request` failed. Nothing was written and no window slot is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// All window slots are in use.
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
    /// This role and bind type may not send this request.
    #[error("this bind type does not allow the request")]
    NotAllowed,
    /// A `data_sm` or a TLV on a 3.3 session; see `peer_is_3_4`.
    #[error("the session is SMPP 3.3, which has neither data_sm nor TLVs")]
    Needs3_4,
    /// A field cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// Why a response was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RespondError {
    /// The request is not outstanding: it has a response already, or the session has closed.
    #[error("the request is not outstanding")]
    NotOpen,
    /// The PDU is not the response to that request.
    #[error("the PDU is not the response to this request")]
    Mismatched,
    /// A TLV on a 3.3 session. The request is still outstanding.
    #[error("the session is SMPP 3.3, which has no TLVs")]
    Needs3_4,
    /// A field cannot be encoded. The request is still outstanding.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// The counters of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counters {
    /// PDUs received.
    pub pdus_in: u64,
    /// PDUs sent.
    pub pdus_out: u64,
    /// Responses without a matching request.
    pub unmatched_responses: u64,
    /// Requests that timed out.
    pub timeouts: u64,
    /// Responses to requests that had timed out.
    pub late_responses: u64,
    /// Requests rejected because their body was unreadable.
    pub undecodable: u64,
    /// Requests in a wrong state or direction.
    pub wrong_state: u64,
    /// Unknown commands.
    pub unknown_commands: u64,
    /// Requests whose sequence number was 0 or above 0x7FFFFFFF.
    pub odd_sequences: u64,
    /// Our `enquire_link` requests without a response.
    pub enquire_misses: u64,
}

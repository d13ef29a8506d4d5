//! SMPP 3.4 and 3.3, without sockets and without a clock.
//!
//! **Codec.** [`next_frame`] splits a stream into [`Frame`]s; [`Frame::decode`] reads one into a borrowed [`Pdu`]
//! without allocating; [`encode`] writes one. An unreadable PDU gives a [`DecodeError`] with the status of the response
//! and whether the connection can continue. TLVs stay raw.
//!
//! **Session.** [`Session`] is the protocol in both roles (ESME and SMSC) as a pure state machine: octets and times in;
//! octets, [`SessionEvent`]s and the next deadline out. The driver around it is a short loop.
//!
//! **Content.** [`read_receipt`] and [`receipt_text`] for delivery receipts, [`time`] for SMPP times, [`udh`] for
//! concatenated messages, [`trace`] for troubleshooting.
//!
//! ```
//! use hermod_smpp::session::{BindAcceptance, BindRequest, ClientConfig, ServerConfig};
//! use hermod_smpp::*;
//!
//! let now = Moment(0);
//! let bind = BindRequest::new(BindType::Transceiver, b"hermod", b"secret");
//! let mut client: Session<&str> = Session::client(ClientConfig::standard(), &bind, now)?;
//! let mut server: Session<()> = Session::server(ServerConfig::standard(), now);
//!
//! // The driver carries octets from one output to the other input.
//! server.receive(&client.output().split(), now);
//! let Some(SessionEvent::BindRequested(_)) = server.next_event(now) else { panic!("a bind") };
//! server.accept_bind(&BindAcceptance { system_id: b"carrier", window_max: 10, peer_window_max: 10 }, now)?;
//! client.receive(&server.output().split(), now);
//! let Some(SessionEvent::Bound { .. }) = client.next_event(now) else { panic!("bound") };
//!
//! let submit = SubmitSm {
//!     source: Address::alphanumeric(b"Hermod"),
//!     destination: Address::international(b"491701234567"),
//!     short_message: Hidden(b"hello"),
//!     ..SubmitSm::default()
//! };
//! client.request(&Pdu::SubmitSm(submit), "part 1", now)?;
//! server.receive(&client.output().split(), now);
//! let Some(SessionEvent::Request(frame)) = server.next_event(now) else { panic!("a request") };
//! assert_eq!(frame.decode()?, Pdu::SubmitSm(submit));
//! let accepted = SubmitSmResp { message_id: b"42", ..SubmitSmResp::default() };
//! server.respond(frame.header, &Pdu::SubmitSmResp(accepted), now)?;
//!
//! client.receive(&server.output().split(), now);
//! let Some(SessionEvent::Response { token, frame }) = client.next_event(now) else { panic!("a response") };
//! assert_eq!(token, "part 1");
//! assert_eq!(frame.decode()?, Pdu::SubmitSmResp(accepted));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Tests may panic, so these lints apply to other code only.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

/// Declares the values of a number that the specification names, with all of them in a list. A peer can send any other value, so
/// the type is not an enum.
macro_rules! known_values {
    ($type:ident, $all:literal: $($name:ident = $value:literal, $text:literal;)*) => {
        impl $type {
            $(#[doc = concat!("`", $text, "`")] pub const $name: $type = $type($value);)*

            #[doc = $all]
            pub const ALL: &'static [$type] = &[$($type::$name),*];

            /// Returns the specification's name, if it has one.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($text),)*
                    _ => None,
                }
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

mod address;
mod frame;
mod header;
mod hidden;
mod pdu;
mod reader;
mod receipt;
mod receipt_dialect;
pub mod receipt_text;
pub mod session;
mod status;
pub mod time;
pub mod tlv;
pub mod trace;
mod trace_text;
pub mod udh;
mod writer;

pub use address::Address;
pub use frame::{Frame, FrameError, next_frame};
pub use header::{CommandId, HEADER_BYTES, Header};
pub use hidden::Hidden;
pub use pdu::*;
pub use receipt::{NetworkError, Receipt, ReceiptKind, read_data_sm_receipt, read_receipt};
pub use receipt_dialect::ReceiptDialect;
pub use receipt_text::{ReceiptDate, ReceiptField, ReceiptFields, ReceiptText};
pub use session::{Moment, Session, SessionEvent};
pub use status::{CommandStatus, EncodeError, EncodeErrorKind};
pub use tlv::{Tag, Tlv, TlvBuffer, Tlvs};
pub use trace::TracedPdu;

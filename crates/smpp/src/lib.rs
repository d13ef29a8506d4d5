//! What Hermod speaks: SMPP 3.4 (and 3.3) without sockets and without a clock.
//!
//! **Codec.** [`next_frame`] cuts a stream into [`Frame`]s and keeps each header; [`Frame::decode`] reads
//! one into a borrowed [`Pdu`] without allocating; [`encode`] writes one. An unreadable PDU gives a
//! [`DecodeError`] that says what to answer and whether the link can go on. TLVs stay raw.
//!
//! **Session.** [`Session`] is the protocol in both roles as a pure state machine: octets and moments in,
//! octets, [`Event`]s and the next deadline out. The driver around it is a short loop.
//!
//! **Meaning.** [`read_receipt`] and [`receipt_text`] for delivery receipts, [`time`] for SMPP times,
//! [`udh`] for concatenated messages, [`trace`] for people who want to see what was said.
//!
//! ```
//! use hermod_smpp::session::{Acceptance, BindRequest, ClientConfig, ServerConfig};
//! use hermod_smpp::*;
//!
//! let now = Moment(0);
//! let bind = BindRequest::new(BindType::Transceiver, b"hermod", b"secret");
//! let mut client: Session<&str> = Session::client(ClientConfig::standard(), &bind, now)?;
//! let mut server: Session<()> = Session::server(ServerConfig::standard(), now);
//!
//! // The driver carries octets from one output to the other input.
//! server.receive(&client.output().split(), now);
//! let Some(Event::BindRequested(_)) = server.next_event(now) else { panic!("a bind") };
//! server.accept_bind(&Acceptance { system_id: b"carrier", window_max: 10, inbound_max: 10 }, now)?;
//! client.receive(&server.output().split(), now);
//! let Some(Event::Bound { .. }) = client.next_event(now) else { panic!("bound") };
//!
//! let submit = SubmitSm {
//!     source: Address::alphanumeric(b"Hermod"),
//!     destination: Address::international(b"491701234567"),
//!     short_message: Hidden(b"hello"),
//!     ..SubmitSm::default()
//! };
//! client.request(&Pdu::SubmitSm(submit), "part 1", now)?;
//! server.receive(&client.output().split(), now);
//! let Some(Event::Request(frame)) = server.next_event(now) else { panic!("a request") };
//! assert_eq!(frame.decode()?, Pdu::SubmitSm(submit));
//! let accepted = SubmitSmResp { message_id: b"42", ..SubmitSmResp::default() };
//! server.answer(frame.header, &Pdu::SubmitSmResp(accepted), now)?;
//!
//! client.receive(&server.output().split(), now);
//! let Some(Event::Answered { token, frame }) = client.next_event(now) else { panic!("an answer") };
//! assert_eq!(token, "part 1");
//! assert_eq!(frame.decode()?, Pdu::SubmitSmResp(accepted));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A test that slips should panic, so the rule is for what ships.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod address;
mod command;
mod encode_error;
mod frame;
mod header;
mod hidden;
mod pdu;
mod reader;
mod receipt;
mod receipt_shape;
pub mod receipt_text;
pub mod session;
mod status;
pub mod time;
pub mod tlv;
pub mod trace;
pub mod udh;
mod writer;

pub use address::Address;
pub use command::CommandId;
pub use encode_error::{EncodeError, Unfit};
pub use frame::{Frame, FrameError, next_frame};
pub use header::{HEADER_BYTES, Header};
pub use hidden::Hidden;
pub use pdu::*;
pub use receipt::{NetworkError, Receipt, ReceiptKind, read_data_sm_receipt, read_receipt};
pub use receipt_shape::{PLACES_MAX, ReceiptDialect, ReceiptDialectError, ReceiptShape};
pub use receipt_text::{ReceiptDate, ReceiptField, ReceiptFields, ReceiptText};
pub use session::{Event, Moment, Session};
pub use status::CommandStatus;
pub use tlv::{Tag, Tlv, TlvBuffer, Tlvs};
pub use trace::Traced;

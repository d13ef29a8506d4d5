//! SMPP 3.4 (and 3.3) without sockets and without a clock.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![cfg_attr(
    test,
    expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "a test that slips should panic"
    )
)]

mod address;
mod command;
mod frame;
mod hidden;
mod pdu;
mod reader;
mod receipt;
pub mod receipt_text;
pub mod session;
mod status;
pub mod time;
pub mod tlv;
pub mod udh;
mod writer;

pub use address::Address;
pub use command::CommandId;
pub use frame::{Frame, FrameError, HEADER_BYTES, Header, next_frame};
pub use hidden::Hidden;
pub use pdu::*;
pub use receipt::{NetworkError, Receipt, ReceiptKind, read_receipt};
pub use receipt_text::{ReceiptDate, ReceiptFields, ReceiptText};
pub use session::{Event, Moment, Session};
pub use status::CommandStatus;
pub use tlv::{Tag, Tlv, TlvBuffer, Tlvs};
pub use writer::{EncodeError, Unfit};

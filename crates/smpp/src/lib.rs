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
pub mod session;
mod status;
pub mod tlv;
mod writer;

pub use address::Address;
pub use command::CommandId;
pub use frame::{Frame, FrameError, HEADER_BYTES, Header, next_frame};
pub use hidden::Hidden;
pub use pdu::*;
pub use session::{Event, Moment, Session};
pub use status::CommandStatus;
pub use tlv::{Tag, Tlv, TlvBuffer, Tlvs};
pub use writer::{EncodeError, Unfit};

/// Reading and writing SMPP times (§7.1.1).
pub mod time {}

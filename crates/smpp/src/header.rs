//! The PDU header (SMPP v3.4 §3.2) and its command ids: which PDU it is, whether it is a response, and which response
//! belongs to which request.

use bytes::Buf;
use std::fmt;

use crate::CommandStatus;

/// A `command_id` (SMPP v3.4 §5.1.2.1). A peer can send any value, so this is not an enum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId(pub u32);

known_values! { CommandId, "Every command this crate has a PDU for.":
    GENERIC_NACK = 0x8000_0000, "generic_nack";
    BIND_RECEIVER = 0x0000_0001, "bind_receiver";
    BIND_RECEIVER_RESP = 0x8000_0001, "bind_receiver_resp";
    BIND_TRANSMITTER = 0x0000_0002, "bind_transmitter";
    BIND_TRANSMITTER_RESP = 0x8000_0002, "bind_transmitter_resp";
    QUERY_SM = 0x0000_0003, "query_sm";
    QUERY_SM_RESP = 0x8000_0003, "query_sm_resp";
    SUBMIT_SM = 0x0000_0004, "submit_sm";
    SUBMIT_SM_RESP = 0x8000_0004, "submit_sm_resp";
    DELIVER_SM = 0x0000_0005, "deliver_sm";
    DELIVER_SM_RESP = 0x8000_0005, "deliver_sm_resp";
    UNBIND = 0x0000_0006, "unbind";
    UNBIND_RESP = 0x8000_0006, "unbind_resp";
    REPLACE_SM = 0x0000_0007, "replace_sm";
    REPLACE_SM_RESP = 0x8000_0007, "replace_sm_resp";
    CANCEL_SM = 0x0000_0008, "cancel_sm";
    CANCEL_SM_RESP = 0x8000_0008, "cancel_sm_resp";
    BIND_TRANSCEIVER = 0x0000_0009, "bind_transceiver";
    BIND_TRANSCEIVER_RESP = 0x8000_0009, "bind_transceiver_resp";
    OUTBIND = 0x0000_000B, "outbind";
    ENQUIRE_LINK = 0x0000_0015, "enquire_link";
    ENQUIRE_LINK_RESP = 0x8000_0015, "enquire_link_resp";
    SUBMIT_MULTI = 0x0000_0021, "submit_multi";
    SUBMIT_MULTI_RESP = 0x8000_0021, "submit_multi_resp";
    ALERT_NOTIFICATION = 0x0000_0102, "alert_notification";
    DATA_SM = 0x0000_0103, "data_sm";
    DATA_SM_RESP = 0x8000_0103, "data_sm_resp";
}

/// Bit 31 marks a response.
const RESPONSE_BIT: u32 = 0x8000_0000;

impl CommandId {
    /// Whether this is a response, known or not: bit 31 is set. Responses get no response.
    pub const fn is_response(self) -> bool {
        self.0 & RESPONSE_BIT != 0
    }

    /// Whether the command is in the 3.4 table.
    pub const fn is_known(self) -> bool {
        self.name().is_some()
    }

    /// Returns the response to this request. `outbind` and `alert_notification` have none; unknown requests get
    /// `generic_nack`.
    pub const fn response(self) -> Option<CommandId> {
        match self {
            CommandId::OUTBIND | CommandId::ALERT_NOTIFICATION => None,
            _ if self.is_response() || !self.is_known() => None,
            _ => Some(CommandId(self.0 | RESPONSE_BIT)),
        }
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "command 0x{:08x}", self.0),
        }
    }
}

/// Octets of a PDU header (§3.2).
pub const HEADER_BYTES: usize = 16;

/// The header of a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Octets of the whole PDU, header included.
    pub length: u32,
    /// Which PDU it is.
    pub command: CommandId,
    /// Meaningful in responses; ignored in requests.
    pub status: CommandStatus,
    /// Matches a response to its request. Any value is accepted and echoed.
    pub sequence: u32,
}

impl Header {
    /// Parses a header; `None` if octets are missing.
    pub fn parse(octets: &[u8]) -> Option<Header> {
        let mut header = octets.get(..HEADER_BYTES)?;
        Some(Header {
            length: header.get_u32(),
            command: CommandId(header.get_u32()),
            status: CommandStatus(header.get_u32()),
            sequence: header.get_u32(),
        })
    }
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;

//! The header that every PDU opens with (§3.2).

use bytes::Buf;

use crate::{CommandId, CommandStatus};

/// Octets in a PDU header (§3.2).
pub const HEADER_BYTES: usize = 16;

/// The four header fields every PDU opens with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Octets of the whole PDU, header included.
    pub length: u32,
    /// Which PDU it is.
    pub command: CommandId,
    /// Meaningful in answers; ignored in requests.
    pub status: CommandStatus,
    /// Matches an answer to its request. Any value is taken and echoed.
    pub sequence: u32,
}

impl Header {
    /// Reads a header when all of its octets are there.
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

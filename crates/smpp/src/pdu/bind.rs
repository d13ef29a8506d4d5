//! The three bind requests (§4.1), which have the same fields, their responses, and `outbind`.

use crate::{CommandId, CommandStatus, Hidden, Tag, Tlvs};

/// The type of a bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindType {
    /// Sends only.
    Transmitter,
    /// Receives only.
    Receiver,
    /// Both.
    Transceiver,
}

impl BindType {
    pub const fn as_str(self) -> &'static str {
        match self {
            BindType::Transmitter => "transmitter",
            BindType::Receiver => "receiver",
            BindType::Transceiver => "transceiver",
        }
    }

    /// Returns the bind request.
    pub const fn request(self) -> CommandId {
        match self {
            BindType::Transmitter => CommandId::BIND_TRANSMITTER,
            BindType::Receiver => CommandId::BIND_RECEIVER,
            BindType::Transceiver => CommandId::BIND_TRANSCEIVER,
        }
    }

    /// Returns the bind response.
    pub const fn response(self) -> CommandId {
        match self {
            BindType::Transmitter => CommandId::BIND_TRANSMITTER_RESP,
            BindType::Receiver => CommandId::BIND_RECEIVER_RESP,
            BindType::Transceiver => CommandId::BIND_TRANSCEIVER_RESP,
        }
    }

    /// Whether the ESME may submit.
    pub const fn may_transmit(self) -> bool {
        matches!(self, BindType::Transmitter | BindType::Transceiver)
    }

    /// Whether the ESME receives deliveries.
    pub const fn may_receive(self) -> bool {
        matches!(self, BindType::Receiver | BindType::Transceiver)
    }
}

/// `interface_version` of SMPP 3.4.
pub const VERSION_3_4: u8 = 0x34;
/// `interface_version` of SMPP 3.3; all values below 0x34 mean 3.3.
pub const VERSION_3_3: u8 = 0x33;

fields! {
    /// The body of `bind_transmitter`, `bind_receiver` and `bind_transceiver`.
    Bind<'a> {
        /// The ESME's id, up to 15 octets.
        system_id: &'a [u8] = text(16, CommandStatus::INVSYSID),
        /// Up to 8 octets; never printed.
        password: Hidden<'a> = secret(9, CommandStatus::INVPASWD) [never],
        /// Up to 12 octets, often empty.
        system_type: &'a [u8] = text(13, CommandStatus::INVSYSTYP) [if_set],
        /// 0x34 for 3.4; lower values mean 3.3.
        interface_version: u8 = octet(),
        /// TON of the ESME's addresses.
        addr_ton: u8 = octet() [if_set],
        /// NPI of the ESME's addresses.
        addr_npi: u8 = octet() [if_set],
        /// The ESME's addresses, up to 40 octets; not used for routing.
        address_range: &'a [u8] = text(41, CommandStatus::BINDFAIL) [if_set],
    }
}

impl Bind<'_> {
    /// Whether the peer uses 3.4 or later, so that TLVs may be sent (§3.4).
    pub const fn is_3_4(&self) -> bool {
        self.interface_version >= VERSION_3_4
    }
}

fields! {
    /// The response to any bind.
    BindResp<'a> {
        /// The SMSC's id.
        system_id: &'a [u8] = lenient_text(16, CommandStatus::INVSYSID),
        /// `sc_interface_version` from a 3.4 server.
        tlvs: Tlvs<'a> = lenient_tlvs() [if_set],
    }
}

impl BindResp<'_> {
    /// Returns the server's version. Without it the specification assumes 3.3 (§5.3.2.25); see
    /// [`crate::Session::peer_is_3_4`] for what a session assumes.
    pub fn sc_interface_version(&self) -> Option<u8> {
        self.tlvs.get_u8(Tag::SC_INTERFACE_VERSION)
    }
}

fields! {
    /// An SMSC's request that an ESME bind (§4.1.7). It has no response.
    Outbind<'a> {
        /// The SMSC's id.
        system_id: &'a [u8] = text(16, CommandStatus::INVSYSID),
        /// Up to 8 octets; never printed.
        password: Hidden<'a> = secret(9, CommandStatus::INVPASWD) [never],
    }
}

//! Binding: the three bind requests (one shape, §4.1), their answers, and `outbind`.

use super::fields::fields;
use crate::{CommandId, CommandStatus, Hidden, Tag, Tlvs};

/// What a bound session may do.
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
    /// The request that asks for it.
    pub const fn request(self) -> CommandId {
        match self {
            BindType::Transmitter => CommandId::BIND_TRANSMITTER,
            BindType::Receiver => CommandId::BIND_RECEIVER,
            BindType::Transceiver => CommandId::BIND_TRANSCEIVER,
        }
    }

    /// The answer to that request.
    pub const fn answer(self) -> CommandId {
        match self {
            BindType::Transmitter => CommandId::BIND_TRANSMITTER_RESP,
            BindType::Receiver => CommandId::BIND_RECEIVER_RESP,
            BindType::Transceiver => CommandId::BIND_TRANSCEIVER_RESP,
        }
    }

    /// The ESME may submit on it.
    pub const fn may_transmit(self) -> bool {
        matches!(self, BindType::Transmitter | BindType::Transceiver)
    }

    /// The ESME is delivered to on it.
    pub const fn may_receive(self) -> bool {
        matches!(self, BindType::Receiver | BindType::Transceiver)
    }
}

/// `interface_version` of SMPP 3.4.
pub const VERSION_3_4: u8 = 0x34;
/// `interface_version` of SMPP 3.3; everything below 0x34 means this.
pub const VERSION_3_3: u8 = 0x33;

fields! {
    /// The body of `bind_transmitter`, `bind_receiver` and `bind_transceiver`.
    Bind<'a> {
        /// Who binds: up to 15 octets.
        system_id: &'a [u8] = text(16, CommandStatus::INVSYSID),
        /// Up to 8 octets; never printed.
        password: Hidden<'a> = secret(9, CommandStatus::INVPASWD),
        /// Up to 12 octets, often blank.
        system_type: &'a [u8] = text(13, CommandStatus::INVSYSTYP),
        /// 0x34 for 3.4; anything below means 3.3.
        interface_version: u8 = octet(),
        /// Type of number of the addresses served.
        addr_ton: u8 = octet(),
        /// Numbering plan of the addresses served.
        addr_npi: u8 = octet(),
        /// Which addresses are served: up to 40 octets, kept but not routed on.
        address_range: &'a [u8] = text(41, CommandStatus::BINDFAIL),
    }
}

impl Bind<'_> {
    /// The peer speaks 3.4 or later, so it may be sent TLVs (§3.4).
    pub const fn is_3_4(&self) -> bool {
        self.interface_version >= VERSION_3_4
    }
}

fields! {
    /// The answer to any bind.
    BindResp<'a> {
        /// Who answers.
        system_id: &'a [u8] = lenient_text(16, CommandStatus::INVSYSID),
        /// `sc_interface_version` from a 3.4 server.
        tlvs: Tlvs<'a> = lenient_tlvs(),
    }
}

impl BindResp<'_> {
    /// The version the server says it speaks. Without it the specification assumes 3.3 (§5.3.2.25); what a
    /// session assumes stands at [`crate::Session::peer_is_3_4`].
    pub fn sc_interface_version(&self) -> Option<u8> {
        self.tlvs.get_u8(Tag::SC_INTERFACE_VERSION)
    }
}

fields! {
    /// A message centre asking an ESME to bind (§4.1.7). It has no answer.
    Outbind<'a> {
        /// Who asks.
        system_id: &'a [u8] = text(16, CommandStatus::INVSYSID),
        /// Up to 8 octets; never printed.
        password: Hidden<'a> = secret(9, CommandStatus::INVPASWD),
    }
}

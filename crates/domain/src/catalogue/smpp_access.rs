//! The SMPP settings of a connection: credentials and limits of binds, and how its submits are interpreted.

use crate::catalogue::PreviousSecret;
use crate::catalogue::rotation::valid_secrets;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// SMPP v3.4 section 5.2.1: 16 octets including the null.
pub const SYSTEM_ID_CHARS_MAX: usize = 15;
/// The length of generated passwords: the maximum of SMPP v3.4 section 5.2.2, because shorter ones could be guessed.
pub const SMPP_PASSWORD_CHARS: usize = 8;
/// The default window: outstanding requests per bind.
pub const WINDOW_DEFAULT: u16 = 10;
pub const WINDOW_MAX: u16 = 100;
/// The default maximum of concurrent binds per connection.
pub const BINDS_DEFAULT: u32 = 10;

/// The SMPP access of a connection.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmppAccess {
    /// 1 to 15 characters, unique among all connections.
    pub system_id: String,
    /// The Argon2id hash in PHC format. The password itself is not stored.
    pub password_hash: String,
    /// The system_type that a bind must give. `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_type: Option<String>,
    pub bind_types: BindTypes,
    pub max_binds: u32,
    pub window: u16,
    /// Binds without TLS are rejected.
    pub tls_only: bool,
    /// The alphabet of `data_coding` 0.
    pub alphabet: CodingZero,
    /// A text of data_coding 0 that is not GSM-7 is read as Latin-1 instead of being refused.
    pub latin1_fallback: bool,
    /// Unusual TON, NPI and registered_delivery values are refused instead of being corrected.
    pub strict: bool,
    /// Refusals have vendor statuses (0x0400 to 0x0407), on 3.4 binds.
    pub extended_codes: bool,
    /// Receipts repeat the first 20 characters of the text.
    pub receipt_text: bool,
    /// Vendor TLVs (0x1400 to 0x3FFF) are passed on, if the carrier's profile also passes them.
    pub pass_tlvs: bool,
    /// Silent messages, replace messages and messages to the SIM (protocol_id 0x40 to 0x47 and 0x7F, message class 2,
    /// `dest_addr_subunit` 3, user data header elements 0x70 to 0x7F) are accepted.
    pub special_protocol_ids: bool,
    /// Messages to applications on the handset, such as WAP push (user data header elements 0x04, 0x05 and 0x09, `source_port`,
    /// `destination_port`, `payload_type` 1) are accepted.
    pub application_ports: bool,
    /// Message waiting indications (`data_coding` 0xC0 to 0xDF) are accepted.
    pub message_waiting: bool,
    /// How MO messages are delivered.
    pub inbound: InboundForm,
    /// The password before the last rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PreviousSecret>,
}

/// The bind types that a connection allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindTypes {
    pub transmitter: bool,
    pub receiver: bool,
    pub transceiver: bool,
}

impl Default for BindTypes {
    fn default() -> BindTypes {
        BindTypes { transmitter: true, receiver: true, transceiver: true }
    }
}

/// How MO messages are delivered to a connection's binds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InboundForm {
    /// Long messages in parts, each with a user data header.
    #[default]
    Parts,
    /// Long messages as a whole in `message_payload`.
    Payload,
    /// Not at all.
    None,
}

/// The alphabet of `data_coding` 0 on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodingZero {
    #[default]
    Gsm,
    Ascii,
    Latin1,
    Utf8,
}

impl SmppAccess {
    /// Makes an access with default settings.
    pub fn new(system_id: &str, password_hash: &str) -> SmppAccess {
        SmppAccess {
            system_id: system_id.to_owned(),
            password_hash: password_hash.to_owned(),
            system_type: None,
            bind_types: BindTypes::default(),
            max_binds: BINDS_DEFAULT,
            window: WINDOW_DEFAULT,
            tls_only: false,
            alphabet: CodingZero::default(),
            latin1_fallback: false,
            strict: false,
            extended_codes: false,
            receipt_text: false,
            pass_tlvs: false,
            special_protocol_ids: false,
            application_ports: false,
            message_waiting: false,
            inbound: InboundForm::default(),
            previous: None,
        }
    }

    /// Returns the hashes of its passwords: the current one, and during a rotation the one before it.
    pub fn password_hashes_at(&self, now: Timestamp) -> impl Iterator<Item = &str> {
        valid_secrets(&self.password_hash, self.previous.as_ref(), now)
    }
}

/// Prints no hash: eight characters can be guessed from it.
impl fmt::Debug for SmppAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SmppAccess { system_id, bind_types, max_binds, window, tls_only, .. } = self;
        f.debug_struct("SmppAccess")
            .field("system_id", system_id)
            .field("bind_types", bind_types)
            .field("max_binds", max_binds)
            .field("window", window)
            .field("tls_only", tls_only)
            .finish_non_exhaustive()
    }
}

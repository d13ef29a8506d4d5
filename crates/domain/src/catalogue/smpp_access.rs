//! The SMPP half of a connection: how its customer binds, and how what it submits is read.

use serde::{Deserialize, Serialize};
use std::fmt;

/// SMPP v3.4 section 5.2.1: 15 characters and a null.
pub const SYSTEM_ID_CHARS_MAX: usize = 15;
/// SMPP v3.4 section 5.2.2 has room for no more, and fewer could be guessed.
pub const SMPP_PASSWORD_CHARS: usize = 8;
/// Requests that may be unanswered at once, unless the connection has more.
pub const WINDOW_DEFAULT: u16 = 10;
pub const WINDOW_MAX: u16 = 100;
/// Binds of one connection at a time, unless it has more.
pub const BINDS_DEFAULT: u32 = 10;

/// How a customer binds to a connection.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmppAccess {
    /// Of 1 to 15 characters, and no other connection's.
    pub system_id: String,
    /// Argon2id, in the usual text form. The password itself is nowhere.
    pub password_hash: String,
    /// A value that a bind must give, instead of `SMS` or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_type: Option<String>,
    #[serde(default)]
    pub bind_types: BindTypes,
    #[serde(default = "binds_default")]
    pub max_binds: u32,
    #[serde(default = "window_default")]
    pub window: u16,
    /// Plain connections are refused.
    #[serde(default)]
    pub tls_only: bool,
    /// What `data_coding` 0 means.
    #[serde(default)]
    pub alphabet: CodingZero,
    /// Octets beyond GSM-7 in such a text make all of it Latin-1, instead of being refused.
    #[serde(default)]
    pub latin1_fallback: bool,
    /// Odd types of numbers, numbering plans and receipt flags are refused, instead of being read sensibly.
    #[serde(default)]
    pub strict: bool,
    /// Refusals are told with vendor codes (0x0400 to 0x0407), on 3.4 binds.
    #[serde(default)]
    pub extended_codes: bool,
    /// Receipts repeat the first 20 characters of the text.
    #[serde(default)]
    pub receipt_text: bool,
    /// Vendor parameters (0x1400 to 0x3FFF) are passed on, where the carrier's profile does so too.
    #[serde(default)]
    pub pass_tlvs: bool,
    /// Silent messages, replacing ones and messages to the SIM (protocol_id 0x40 to 0x47 and 0x7F, message class 2,
    /// `dest_addr_subunit` 3, user data header elements 0x70 to 0x7F) are accepted.
    #[serde(default)]
    pub special_protocol_ids: bool,
    /// Message waiting indications (`data_coding` 0xC0 to 0xDF) are accepted.
    #[serde(default)]
    pub message_waiting: bool,
    /// How messages from handsets reach its receivers.
    #[serde(default)]
    pub inbound: InboundForm,
}

/// Which binds a connection may make.
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

/// How messages from handsets are brought to a connection's receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InboundForm {
    /// Long ones in parts, each with a user data header.
    #[default]
    Parts,
    /// Long ones whole, in `message_payload`.
    Payload,
    /// Not at all.
    None,
}

/// What `data_coding` 0 means on a connection.
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
    /// With everything as it usually is.
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
            message_waiting: false,
            inbound: InboundForm::default(),
        }
    }
}

/// Without the hash: eight characters can be guessed from it.
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

const fn binds_default() -> u32 {
    BINDS_DEFAULT
}

const fn window_default() -> u16 {
    WINDOW_DEFAULT
}

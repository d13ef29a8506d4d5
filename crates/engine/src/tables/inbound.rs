//! The tables of MO messages: those of accounts with the last number that each was given, and those whose number no account owns.

use crate::tables::TableError;
use crate::tables::columns::{End, one_column};
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::inbound::MoEncoding;
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The last number that an account's MO messages were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundCounter {
    pub account: AccountId,
    pub last: u64,
    /// The highest id of the account's MO messages, deleted ones included.
    pub newest: MessageId,
}

/// An MO message as its account's table has it.
#[derive(Clone, Serialize, Deserialize)]
pub struct InboundRow {
    pub account: AccountId,
    /// Its number among the account's messages.
    pub id: u64,
    pub message: MessageId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
    /// `None` if no carrier delivered it.
    pub wire: Option<Wire>,
    /// The number of parts that were never received.
    pub missing: u8,
}

/// How an MO message came, without its text: enough to deliver it over SMPP in its own alphabet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    pub source: SmppAddress,
    pub destination: SmppAddress,
    pub form: MoEncoding,
    #[serde(with = "hermod_domain::octets")]
    pub header: Box<[u8]>,
}

impl Wire {
    /// Reads the stored form; none if it is not valid.
    pub fn from_stored(octets: &[u8]) -> Option<Wire> {
        postcard::from_bytes(octets).ok()
    }

    fn to_stored(&self) -> Vec<u8> {
        let mut octets = Vec::new();
        postcard::serialize_with_flavor(self, End(&mut octets)).expect("numbers and octets can be encoded");
        octets
    }
}

one_column! {
    Wire: Octets, |wire| wire.to_stored().into(), |octets| Wire::from_stored(&octets);
}

stored_table! {
    inbound: InboundRow {
        account, id, message, from => source, to => dest, text as MessageText, received_at, wire, missing,
    },
    key (account: AccountId, id: u64)
}
stored_table! { inbound_counter: InboundCounter { account, last, newest => message }, key (account: AccountId) }

/// Reads MO messages of accounts.
pub trait InboundRows {
    /// Returns the counter of an account, or `None` before its first MO message.
    fn inbound_counter(&self, account: AccountId) -> Result<Option<InboundCounter>, TableError>;
}

/// An unassigned MO message.
#[derive(Clone, Serialize, Deserialize)]
pub struct UnassignedRow {
    pub message: MessageId,
    pub carrier: CarrierId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub wire: Wire,
    /// The number of parts that were never received.
    pub missing: u8,
    pub received_at: Timestamp,
}

stored_table! {
    unassigned_inbound: UnassignedRow {
        message, carrier, from => source, to => dest, text as MessageText, wire, missing, received_at,
    },
    key (message: MessageId)
}

/// Reads MO messages to numbers that belong to no account.
pub trait UnassignedInboundRows {
    /// Returns a message, if it is there.
    fn unassigned(&self, message: MessageId) -> Result<Option<UnassignedRow>, TableError>;

    /// Returns the ids of the oldest messages with ids below one, at most `limit`.
    fn unassigned_below(&self, message: MessageId, limit: usize) -> Result<Vec<MessageId>, TableError>;
}

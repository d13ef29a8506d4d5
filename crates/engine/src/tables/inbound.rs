//! The table of MO messages of accounts.

use crate::tables::TableError;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::inbound::MoEncoding;
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The last number that an account's MO messages were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundCounter {
    pub last: u64,
    /// The highest id of the account's MO messages, deleted ones included.
    pub newest: MessageId,
}

/// An MO message as its account's table has it, but for its number there.
#[derive(Clone, Serialize, Deserialize)]
pub struct InboundRow {
    pub account: AccountId,
    pub message: MessageId,
    pub from: String,
    pub to: String,
    pub text: String,
    /// `None` if no carrier delivered it.
    pub wire: Option<Wire>,
    /// The number of parts that were never received.
    pub missing: u8,
    pub received_at: Timestamp,
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

/// A change of the tables.
#[derive(Clone, Serialize, Deserialize)]
pub enum InboundChange {
    Counter {
        account: AccountId,
        counter: InboundCounter,
    },
    /// A new MO message under its number.
    Add {
        id: u64,
        row: Box<InboundRow>,
    },
}

/// Reads and writes MO messages of accounts.
pub trait InboundRows {
    /// Applies a change.
    fn change_inbound(&self, change: &InboundChange) -> Result<(), TableError>;

    /// Returns the counter of an account, or `None` before its first MO message.
    fn inbound_counter(&self, account: AccountId) -> Result<Option<InboundCounter>, TableError>;
}

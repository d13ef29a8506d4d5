//! The table of MT messages: one row each, from acceptance to the end of its retention.

use crate::ops::CustomerTlvs;
use crate::tables::TableError;
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::origin::{Alias, Origin};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText, SmsOptions};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The row of a message that was accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MessageRow {
    pub id: MessageId,
    pub account: AccountId,
    pub connection: ConnectionId,
    pub carrier: CarrierId,
    pub from: Sender,
    pub to: Msisdn,
    pub text: MessageText,
    pub encoding: Encoding,
    pub parts: u8,
    /// Its carrier takes it whole.
    pub whole: bool,
    pub tlvs: Option<CustomerTlvs>,
    #[serde(with = "crate::shared::option")]
    pub options: Option<Arc<SmsOptions>>,
    /// How it was submitted over SMPP; none if it came over HTTP.
    #[serde(with = "crate::shared::option")]
    pub origin: Option<Arc<Origin>>,
    /// Its short id, if its bind needs one.
    pub alias: Option<Alias>,
    /// The concatenation reference of its parts.
    pub reference: u8,
    pub cost: Money,
    /// What its carrier is believed to ask; none if that is not known.
    pub carrier_cost: Option<BelievedCost>,
    pub expires_at: Timestamp,
    pub status: MessageStatus,
}

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum MessageChange {
    Add(Box<MessageRow>),
    Status {
        message: MessageId,
        status: MessageStatus,
    },
    /// How a message ended, when, and what its carrier can bill.
    End {
        message: MessageId,
        status: MessageStatus,
        settled_at: Timestamp,
        billable: Billable,
    },
    /// The carrier of a message, whether that carrier takes it whole, and what it is believed to ask.
    Carrier {
        message: MessageId,
        carrier: CarrierId,
        whole: bool,
        cost: Option<BelievedCost>,
    },
    Expiry {
        message: MessageId,
        expires_at: Timestamp,
    },
}

/// The status of a message, as its customer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageStatus {
    pub state: MessageState,
    pub code: DlrCode,
    /// The carrier's error; 0 for none.
    pub err: u16,
}

/// Who sends a message, to whom, and which carrier has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageParties {
    pub carrier: CarrierId,
    pub from: Sender,
    pub to: Msisdn,
}

/// Where a message came from.
#[derive(Clone, Debug)]
pub struct MessageOrigin {
    pub connection: ConnectionId,
    pub parts: u8,
    /// How it was submitted over SMPP, with its alias; none if it came over HTTP.
    pub origin: Option<(Origin, Option<Alias>)>,
}

/// Reads and writes MT messages: one row each, from acceptance to the end of its retention.
pub trait MessageRows {
    /// Returns the highest id that any message has or had, MT or MO.
    fn highest_id(&self) -> Result<Option<MessageId>, TableError>;

    /// Returns the highest id of the messages that are kept.
    fn newest_message(&self) -> Result<Option<MessageId>, TableError>;

    /// Applies a change.
    fn change_message(&self, change: &MessageChange) -> Result<(), TableError>;

    /// Returns the state in a message's row.
    fn message_state(&self, message: MessageId) -> Result<MessageState, TableError>;

    /// Returns what a message cost.
    fn message_cost(&self, message: MessageId) -> Result<Money, TableError>;

    /// Returns what the carrier of a message is believed to ask.
    fn message_carrier_cost(&self, message: MessageId) -> Result<Option<BelievedCost>, TableError>;

    /// Returns the number of parts that a message's text has.
    fn message_parts(&self, message: MessageId) -> Result<u8, TableError>;

    /// Returns who sends a message of this account, to whom, and its carrier.
    fn message_parties(
        &self,
        account: AccountId,
        message: MessageId,
    ) -> Result<Option<MessageParties>, TableError>;

    /// Returns the carrier of a message that has not ended.
    fn open_message_carrier(&self, message: MessageId) -> Result<Option<CarrierId>, TableError>;

    /// Returns where a message came from; None if it has no row.
    fn message_origin(&self, message: MessageId) -> Result<Option<MessageOrigin>, TableError>;

    /// Returns whether this account has a message of this id.
    fn has_message(&self, account: AccountId, message: MessageId) -> Result<bool, TableError>;

    /// Returns when a message ended, if it is kept and has ended.
    fn message_settled_at(&self, message: MessageId) -> Result<Option<Timestamp>, TableError>;
}

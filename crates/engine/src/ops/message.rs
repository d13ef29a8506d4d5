//! A message: everything that accepting it writes, how that ended, and its status record.

use crate::ops::{CustomerTlvs, DailyLimit, DailyLimits, DayTotals};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState};
use hermod_domain::money::Money;
use hermod_domain::origin::{Alias, Origin};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText, Shape};
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// A customer's idempotency key, as the store keeps it: a digest scoped to the account, and a fingerprint of the
/// request so that a reuse with another body can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyClaim {
    pub digest: [u8; 16],
    pub fingerprint: u64,
}

/// Everything one accepted submission writes, all of it or none: the message, its parts, its charge and its key.
#[derive(Clone, Debug)]
pub struct Acceptance {
    pub account: AccountId,
    pub connection: ConnectionId,
    pub carrier: CarrierId,
    pub to: Msisdn,
    pub from: Sender,
    pub text: MessageText,
    pub encoding: Encoding,
    pub parts: u8,
    /// Its carrier takes long messages whole and splits them itself: one `submit_sm` instead of one per part.
    pub whole: bool,
    /// Optional parameters that the customer gave, to be passed on to the carrier as they are.
    pub tlvs: Option<CustomerTlvs>,
    /// How it differs from a plain text.
    pub shape: Option<Arc<Shape>>,
    /// What its customer wants to hear, if it came over SMPP.
    pub origin: Option<Arc<Origin>>,
    /// The number that the recipient's reply goes to, if only this message tells which account owns the reply. None for
    /// alphanumeric senders, which cannot be replied to, and for numbers that belong to one account.
    pub reply_to: Option<Sender>,
    pub cost: Money,
    /// The account may not be charged below `minimum - credit_limit`.
    pub credit_limit: Money,
    pub minimum: Money,
    /// Refused beyond these. Only the limits that are enforced, not those that only watch.
    pub daily: DailyLimits,
    pub key: Option<KeyClaim>,
    /// What the route says about parts whose answer never comes.
    pub doubt: DoubtPolicy,
    pub validity: Duration,
    pub now: Timestamp,
}

/// How a submission ended. Anything but `Accepted` wrote nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    Accepted {
        message: MessageId,
        /// Its name where ids must be short.
        alias: Option<Alias>,
        /// Right after this message's own charge.
        balance: Money,
        /// With this message.
        today: DayTotals,
    },
    Duplicate(Duplicate),
    /// The recipient has opted out of this account's messages.
    OptedOut,
    OverDailyLimit(DailyLimit),
    /// Every short id of the account is in use.
    NoAliasFree,
    InsufficientCredit {
        /// Without the minimum that must stay.
        available: Money,
    },
}

/// The key was used before: this is what it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    pub message: MessageId,
    pub is_same_request: bool,
}

/// A message as its status record shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageRecord {
    pub id: MessageId,
    pub account: AccountId,
    pub carrier: CarrierId,
    pub from: Sender,
    pub to: Msisdn,
    pub state: MessageState,
    pub dlr: DlrCode,
    pub err: u16,
    pub parts: u8,
    pub cost: Money,
    pub settled_at: Option<Timestamp>,
}

//! A message: everything that accepting it writes, the outcomes of accepting and cancelling it, and its status record.

use crate::ops::{CustomerTlvs, DailyLimit, DailyLimits, DayTotals};
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, RouteId};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState};
use hermod_domain::money::Money;
use hermod_domain::origin::{Alias, Origin};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::route::{CarrierChoice, ComparedCarrier};
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText, SmsOptions};
use hermod_domain::time::Timestamp;
use hermod_domain::traffic::{OverVelocity, VelocityLimit, WatchedVelocity};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// A customer's idempotency key as it is stored: a digest scoped to the account, and a fingerprint of the request,
/// which tells a reuse with another body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyClaim {
    pub digest: [u8; 16],
    pub fingerprint: u64,
}

/// Everything that one accepted submit writes: the message, its parts, its charge and its key. All of it is written, or
/// nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Optional parameters of the customer, passed on to the carrier unchanged.
    pub tlvs: Option<CustomerTlvs>,
    /// How it differs from a plain text.
    pub options: Option<Arc<SmsOptions>>,
    /// How it was submitted over SMPP, with the DLRs that its customer requests; none if it came over HTTP.
    pub origin: Option<Arc<Origin>>,
    /// The number or name that the recipient can reply to, if only this message tells which account owns the reply. None for
    /// numbers that belong to one account.
    pub reply_to: Option<Sender>,
    pub cost: Money,
    /// What its carrier is believed to ask; none if that is not known.
    pub carrier_cost: Option<BelievedCost>,
    /// The account may not be charged below `minimum - credit_limit`.
    pub credit_limit: Money,
    pub minimum: Money,
    /// The daily limits that are enforced.
    pub daily: DailyLimits,
    /// The limits of recent traffic that it counts towards.
    pub velocity: Vec<VelocityLimit>,
    pub key: Option<KeyClaim>,
    /// The route's policy for parts without a response.
    pub doubt: DoubtPolicy,
    /// What is recorded of the submission besides. No decision reads it.
    pub note: SubmitNote,
    pub validity: Duration,
    pub now: Timestamp,
}

/// Facts about a submission that only the record needs: no decision reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitNote {
    /// The id of the HTTP request; none over SMPP.
    pub request: Option<Box<str>>,
    pub route: Option<RouteId>,
    /// Why the route chose its carrier.
    pub choice: CarrierChoice,
    /// The carriers of the route as they were compared; none if it looks at no costs.
    pub compared: Option<Box<[ComparedCarrier]>>,
    /// The parts that the customer is charged for, if they differ from those that are sent.
    pub charged_parts: Option<u8>,
}

/// The result of a submit. Everything but `Accepted` wrote nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AcceptOutcome {
    Accepted {
        message: MessageId,
        /// Its short id, if its bind needs one.
        alias: Option<Alias>,
        /// The balance after this message's charge.
        balance: Money,
        /// The day's totals with this message.
        today: DayTotals,
        /// The controls that only watch and would have refused it.
        watched: WatchedVelocity,
    },
    Duplicate(Duplicate),
    /// The recipient has opted out of this account's messages.
    OptedOut,
    OverVelocity(OverVelocity),
    OverDailyLimit(DailyLimit),
    /// Every alias of the account is in use.
    NoAliasFree,
    InsufficientCredit {
        /// What the account may spend, without the minimum that must remain.
        available: Money,
    },
}

/// The message that used the same idempotency key before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicate {
    pub message: MessageId,
    pub is_same_request: bool,
}

/// The sender and recipient that a message must have for a `cancel_sm` to apply. A party that is not given is not
/// compared (SMPP 3.4, section 4.9.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedParties {
    pub from: Option<Sender>,
    pub to: Option<Msisdn>,
}

impl ExpectedParties {
    /// Whether a message has these parties.
    pub fn include(&self, from: &Sender, to: Msisdn) -> bool {
        self.from.is_none_or(|expected| expected == *from) && self.to.is_none_or(|expected| expected == to)
    }
}

/// The result of cancelling a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CancelOutcome {
    /// It was still waiting. It is `rejected` now, and its cost is refunded.
    Cancelled,
    /// A carrier has it or may have it, or it has ended.
    TooLate,
    /// The account has no such message with these parties.
    NotFound,
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

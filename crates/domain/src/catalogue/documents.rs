//! The stored documents that make up the catalogue. A new field has a default under which documents stored before keep
//! their meaning.

use crate::block::{BlockDirection, BlockedNumbers};
use crate::carrier::{Draining, Profile};
use crate::catalogue::{Account, AllowList, ApiKey, OperatorEntry, SmppAccess, User};
use crate::cost::{CostBasis, SenderClass};
use crate::exchange::ExchangeRate;
use crate::ids::{AccountId, CarrierId, ConnectionId, CostId, PriceListId, RouteId};
use crate::lifecycle::DoubtPolicy;
use crate::money::{Currency, Money};
use crate::numbers::{Country, Mcc, Network};
use crate::prefix::Prefix;
use crate::rate_profile::RateProfile;
use crate::route::CostRules;
use crate::screen::ScreenedField;
use crate::sender::Sender;
use crate::time::Timestamp;
use crate::traffic::{Mode, TrafficRule};
use crate::webhook::DlrForm;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One access of an account, by HTTP or SMPP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    pub account: AccountId,
    /// The sender for requests without one.
    pub default_sender: Option<Sender>,
    pub requests_per_second: u32,
    /// Messages of more parts are refused.
    pub max_parts: Option<u8>,
    pub allow: AllowList,
    /// Replace typographic characters where that makes a text GSM-7.
    pub smart_encoding: bool,
    pub closed: bool,
    /// `None`: no SMPP access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smpp: Option<SmppAccess>,
    /// The payload format of its DLR webhooks.
    pub dlr_form: DlrForm,
    /// Messages submitted over SMPP are also reported by webhook.
    pub webhooks_too: bool,
}

/// The price of one part, for all accounts, for one or for those of a price list. Exactly one of prefix, network, MCC and country is
/// set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub account: Option<AccountId>,
    /// Not together with an account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_list: Option<PriceListId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcc: Option<Mcc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// `None`: nothing may be sent there.
    pub per_part: Option<Money>,
    /// When the price becomes valid; `None`: always valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// It applies before this time; `None`: without an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// What a carrier asks for one part. Exactly one of prefix, network, MCC and country is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    pub carrier: CarrierId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcc: Option<Mcc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    /// `None`: for any sender ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_kind: Option<SenderClass>,
    /// `None`: the carrier does not deliver there.
    pub per_part: Option<Money>,
    pub currency: Currency,
    pub basis: CostBasis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// A price list, which has prices in one currency and is named by accounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceListEntry {
    pub currency: Currency,
}

/// What one unit of a currency is worth in another from a time on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeRateEntry {
    pub base: Currency,
    pub quote: Currency,
    pub rate: ExchangeRate,
    /// `None`: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
}

/// A route: the carriers for a destination, for all accounts and senders or for one. Exactly one of prefix, network,
/// MCC and country is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcc: Option<Mcc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    pub carriers: Vec<RouteCarrier>,
    /// `None`: the carrier's profile decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<DoubtPolicy>,
    /// A message that one carrier rejects fails over to the next.
    pub fail_over_refusals: bool,
    /// How long a carrier may be unable to send before what waits for it moves. `None`: the gateway decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_over_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "CostRules::is_default")]
    pub costs: CostRules,
}

/// A carrier of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteCarrier {
    pub carrier: CarrierId,
    /// The lowest is tried first.
    pub priority: u8,
    /// The share among carriers of the same priority.
    pub weight: u16,
}

/// A carrier: the address, credentials and settings of an upstream SMSC.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carrier {
    /// `host:port`.
    pub address: String,
    pub system_id: String,
    /// Sealed with the key of the data folder.
    pub password: String,
    pub system_type: String,
    /// The maximum number of outstanding submits per link.
    pub window: u16,
    /// The maximum rate in parts per second, over all links.
    pub parts_per_second: u32,
    pub response_timeout_ms: u64,
    pub enquire_link_ms: u64,
    /// No link is bound; messages routed to it stay queued.
    pub disabled: bool,
    /// Its links stay bound for receipts, and nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draining: Option<Draining>,
    /// `None`: plain TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<CarrierTls>,
    pub profile: Profile,
}

/// How a carrier's TLS certificate is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CarrierTls {
    /// The name in the certificate, if it is not the host of the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A PEM file with trusted CA certificates. `None`: those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// The SHA-256 of the only accepted certificate, in hexadecimal. Name and CA are not checked then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// Prints no password.
impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Carrier { address, system_id, window, parts_per_second, disabled, tls, profile, .. } = self;
        f.debug_struct("Carrier")
            .field("address", address)
            .field("system_id", system_id)
            .field("window", window)
            .field("parts_per_second", parts_per_second)
            .field("disabled", disabled)
            .field("tls", tls)
            .field("profile", profile)
            .finish_non_exhaustive()
    }
}

/// The state of a sender ID, for one account or for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SenderEntry {
    pub account: Option<AccountId>,
    pub sender: Sender,
    pub state: SenderState,
    /// Why it has this state, for the customer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What operators wrote about it, for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SenderState {
    Approved,
    /// Requested and not yet approved.
    Pending,
    Blocked,
}

/// A number that receives MO messages. Its account may also use it as a sender ID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberEntry {
    pub number: Sender,
    pub account: AccountId,
    /// The first word of messages for this account, where several accounts share the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

/// A screening rule, for all accounts or for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenEntry {
    pub account: Option<AccountId>,
    pub field: ScreenedField,
    pub pattern: String,
}

/// A traffic control, for each account or for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlEntry {
    pub account: Option<AccountId>,
    pub mode: Mode,
    pub rule: TrafficRule,
}

/// Numbers that may not be sent to or received from, for all accounts or for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockEntry {
    pub account: Option<AccountId>,
    pub numbers: BlockedNumbers,
    pub direction: BlockDirection,
    /// Why, for operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// It applies before this time; `None`: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// All documents of the store.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    pub accounts: Vec<(AccountId, String, Account)>,
    pub connections: Vec<(ConnectionId, Connection)>,
    /// For people: nothing decides by them.
    pub connection_names: Vec<(ConnectionId, String)>,
    /// By the public part of the key.
    pub keys: Vec<(String, ApiKey)>,
    pub prices: Vec<Price>,
    pub price_lists: Vec<(PriceListId, String, PriceListEntry)>,
    pub costs: Vec<(CostId, Cost)>,
    pub exchange_rates: Vec<ExchangeRateEntry>,
    /// For the operator: nothing decides by them.
    pub rate_profiles: Vec<RateProfile>,
    pub routes: Vec<(RouteId, RouteEntry)>,
    pub carriers: Vec<(CarrierId, String, Carrier)>,
    pub senders: Vec<SenderEntry>,
    pub numbers: Vec<NumberEntry>,
    /// By the rule's name.
    pub screens: Vec<(String, ScreenEntry)>,
    pub controls: Vec<(String, ControlEntry)>,
    pub blocks: Vec<(String, BlockEntry)>,
    /// By id and e-mail address.
    pub users: Vec<(u32, String, User)>,
    /// By name.
    pub operators: Vec<(String, OperatorEntry)>,
}

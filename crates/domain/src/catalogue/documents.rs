//! The documents a catalogue is made of, as they stand in the store. Fields are added with a default that keeps what
//! was stored before meaning what it meant.

use crate::carrier::Profile;
use crate::catalogue::{SmppAccess, Webhooks};
use crate::ids::{AccountId, CarrierId, ConnectionId, RouteId};
use crate::lifecycle::DoubtPolicy;
use crate::money::{Currency, Money};
use crate::numbers::{Country, Mcc, Network};
use crate::prefix::Prefix;
use crate::screen::Field;
use crate::sender::Sender;
use crate::time::Timestamp;
use crate::traffic::{Mode, TrafficRule};
use crate::webhook::DlrForm;
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

/// A customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    pub currency: Currency,
    /// How far below zero the balance may go.
    pub credit_limit: Money,
    /// What must stay in the account after a charge.
    pub minimum: Money,
    /// The operator has checked who this is.
    pub verified: bool,
    /// Sender ids from before senders were documents of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<Sender>,
    /// Who does not say is postpaid if it may go below zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
    #[serde(default)]
    pub countries: Countries,
    /// Nobody signs in any more.
    #[serde(default)]
    pub closed: bool,
    #[serde(default)]
    pub tier: Tier,
    /// Submissions per second over SMPP, where it is not what the tier gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smpp_rate: Option<u32>,
    /// Nothing: it is told nothing over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Webhooks>,
    /// Words of its own that opt a handset out, beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_words: Vec<String>,
}

/// How fast an account may send over SMPP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// 100 a second for the account, all its binds together.
    #[default]
    Standard,
    /// 10,000 a second on each bind.
    Enterprise,
}

impl Account {
    pub fn terms(&self) -> Terms {
        let implied = if self.credit_limit > Money::ZERO { Terms::Postpaid } else { Terms::Prepaid };
        self.terms.unwrap_or(implied)
    }
}

/// When a customer pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Terms {
    Prepaid,
    Postpaid,
}

impl Terms {
    pub const fn as_str(self) -> &'static str {
        match self {
            Terms::Prepaid => "prepaid",
            Terms::Postpaid => "postpaid",
        }
    }
}

/// Where an account may send: `"*"`, or a list of country codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Countries {
    #[default]
    All,
    Only(BTreeSet<Country>),
}

impl Countries {
    pub fn allow(&self, country: Country) -> bool {
        match self {
            Countries::All => true,
            Countries::Only(enabled) => enabled.contains(&country),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum CountriesText {
    Star(String),
    Only(BTreeSet<Country>),
}

impl Serialize for Countries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Countries::All => serializer.serialize_str("*"),
            Countries::Only(enabled) => enabled.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Countries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Countries, D::Error> {
        let rule = "countries are \"*\" or a list of two-letter codes such as [\"DE\", \"FR\"]";
        match CountriesText::deserialize(deserializer).map_err(|_| de::Error::custom(rule))? {
            CountriesText::Star(text) if text == "*" => Ok(Countries::All),
            CountriesText::Star(_) => Err(de::Error::custom(rule)),
            CountriesText::Only(enabled) => Ok(Countries::Only(enabled)),
        }
    }
}

/// Networks that may call. An empty list is everyone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AllowList(pub Vec<IpNet>);

impl AllowList {
    pub fn admits(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.0.is_empty() || self.0.iter().any(|network| network.contains(&peer))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One way in for an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    pub account: AccountId,
    /// Used when a request names no sender.
    pub default_sender: Option<Sender>,
    pub requests_per_second: u32,
    /// Refuse messages of more parts than this.
    pub max_parts: Option<u8>,
    #[serde(default)]
    pub allow: AllowList,
    /// Write typographic characters plainly where that keeps a text in GSM-7.
    #[serde(default)]
    pub smart_encoding: bool,
    #[serde(default)]
    pub closed: bool,
    /// Nothing: nobody binds to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smpp: Option<SmppAccess>,
    /// How its delivery reports are written in webhooks.
    #[serde(default)]
    pub dlr_form: DlrForm,
    /// What came in over SMPP is reported by webhook too, not only where it came from.
    #[serde(default)]
    pub webhooks_too: bool,
}

/// What an API key opens. The secret itself is nowhere; its keyed digest is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    pub connection: ConnectionId,
    /// Lower-case hex.
    pub secret_digest: String,
    #[serde(default)]
    pub allow: AllowList,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub revoked: bool,
}

impl ApiKey {
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        !self.revoked && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// What one part to a destination costs, for everyone or for one account. It is for exactly one of a prefix, a
/// network, an MCC and a country.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub account: Option<AccountId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcc: Option<Mcc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<Country>,
    pub per_part: Money,
    /// In force from here on; nothing: always was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
}

/// Which carriers serve a destination, for everyone or for one account or sender. It is for exactly one of a prefix, a
/// network, an MCC and a country.
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
    #[serde(deserialize_with = "route_carriers")]
    pub carriers: Vec<RouteCarrier>,
    /// Nothing: as the carrier's profile says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<DoubtPolicy>,
    /// What one carrier refuses is offered to the next.
    #[serde(default)]
    pub fail_over_refusals: bool,
}

/// A carrier's place on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteCarrier {
    pub carrier: CarrierId,
    /// The lowest goes first.
    pub priority: u8,
    /// Its share among those of the same priority.
    pub weight: u16,
}

/// From before carriers had weights: a list of them in order of preference.
fn route_carriers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RouteCarrier>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Bare(CarrierId),
        Placed(RouteCarrier),
    }
    let stored = Vec::<Stored>::deserialize(deserializer)?;
    let placed = (1..).zip(stored).map(|(place, stored)| match stored {
        Stored::Bare(carrier) => RouteCarrier { carrier, priority: place, weight: 1 },
        Stored::Placed(placed) => placed,
    });
    Ok(placed.collect())
}

/// An upstream SMSC and how to talk to it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carrier {
    /// `host:port`.
    pub address: String,
    pub system_id: String,
    /// Sealed: only the process that has the key of its data folder can open it.
    pub password: String,
    pub system_type: String,
    /// Parts sent and not yet answered, at most.
    pub window: u16,
    /// Parts per second, at most.
    pub parts_per_second: u32,
    pub response_timeout_ms: u64,
    pub enquire_link_ms: u64,
    /// No link is kept; what is routed to it waits.
    #[serde(default)]
    pub disabled: bool,
    /// Nothing: plain TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<CarrierTls>,
    #[serde(default)]
    pub profile: Profile,
}

/// How a carrier proves who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CarrierTls {
    /// The name in its certificate, where that is not the host of its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A PEM file with the authorities to trust. Nothing: those of this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// The SHA-256 of the one certificate it may show, in hexadecimal; nothing else is looked at then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// Without its password.
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

/// A sender id and what may be done with it: for one account, or for everyone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SenderEntry {
    pub account: Option<AccountId>,
    pub sender: Sender,
    pub state: SenderState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SenderState {
    Approved,
    /// Asked for, and not looked at yet.
    Pending,
    Blocked,
}

/// A number that handsets can write to. Whoever owns one may also send from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberEntry {
    pub number: Sender,
    pub account: AccountId,
    /// Several accounts can share a number if each has a word that its messages begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

/// A pattern that holds a message for review, in everybody's messages or in one account's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenEntry {
    pub account: Option<AccountId>,
    pub field: Field,
    pub pattern: String,
}

/// A limit on an account's traffic, or on every account's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlEntry {
    pub account: Option<AccountId>,
    pub mode: Mode,
    pub rule: TrafficRule,
}

/// Every document, as read from the store.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    pub accounts: Vec<(AccountId, String, Account)>,
    pub connections: Vec<(ConnectionId, Connection)>,
    /// By the public half of the key.
    pub keys: Vec<(String, ApiKey)>,
    pub prices: Vec<Price>,
    pub routes: Vec<(RouteId, RouteEntry)>,
    pub carriers: Vec<(CarrierId, String, Carrier)>,
    pub senders: Vec<SenderEntry>,
    pub numbers: Vec<NumberEntry>,
    /// By the name the operator gave the rule.
    pub screens: Vec<(String, ScreenEntry)>,
    pub controls: Vec<(String, ControlEntry)>,
}

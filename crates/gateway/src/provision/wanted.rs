//! What a provision file may say. Every value is checked as it is read, so that what is wrong is told with its line.

use crate::config::{FileError, Period, Source};
use crate::provision::checks;
use crate::secrets::Secret;
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::money::{Currency, Money};
use hermod_domain::prefix::Prefix;
use hermod_domain::sender::Sender;
use serde::{Deserialize, Serialize};

/// An example with every key explained.
pub const EXAMPLE_TOML: &str = include_str!("example.toml");

/// The whole of a provision file. Written out again, its secrets are hidden.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wanted {
    #[serde(rename = "carrier")]
    pub carriers: Vec<WantedCarrier>,
    #[serde(rename = "route")]
    pub routes: Vec<WantedRoute>,
    #[serde(rename = "price")]
    pub prices: Vec<WantedPrice>,
    #[serde(rename = "account")]
    pub accounts: Vec<WantedAccount>,
    #[serde(rename = "connection")]
    pub connections: Vec<WantedConnection>,
    #[serde(rename = "key")]
    pub keys: Vec<WantedKey>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedCarrier {
    #[serde(deserialize_with = "checks::name")]
    pub name: String,
    #[serde(deserialize_with = "checks::address")]
    pub address: String,
    #[serde(deserialize_with = "checks::system_id")]
    pub system_id: String,
    #[serde(deserialize_with = "checks::smpp_password", serialize_with = "checks::hidden")]
    pub password: Secret,
    #[serde(default, deserialize_with = "checks::system_type")]
    pub system_type: String,
    #[serde(deserialize_with = "checks::window")]
    pub window: u16,
    #[serde(deserialize_with = "checks::rate")]
    pub rate: u32,
    #[serde(default = "one_minute", deserialize_with = "checks::link_wait")]
    pub response_timeout: Period,
    #[serde(default = "thirty_seconds", deserialize_with = "checks::link_wait")]
    pub enquire_link: Period,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedRoute {
    #[serde(deserialize_with = "checks::prefix", serialize_with = "checks::prefix_text")]
    pub prefix: Prefix,
    pub carriers: Vec<String>,
    #[serde(default = "resend_once")]
    pub in_doubt: DoubtPolicy,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedPrice {
    #[serde(deserialize_with = "checks::prefix", serialize_with = "checks::prefix_text")]
    pub prefix: Prefix,
    #[serde(deserialize_with = "checks::amount")]
    pub per_part: Money,
    pub account: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedAccount {
    #[serde(deserialize_with = "checks::name")]
    pub name: String,
    pub currency: Currency,
    #[serde(default, deserialize_with = "checks::amount")]
    pub opening_balance: Money,
    #[serde(default, deserialize_with = "checks::amount")]
    pub credit_limit: Money,
    #[serde(default, deserialize_with = "checks::amount")]
    pub minimum: Money,
    #[serde(default)]
    pub verified: bool,
    #[serde(default)]
    pub senders: Vec<Sender>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedConnection {
    #[serde(deserialize_with = "checks::name")]
    pub name: String,
    pub account: String,
    pub default_sender: Option<Sender>,
    #[serde(default = "ten", deserialize_with = "checks::rate")]
    pub rate: u32,
    #[serde(default, deserialize_with = "checks::max_parts")]
    pub max_parts: Option<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedKey {
    #[serde(deserialize_with = "checks::key")]
    pub key: String,
    #[serde(deserialize_with = "checks::api_secret", serialize_with = "checks::hidden")]
    pub secret: Secret,
    pub connection: String,
}

impl Wanted {
    pub fn parse(source: &Source) -> Result<Wanted, FileError> {
        source.parse()
    }

    /// All of it as a file, without its secrets.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("what was read can be written")
    }
}

fn one_minute() -> Period {
    Period::from_secs(60)
}

fn thirty_seconds() -> Period {
    Period::from_secs(30)
}

fn resend_once() -> DoubtPolicy {
    DoubtPolicy::ResendOnce
}

fn ten() -> u32 {
    10
}

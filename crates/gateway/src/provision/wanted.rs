//! What a provision file may say. Every value is checked as it is read, so that what is wrong is told with its line.

use crate::config::{FileError, Source};
use crate::provision::account::WantedAccount;
use crate::provision::carrier::WantedCarrier;
use crate::provision::connection::WantedConnection;
use crate::provision::control::WantedControl;
use crate::provision::key::WantedKey;
use crate::provision::kind::Kind;
use crate::provision::number::WantedNumber;
use crate::provision::price::WantedPrice;
use crate::provision::route::WantedRoute;
use crate::provision::screen::WantedScreen;
use crate::provision::sender::WantedSender;
use hermod_domain::webhook::address::AddressRules;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An example with every key explained.
pub const EXAMPLE_TOML: &str = include_str!("example.toml");

/// The whole of a provision file. Written out again, its secrets are hidden.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = ProvisionFile)]
pub struct Wanted {
    #[serde(rename = "carrier", skip_serializing_if = "Vec::is_empty")]
    pub carriers: Vec<WantedCarrier>,
    #[serde(rename = "route", skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<WantedRoute>,
    #[serde(rename = "price", skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<WantedPrice>,
    #[serde(rename = "account", skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<WantedAccount>,
    #[serde(rename = "sender", skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<WantedSender>,
    #[serde(rename = "number", skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<WantedNumber>,
    #[serde(rename = "connection", skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<WantedConnection>,
    #[serde(rename = "key", skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<WantedKey>,
    #[serde(rename = "screen", skip_serializing_if = "Vec::is_empty")]
    pub screens: Vec<WantedScreen>,
    #[serde(rename = "control", skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<WantedControl>,
    #[serde(rename = "remove", skip_serializing_if = "Vec::is_empty")]
    pub removals: Vec<Removal>,
    /// Where accounts' webhooks may go: not a customer's business, but the installation's.
    #[serde(skip)]
    #[schema(ignore)]
    pub rules: AddressRules,
}

/// Something that is to go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    pub kind: Kind,
    pub name: String,
}

impl Wanted {
    pub fn parse(source: &Source) -> Result<Wanted, FileError> {
        source.parse()
    }

    /// With the installation's rules for webhooks, instead of the strictest.
    #[must_use]
    pub fn judged_by(self, rules: AddressRules) -> Wanted {
        Wanted { rules, ..self }
    }

    /// All of it as a file, without its secrets.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("what was read can be written")
    }
}

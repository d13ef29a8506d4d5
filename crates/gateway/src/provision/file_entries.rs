//! The content of a provision file. Every value is validated as it is parsed, so that errors name their line.

use crate::config::{FileError, Source};
use crate::provision::account::WantedAccount;
use crate::provision::api_key::WantedKey;
use crate::provision::carrier::WantedCarrier;
use crate::provision::connection::WantedConnection;
use crate::provision::control::WantedControl;
use crate::provision::inbound_number::WantedNumber;
use crate::provision::kind::Kind;
use crate::provision::mentioned_fields::Mentions;
use crate::provision::operator::WantedOperator;
use crate::provision::price::WantedPrice;
use crate::provision::route::WantedRoute;
use crate::provision::screen::WantedScreen;
use crate::provision::sender::WantedSender;
use crate::provision::user::WantedUser;
use hermod_domain::webhook::url::AddressRules;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An example with every key explained.
pub const EXAMPLE_TOML: &str = include_str!("example.toml");

/// A provision file. Secrets are hidden when it is written.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = ProvisionFile)]
pub struct WantedSetup {
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
    #[serde(rename = "user", skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<WantedUser>,
    #[serde(rename = "operator", skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<WantedOperator>,
    #[serde(rename = "remove", skip_serializing_if = "Vec::is_empty")]
    pub removals: Vec<Removal>,
    /// The installation's rules for webhook addresses.
    #[serde(skip)]
    #[schema(ignore)]
    pub rules: AddressRules,
    /// The fields that the file mentions; the others keep their value. `None`: all entries are complete.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) mentions: Option<Mentions>,
    /// Apply every field of the file, even if it was changed since.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) force: bool,
}

/// An entry to remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    pub kind: Kind,
    pub name: String,
}

impl WantedSetup {
    /// Parses a file. Its entries change only the fields that they mention.
    pub fn parse(source: &Source) -> Result<WantedSetup, FileError> {
        let (wanted, mentions): (WantedSetup, Mentions) = source.parse_adjusted(Mentions::take_from)?;
        Ok(WantedSetup { mentions: Some(mentions), ..wanted })
    }

    /// Parses complete entries: absent fields have their defaults.
    pub(super) fn parse_whole(source: &Source) -> Result<WantedSetup, FileError> {
        source.parse()
    }

    /// Returns a request with one removal.
    pub fn removing(removal: Removal) -> WantedSetup {
        WantedSetup { removals: vec![removal], ..WantedSetup::default() }
    }

    /// Sets whether fields changed since are overwritten.
    #[must_use]
    pub fn forced(self, force: bool) -> WantedSetup {
        WantedSetup { force, ..self }
    }

    /// Sets the rules for webhook addresses; the default is the strictest.
    #[must_use]
    pub fn judged_by(self, rules: AddressRules) -> WantedSetup {
        WantedSetup { rules, ..self }
    }

    /// Whether it contains a password or a secret.
    pub fn has_secrets(&self) -> bool {
        self.carriers.iter().any(|carrier| carrier.password.is_some())
            || self.accounts.iter().any(|account| account.webhook_secret.is_some())
            || self.connections.iter().any(|connection| connection.password.is_some())
            || self.keys.iter().any(|key| key.secret.is_some())
            || self.operators.iter().any(|operator| operator.token.is_some())
    }

    /// Writes the mentioned fields as TOML, without secrets.
    pub fn to_toml(&self) -> String {
        let mut whole = toml::Table::try_from(self).expect("what was read can be written");
        for kind in Kind::ALL {
            let entries = whole.get_mut(kind.as_str()).and_then(toml::Value::as_array_mut);
            for (index, entry) in entries.into_iter().flatten().enumerate() {
                let mentioned = self.mentions.as_ref().and_then(|mentions| mentions.of(kind, index));
                if let (Some(mentioned), Some(entry)) = (mentioned, entry.as_table_mut()) {
                    entry.retain(|field, _| mentioned.contains(field));
                }
            }
        }
        toml::to_string(&whole).expect("what was read can be written")
    }
}

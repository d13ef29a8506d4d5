//! An account: its money, limits and permissions as they are stored.

use crate::catalogue::Webhooks;
use crate::ids::PriceListId;
use crate::money::{Currency, Money};
use crate::numbers::Country;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;

/// A customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    pub currency: Currency,
    /// How far below zero the balance may go.
    pub credit_limit: Money,
    /// The balance that a charge must leave.
    pub minimum: Money,
    /// The operator verified the customer's identity.
    pub verified: bool,
    /// `None`: postpaid if it has a credit limit, otherwise prepaid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
    /// Instead of the general prices. In the account's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_list: Option<PriceListId>,
    /// Where the operator lets it send.
    pub countries: Countries,
    /// Countries that the customer switched off.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub countries_off: BTreeSet<Country>,
    /// Sign-ins and binds are rejected.
    pub closed: bool,
    /// Why the operator suspended it; `None` if it is not suspended. A suspended account cannot send and its new binds are
    /// rejected. Reading, receipts, MO messages, live binds and the portal stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<String>,
    pub tier: Tier,
    /// Messages per second over SMPP, instead of the tier's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smpp_rate: Option<u32>,
    /// `None`: no webhooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Webhooks>,
    /// Opt-out keywords in addition to the standard ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_words: Vec<String>,
    /// Warn the customer if less than this is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_below: Option<Money>,
    /// Warn again, urgently, if less than this is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urgent_below: Option<Money>,
}

/// How the available amount of an account stands to its two warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BalanceLevel {
    #[default]
    Enough,
    /// Below the first warning.
    Low,
    /// Below the second one.
    Urgent,
}

/// The SMPP rate of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// 100 messages per second for all binds of the account together.
    #[default]
    Standard,
    /// 10,000 messages per second on each bind.
    Enterprise,
}

impl Account {
    pub fn terms(&self) -> Terms {
        let implied = if self.credit_limit > Money::ZERO { Terms::Postpaid } else { Terms::Prepaid };
        self.terms.unwrap_or(implied)
    }

    /// Whether messages to this country are allowed: the operator permits it and the customer has not switched it off.
    pub fn may_send_to(&self, country: Country) -> bool {
        self.countries.allow(country) && !self.countries_off.contains(&country)
    }

    /// Returns the level of an available amount, and the amount of the warning that it is below.
    pub fn balance_level(&self, available: Money) -> (BalanceLevel, Option<Money>) {
        let is_below = |warning: &Money| available < *warning;
        if let Some(urgent) = self.urgent_below.filter(is_below) {
            return (BalanceLevel::Urgent, Some(urgent));
        }
        let low = self.warn_below.filter(is_below);
        (if low.is_some() { BalanceLevel::Low } else { BalanceLevel::Enough }, low)
    }
}

named! {
    /// When a customer pays.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Terms {
        Prepaid = "prepaid",
        Postpaid = "postpaid",
    }
}

/// The countries an account may send to: `"*"`, or a list of country codes.
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

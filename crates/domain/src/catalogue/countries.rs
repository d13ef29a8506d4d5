//! The countries that an operator permits an account to send to.

use crate::numbers::Country;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;

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

//! Parses and writes amounts, prefixes, times and networks of provision files. The written form parses again.

use hermod_domain::block::NumberList;
use hermod_domain::catalogue::AllowList;
use hermod_domain::money::{AMOUNT_MAX, Money};
use hermod_domain::numbers::{Country, Mcc};
use hermod_domain::prefix::Prefix;
use hermod_domain::time::Timestamp;
use hermod_gateway::secrets::Secret;
use ipnet::IpNet;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// The most networks of one list.
const NETWORKS_MAX: usize = 256;

pub(crate) fn of_prefix(prefix: Prefix) -> String {
    if prefix == Prefix::ANY { "*".to_owned() } else { prefix.to_string() }
}

pub(crate) fn prefix_of(text: &str) -> Result<Prefix, String> {
    match text {
        "*" => Ok(Prefix::ANY),
        "" => Err("write \"*\" for every number".to_owned()),
        digits => Prefix::parse(digits).map_err(|refusal| format!("\"{digits}\": {refusal}")),
    }
}

/// Parses a number or its first digits, with or without a plus; `*` is every number.
pub(crate) fn number_prefix_of(text: &str) -> Result<Prefix, String> {
    match text.strip_prefix('+') {
        Some(digits) => Prefix::parse(digits)
            .ok()
            .filter(|prefix| !prefix.is_empty())
            .ok_or_else(|| format!("\"{text}\" is not a number such as +4915112345678 or its first digits")),
        None => prefix_of(text),
    }
}

/// Reads a prefix that may be a whole number, with or without a plus.
pub(crate) mod number_prefix {
    use super::*;

    pub(crate) use super::prefix::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Prefix>, D::Error> {
        number_prefix_of(&String::deserialize(text)?).map(Some).map_err(D::Error::custom)
    }
}

pub(crate) fn number_list<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NumberList>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let known = || NumberList::ALL.map(NumberList::as_str).join(", ");
    let list = NumberList::parse(&text);
    list.map(Some)
        .ok_or_else(|| D::Error::custom(format!("\"{text}\" is no built-in list; there is {}", known())))
}

/// Reads and writes a prefix. `*` is every number.
pub(crate) mod prefix {
    use super::*;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Prefix>, D::Error> {
        prefix_of(&String::deserialize(text)?).map(Some).map_err(D::Error::custom)
    }

    pub(crate) fn serialize<S: Serializer>(prefix: &Option<Prefix>, to: S) -> Result<S::Ok, S::Error> {
        prefix.map(of_prefix).serialize(to)
    }
}

/// Parses an MCC, quoted or as a number.
pub(crate) fn some_mcc<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Mcc>, D::Error> {
    let text = text_or_number(deserializer, "an MCC such as \"262\"")?;
    Mcc::parse(&text).map(Some).map_err(|refusal| D::Error::custom(format!("\"{text}\": {refusal}")))
}

/// Parses a two-letter country code in either case.
pub(crate) fn some_country<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Country>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let country = Country::parse(&text.to_ascii_uppercase());
    country
        .map(Some)
        .map_err(|_| D::Error::custom(format!("\"{text}\" is not a two-letter country code such as \"DE\"")))
}

pub(crate) fn hidden<S: Serializer>(_: &Option<Secret>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("(hidden)")
}

/// Parses a non-negative amount: a whole number, or a quoted decimal, because an unquoted one would be a float.
pub(crate) fn amount<'de, D: Deserializer<'de>, T: From<Money>>(deserializer: D) -> Result<T, D::Error> {
    let text = text_or_number(deserializer, "an amount in quotes, such as \"0.035\"")?;
    let amount = Money::parse(&text).map_err(|refusal| D::Error::custom(format!("\"{text}\": {refusal}")))?;
    if amount.is_negative() {
        return Err(D::Error::custom(format!("{amount} is negative")));
    }
    if amount > AMOUNT_MAX {
        return Err(D::Error::custom(format!("{amount} is more than the maximum of {AMOUNT_MAX}")));
    }
    Ok(amount.into())
}

/// Parses a text, or an integer as its digits.
pub(crate) fn text_or_number<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<String, D::Error> {
    deserializer.deserialize_any(TextOrNumber(expected))
}

struct TextOrNumber(&'static str);

impl Visitor<'_> for TextOrNumber {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_i64<E: Error>(self, units: i64) -> Result<String, E> {
        Ok(units.to_string())
    }

    fn visit_u64<E: Error>(self, units: u64) -> Result<String, E> {
        Ok(units.to_string())
    }
}

pub(crate) const WHEN_FORM: &str =
    "a day such as 2026-01-31 (it begins at midnight UTC) or a time such as 2026-01-31T12:00:00Z";

/// Reads and writes a day, or a time with its offset, quoted or as a TOML date.
pub(crate) mod when {
    use super::*;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Timestamp>, D::Error> {
        text.deserialize_any(When).map(Some)
    }

    pub(crate) fn serialize<S: Serializer>(when: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        when.map(when_shown).serialize(to)
    }
}

struct When;

impl<'de> Visitor<'de> for When {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WHEN_FORM)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        when_of(text).ok_or_else(|| E::custom(format!("\"{text}\" is not {WHEN_FORM}")))
    }

    /// TOML dates are a map with one text.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Timestamp, A::Error> {
        match map.next_entry::<String, String>()? {
            Some((_, text)) => self.visit_str(&text),
            None => Err(A::Error::custom(WHEN_FORM)),
        }
    }
}

/// Accepts whole seconds only, as they are written.
pub(crate) fn when_of(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).filter(|when| when.as_millis() % 1000 == 0)
}

/// Writes midnight as a day.
pub(crate) fn when_shown(when: Timestamp) -> String {
    let day = when.day();
    if day.start() == when { day.to_string() } else { when.to_iso() }
}

/// Parses addresses and networks.
pub(crate) fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AllowList, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    if texts.len() > NETWORKS_MAX {
        return Err(D::Error::custom(format!(
            "a list has at most {NETWORKS_MAX} networks, not {}",
            texts.len()
        )));
    }
    let read = texts.iter().map(|text| {
        network_of(text).ok_or_else(|| {
            let form = "an address such as 192.0.2.7 or a network such as 192.0.2.0/24";
            D::Error::custom(format!("\"{text}\" is not {form}"))
        })
    });
    read.collect::<Result<_, _>>().map(AllowList)
}

fn network_of(text: &str) -> Option<IpNet> {
    let network = match text.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address.to_canonical()),
        Err(_) => text.parse::<IpNet>().ok()?,
    };
    Some(network.trunc())
}

pub(crate) fn networks_text<S: Serializer>(list: &AllowList, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.0.iter().map(|network| {
        let one = network.prefix_len() == network.max_prefix_len();
        if one { network.addr().to_string() } else { network.to_string() }
    }))
}

//! Amounts of money in JSON, exact: no amount passes through a binary fraction.

use hermod_domain::money::Money;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use utoipa::ToSchema;

/// An amount in a response: a JSON number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = f64)]
pub struct Amount(pub Money);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = RawValue::from_string(self.0.to_string()).expect("an amount is a JSON number");
        number.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        let number = Box::<RawValue>::deserialize(deserializer)?;
        Money::parse(number.get()).map(Amount).map_err(D::Error::custom)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// An amount in a request: a JSON string or a JSON number with at most six decimals.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AmountInput(Box<RawValue>);

impl AmountInput {
    /// Wraps what a person wrote. [`AmountInput::parse`] checks it.
    pub fn from_text(text: &str) -> AmountInput {
        let quoted = serde_json::Value::from(text).to_string();
        AmountInput(RawValue::from_string(quoted).expect("a quoted text is JSON"))
    }

    /// Returns the amount, or the rule that the value breaks.
    pub fn parse(&self) -> Result<Money, String> {
        let json = self.0.get();
        let text = match json.starts_with('"') {
            true => serde_json::from_str::<String>(json).map_err(|error| error.to_string())?,
            false => json.to_owned(),
        };
        Money::parse(&text).map_err(|refusal| format!("{json}: {refusal}"))
    }
}

/// The documented form of [`AmountInput`].
#[derive(ToSchema)]
#[serde(untagged)]
pub enum AmountText {
    #[schema(examples("12.5"))]
    Text(String),
    Number(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_in_json_keeps_every_decimal() {
        for text in ["0", "-0.000001", "9007199254993.123456"] {
            let amount: Amount = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&amount).unwrap(), text);
        }
        assert!(serde_json::from_str::<Amount>("1e3").is_err());
    }
}

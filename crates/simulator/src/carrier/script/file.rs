//! Reads a script from TOML. Errors name the line, the column and the valid keys or values.

use std::sync::Arc;
use std::time::Duration;

use hermod_smpp::CommandStatus;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{Script, ScriptRules};
use crate::carrier::receipt_format::ReceiptFormat;
use crate::duration::deserialize_duration;

impl Script {
    /// Parses a script file. Keys that are left out keep the value of [`Script::new`].
    ///
    /// # Errors
    /// Returns a text with line, column and the valid keys or values.
    pub fn from_toml(text: &str) -> Result<Script, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }
}

#[derive(Default, Deserialize)]
#[serde(transparent)]
struct Time(#[serde(deserialize_with = "deserialize_duration")] Duration);

pub(super) fn times<'de, D: Deserializer<'de>>(rules: D) -> Result<ScriptRules<Duration>, D::Error> {
    ScriptRules::<Time>::deserialize(rules).map(|rules| rules.map(|Time(time)| time))
}

pub(super) fn receipt_formats<'de, D: Deserializer<'de>>(
    rules: D,
) -> Result<ScriptRules<Arc<ReceiptFormat>>, D::Error> {
    ScriptRules::<ReceiptFormat>::deserialize(rules).map(|rules| rules.map(Arc::new))
}

pub(super) fn status<'de, D: Deserializer<'de>>(number: D) -> Result<CommandStatus, D::Error> {
    match u32::deserialize(number)? {
        0 => Err(D::Error::custom("0 is not an SMPP error status: expected one such as 0x58")),
        status => Ok(CommandStatus(status)),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;

//! Webhooks: their kinds, payloads, signatures, URLs, and how many are posted to an endpoint at a time.

pub mod payload;
pub mod post_concurrency;
pub mod signature;
pub mod url;

use crate::shown_number::{NumberKind, ShownNumbers};
use serde::{Deserialize, Serialize};

named! {
    /// The kind of a webhook.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum WebhookKind (as_u8, from_u8: u8) {
        /// The status of a message.
        Dlr = 1 "dlr",
        /// An MO message.
        Inbound = 2 "inbound",
    }
}

named! {
    /// The payload format of a DLR.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum DlrForm (as_u8, from_u8: u8) {
        #[default]
        Full = 1,
        Short = 2,
    }
}

/// Returns the external id of an event, the value of `webhook-id`. All attempts and replays have the same one.
pub fn event_name(numbers: &ShownNumbers, event: u64) -> String {
    format!("{EVENT_PREFIX}{}", numbers.show(NumberKind::Event, event))
}

/// Parses the external id of an event.
pub fn event_number(numbers: &ShownNumbers, name: &str) -> Option<u64> {
    shown_event_number(name).map(|shown| numbers.read(NumberKind::Event, shown))
}

/// Returns the number in the external id of an event, as it is shown.
pub fn shown_event_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(EVENT_PREFIX)?;
    let number: u64 = digits.parse().ok()?;
    // Refuses a sign and leading zeros.
    (number.to_string() == digits).then_some(number)
}

const EVENT_PREFIX: &str = "evt_";

#[cfg(test)]
mod tests;

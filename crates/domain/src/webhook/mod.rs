//! Webhooks: their kinds, payloads, signatures, URLs, and how many are posted to an endpoint at a time.

pub mod payload;
pub mod post_concurrency;
pub mod signature;
pub mod url;

use crate::shown_number::{NumberKind, ShownNumbers};
use serde::{Deserialize, Serialize};

/// The kind of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WebhookKind {
    /// The status of a message.
    Dlr,
    /// An MO message.
    Inbound,
}

impl WebhookKind {
    pub const ALL: [WebhookKind; 2] = [WebhookKind::Dlr, WebhookKind::Inbound];

    /// Returns the number that the store keeps. Existing numbers never change.
    pub const fn as_u8(self) -> u8 {
        match self {
            WebhookKind::Dlr => 1,
            WebhookKind::Inbound => 2,
        }
    }

    pub const fn from_u8(stored: u8) -> Option<WebhookKind> {
        match stored {
            1 => Some(WebhookKind::Dlr),
            2 => Some(WebhookKind::Inbound),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            WebhookKind::Dlr => "dlr",
            WebhookKind::Inbound => "inbound",
        }
    }
}

/// The payload format of a DLR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DlrForm {
    #[default]
    Full,
    Short,
}

impl DlrForm {
    /// Returns the number that the store keeps. Existing numbers never change.
    pub const fn as_u8(self) -> u8 {
        match self {
            DlrForm::Full => 1,
            DlrForm::Short => 2,
        }
    }

    pub const fn from_u8(stored: u8) -> Option<DlrForm> {
        match stored {
            1 => Some(DlrForm::Full),
            2 => Some(DlrForm::Short),
            _ => None,
        }
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

//! What customers are told over HTTP: which kinds there are, how each is written, signed, and where it may go.

pub mod address;
#[cfg(test)]
mod address_tests;
pub mod payload;
pub mod pressure;
pub mod signature;

use serde::{Deserialize, Serialize};

/// What a webhook tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WebhookKind {
    /// What became of a message.
    Dlr,
    /// A message from a handset.
    Inbound,
}

impl WebhookKind {
    pub const ALL: [WebhookKind; 2] = [WebhookKind::Dlr, WebhookKind::Inbound];

    /// The number the store keeps. Never change one.
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

/// How a delivery report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DlrForm {
    #[default]
    Full,
    Short,
}

impl DlrForm {
    /// The number the store keeps. Never change one.
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

/// What an event is called outside: the value of `webhook-id`, the same for every attempt and replay of it.
pub fn event_name(event: u64) -> String {
    format!("{EVENT_PREFIX}{event}")
}

/// The number of an event, from its name.
pub fn event_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(EVENT_PREFIX)?;
    let number: u64 = digits.parse().ok()?;
    // Only what is printed the same way.
    (number.to_string() == digits).then_some(number)
}

const EVENT_PREFIX: &str = "evt_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_one_name() {
        assert_eq!(event_name(7), "evt_7");
        for (name, expect) in [
            ("evt_7", Some(7)),
            ("evt_0", Some(0)),
            ("evt_07", None),
            ("evt_+7", None),
            ("evt_", None),
            ("7", None),
            ("EVT_7", None),
            ("evt_99999999999999999999", None),
        ] {
            assert_eq!(event_number(name), expect, "{name}");
        }
    }
}

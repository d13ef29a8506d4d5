//! Where an account is told by webhook, and what it is signed with.

use crate::time::Timestamp;
use crate::webhook::WebhookKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An account's webhooks. Secrets are sealed: only the process that has the key of its data folder can open them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Where delivery reports are posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dlr_url: Option<String>,
    /// Where messages from handsets are posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbound_url: Option<String>,
    pub secret: String,
    /// Staged: everything is signed with it too, so that receivers can learn it before it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PreviousSecret>,
}

/// The secret before the last switch.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviousSecret {
    pub secret: String,
    /// Nothing is signed with it from here on.
    pub until: Timestamp,
}

impl Webhooks {
    pub fn url(&self, kind: WebhookKind) -> Option<&str> {
        match kind {
            WebhookKind::Dlr => self.dlr_url.as_deref(),
            WebhookKind::Inbound => self.inbound_url.as_deref(),
        }
    }
}

/// Without the secrets, and without the addresses: those may hold a token.
impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks")
            .field("dlr", &self.dlr_url.is_some())
            .field("inbound", &self.inbound_url.is_some())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PreviousSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreviousSecret").field("until", &self.until).finish_non_exhaustive()
    }
}

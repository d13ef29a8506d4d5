//! An account's webhook URLs and signing secrets.

use crate::catalogue::PreviousSecret;
use crate::webhook::WebhookKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An account's webhooks. Secrets are sealed with the key of the data folder.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// The URL for DLRs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dlr_url: Option<String>,
    /// The URL for MO messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbound_url: Option<String>,
    pub secret: String,
    /// The staged secret, which also signs every webhook, so that receivers can adopt it before the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The secret before the last switch, which still signs every webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PreviousSecret>,
}

impl Webhooks {
    pub fn url(&self, kind: WebhookKind) -> Option<&str> {
        match kind {
            WebhookKind::Dlr => self.dlr_url.as_deref(),
            WebhookKind::Inbound => self.inbound_url.as_deref(),
        }
    }
}

/// Prints neither secrets nor URLs, which may hold a token.
impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks")
            .field("dlr", &self.dlr_url.is_some())
            .field("inbound", &self.inbound_url.is_some())
            .finish_non_exhaustive()
    }
}

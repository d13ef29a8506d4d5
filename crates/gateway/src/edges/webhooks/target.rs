//! The target of an endpoint: URL and signing secrets. Made again when the catalogue changes.

use crate::gateway::Gateway;
use crate::secrets::webhook_secret;
use hermod_domain::catalogue::{Catalogue, PreviousSecret, Webhooks};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::signature::{Signer, Signers};
use hermod_domain::webhook::url::{AddressRules, WebhookUrl};
use hermod_store::Endpoint;
use hyper::Uri;
use hyper::header::HeaderValue;
use std::sync::Arc;

pub(super) struct Target {
    pub(super) url: WebhookUrl,
    pub(super) target: Uri,
    pub(super) host: HeaderValue,
    signers: Signers,
    /// When the previous secret expires.
    previous_until: Option<Timestamp>,
    webhooks: Webhooks,
}

/// Why an endpoint has no target.
#[derive(Debug)]
pub(super) enum NoTarget {
    /// The account has no URL for this kind, or does not exist any more.
    NoAddress,
    /// The URL or the secret is invalid.
    Unusable(String),
}

impl Target {
    pub(super) fn of(
        gateway: &Gateway,
        rules: &AddressRules,
        endpoint: Endpoint,
    ) -> Result<Arc<Target>, NoTarget> {
        let catalogue = gateway.catalogue();
        let webhooks = webhooks_of(&catalogue, endpoint).ok_or(NoTarget::NoAddress)?;
        let text = webhooks.url(endpoint.kind).ok_or(NoTarget::NoAddress)?;
        let url = rules.check(text).map_err(|refusal| NoTarget::Unusable(refusal.to_string()))?;
        let open = |stored: &str| {
            let secret = webhook_secret::open(&gateway.pepper, endpoint.account, stored);
            let secret = secret.map_err(|unopened| NoTarget::Unusable(unopened.to_string()))?;
            Ok::<_, NoTarget>(Signer::new(secret.reveal()))
        };
        let previous = webhooks.previous.as_ref();
        let signers = Signers {
            current: open(&webhooks.secret)?,
            next: webhooks.next.as_deref().map(open).transpose()?,
            previous: previous.map(|PreviousSecret { secret, .. }| open(secret)).transpose()?,
        };
        let host =
            HeaderValue::try_from(&url.authority).map_err(|error| NoTarget::Unusable(error.to_string()))?;
        let target = Uri::try_from(&url.target).map_err(|error| NoTarget::Unusable(error.to_string()))?;
        let previous_until = previous.map(|previous| previous.until);
        Ok(Arc::new(Target { url, target, host, signers, previous_until, webhooks: webhooks.clone() }))
    }

    /// Whether the target still matches the catalogue.
    pub(super) fn is_current(&self, catalogue: &Catalogue, endpoint: Endpoint) -> bool {
        webhooks_of(catalogue, endpoint) == Some(&self.webhooks)
    }

    pub(super) fn has_same_url(&self, other: &Target) -> bool {
        self.url == other.url
    }

    pub(super) fn signers_at(&self, now: Timestamp) -> Signers {
        let mut signers = self.signers.clone();
        if self.previous_until.is_some_and(|until| until <= now) {
            signers.previous = None;
        }
        signers
    }
}

fn webhooks_of(catalogue: &Catalogue, endpoint: Endpoint) -> Option<&Webhooks> {
    let view = catalogue.account(endpoint.account)?;
    view.account.webhooks.as_ref().filter(|webhooks| webhooks.url(endpoint.kind).is_some())
}

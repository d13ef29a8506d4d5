//! Where an endpoint's webhooks go and what they are signed with, at one moment. Made anew when the catalogue changes.

use crate::secrets::webhook_secret;
use crate::world::World;
use hermod_domain::catalogue::{Catalogue, PreviousSecret, Webhooks};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::address::{AddressRules, WebhookUrl};
use hermod_domain::webhook::signature::{Signer, Signers};
use hermod_store::Endpoint;
use hyper::Uri;
use hyper::header::HeaderValue;
use std::sync::Arc;

pub(super) struct Aim {
    pub(super) url: WebhookUrl,
    pub(super) target: Uri,
    pub(super) host: HeaderValue,
    signers: Signers,
    /// From then on the previous secret signs nothing.
    previous_until: Option<Timestamp>,
    webhooks: Webhooks,
}

/// Why nothing can be posted.
#[derive(Debug)]
pub(super) enum NoAim {
    /// The account wants no such webhooks, or is gone.
    NoAddress,
    /// It wants them where, or signed with what, cannot be.
    Unusable(String),
}

impl Aim {
    pub(super) fn of(world: &World, rules: &AddressRules, endpoint: Endpoint) -> Result<Arc<Aim>, NoAim> {
        let catalogue = world.catalogue();
        let webhooks = webhooks_of(&catalogue, endpoint).ok_or(NoAim::NoAddress)?;
        let text = webhooks.url(endpoint.kind).ok_or(NoAim::NoAddress)?;
        let url = rules.judge(text).map_err(|refusal| NoAim::Unusable(refusal.to_string()))?;
        let open = |stored: &str| {
            let secret = webhook_secret::open(&world.pepper, endpoint.account, stored);
            let secret = secret.map_err(|unopened| NoAim::Unusable(unopened.to_string()))?;
            Ok::<_, NoAim>(Signer::new(secret.reveal()))
        };
        let previous = webhooks.previous.as_ref();
        let signers = Signers {
            current: open(&webhooks.secret)?,
            next: webhooks.next.as_deref().map(open).transpose()?,
            previous: previous.map(|PreviousSecret { secret, .. }| open(secret)).transpose()?,
        };
        let host =
            HeaderValue::try_from(&url.authority).map_err(|error| NoAim::Unusable(error.to_string()))?;
        let target = Uri::try_from(&url.target).map_err(|error| NoAim::Unusable(error.to_string()))?;
        let previous_until = previous.map(|previous| previous.until);
        Ok(Arc::new(Aim { url, target, host, signers, previous_until, webhooks: webhooks.clone() }))
    }

    /// Is it still what the catalogue says?
    pub(super) fn holds(&self, catalogue: &Catalogue, endpoint: Endpoint) -> bool {
        webhooks_of(catalogue, endpoint) == Some(&self.webhooks)
    }

    pub(super) fn goes_where(&self, other: &Aim) -> bool {
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

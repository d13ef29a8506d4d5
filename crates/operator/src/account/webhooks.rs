//! An account's webhooks: URLs, which are checked when saved, and signing secrets. A secret is rotated in two steps,
//! so that a receiver can always verify.

use crate::account::WantedAccount;
use crate::entry::draft::Draft;
use crate::entry::plan::Plan;
use crate::kind::Kind;
use crate::setup::ProvisionRefusal;
use hermod_domain::catalogue::{Account, PreviousSecret, Webhooks};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::secrets::webhook_secret;
use hermod_gateway::secrets::{Pepper, Secret};
use hermod_store::CatalogueRow;
use std::time::Duration;

/// How long webhooks are signed with the old secret too after a switch.
pub const PREVIOUS_SECRET_KEPT: Duration = Duration::from_secs(24 * 3_600);

/// A step of a secret rotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Also sign with this secret.
    Stage(Secret),
    /// The staged secret becomes the current one; the old one still signs for a while.
    Switch,
    /// Removes the staged secret; without one, the previous secret.
    Drop,
}

/// Makes the stored form. Unchanged URLs are not checked again: they were checked when saved, and are checked at every
/// connection.
pub(crate) fn document(
    wanted: &WantedAccount,
    before: Option<&Webhooks>,
    draft: &mut Draft<'_>,
) -> Result<Option<Webhooks>, ProvisionRefusal> {
    let WantedAccount { name, dlr_webhook, inbound_webhook, webhook_secret: secret, .. } = wanted;
    let what = format!("account \"{name}\"");
    let stored =
        [before.and_then(|old| old.dlr_url.as_ref()), before.and_then(|old| old.inbound_url.as_ref())];
    let given = [("dlr_webhook", dlr_webhook.as_ref()), ("inbound_webhook", inbound_webhook.as_ref())];
    for ((field, url), old) in given.into_iter().zip(stored) {
        if let Some(url) = url.filter(|url| Some(*url) != old) {
            let judged = draft.rules.check(url);
            judged.map_err(|refusal| {
                ProvisionRefusal::about(&what, format!("cannot have this {field}: {refusal}"))
            })?;
        }
    }
    let account = AccountId::new(draft.number(Kind::Account, name));
    let wants_any = dlr_webhook.is_some() || inbound_webhook.is_some();
    let mut next = before.and_then(|before| before.next.clone());
    let mut previous = before.and_then(|before| before.previous.clone());
    let secret = match (secret, before) {
        (Some(given), before) => {
            let given = webhook_secret::seal(draft.pepper, account, given);
            match before {
                // A file that names the secret from before the switch must not undo the switch.
                Some(before) if previous.as_ref().is_some_and(|old| old.secret == given) => {
                    before.secret.clone()
                }
                Some(before) if before.secret != given => {
                    let until = draft.now.plus(PREVIOUS_SECRET_KEPT);
                    previous = Some(PreviousSecret { secret: before.secret.clone(), until });
                    next = next.filter(|staged| *staged != given);
                    given
                }
                Some(_) | None => given,
            }
        }
        (None, Some(before)) => before.secret.clone(),
        (None, None) if wants_any => {
            let made = webhook_secret::make()
                .map_err(|error| ProvisionRefusal::about(&what, format!("got no random secret: {error}")))?;
            let sealed = webhook_secret::seal(draft.pepper, account, &made);
            draft.made_secret(&format!("webhooks of {name}"), made);
            sealed
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(Webhooks {
        dlr_url: dlr_webhook.clone(),
        inbound_url: inbound_webhook.clone(),
        secret,
        next,
        previous,
    }))
}

pub(crate) fn secrets_differ(before: Option<&Webhooks>, after: Option<&Webhooks>) -> bool {
    let secrets = |webhooks: &Webhooks| {
        let Webhooks { dlr_url: _, inbound_url: _, secret, next, previous } = webhooks;
        (secret.clone(), next.clone(), previous.clone())
    };
    before.map(secrets) != after.map(secrets)
}

/// Plans a step of a secret rotation.
pub fn rotate(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    account: &str,
    step: &Rotation,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    let what = format!("account \"{account}\"");
    let id = AccountId::new(draft.find(Kind::Account, account, "the change")?);
    draft.rewrite::<WantedAccount>(account, |document: &mut Account| {
        let refuse = |sentence: &str| ProvisionRefusal::about(&what, sentence);
        let webhooks = document.webhooks.as_mut().ok_or_else(|| refuse("has no webhooks"))?;
        match step {
            Rotation::Stage(secret) => webhooks.next = Some(webhook_secret::seal(pepper, id, secret)),
            Rotation::Switch => {
                let next =
                    webhooks.next.take().ok_or_else(|| refuse("has no secret staged; stage one first"))?;
                let secret = std::mem::replace(&mut webhooks.secret, next);
                webhooks.previous = Some(PreviousSecret { secret, until: now.plus(PREVIOUS_SECRET_KEPT) });
            }
            Rotation::Drop if webhooks.next.is_some() => webhooks.next = None,
            Rotation::Drop => {
                webhooks
                    .previous
                    .take()
                    .ok_or_else(|| refuse("has neither a staged nor a previous secret"))?;
            }
        }
        Ok(())
    })?;
    draft.finish()
}

//! An account's webhooks: where they go, judged when they are saved, and the secrets they are signed with. A secret is
//! changed in two steps, so that no receiver ever gets something that it cannot check.

use super::WantedAccount;
use crate::provision::ProvisionRefusal;
use crate::provision::draft::Draft;
use crate::provision::kind::Kind;
use crate::provision::plan::Plan;
use crate::secrets::webhook_secret;
use crate::secrets::{Pepper, Secret};
use hermod_domain::catalogue::{Account, PreviousSecret, Webhooks};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::address::AddressRules;
use hermod_store::CatalogueRow;
use std::time::Duration;

/// How long everything is signed with the old secret too after a switch.
pub const PREVIOUS_SECRET_KEPT: Duration = Duration::from_secs(24 * 3_600);

/// A step in changing a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Everything is signed with this one too.
    Stage(Secret),
    /// The staged one counts from here on; the one before it stays for a while.
    Switch,
    /// The staged one is forgotten; if there is none, the one before the last switch.
    Drop,
}

/// As they are stored. Addresses that stay what they were are not judged again: they were when they were saved, and are
/// whenever they are dialled.
pub(super) fn document(
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
            let judged = draft.rules.judge(url);
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
                // A file that is applied at every start and names the one from before a switch does not undo the switch.
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

pub(super) fn secrets_differ(before: Option<&Webhooks>, after: Option<&Webhooks>) -> bool {
    let secrets = |webhooks: &Webhooks| {
        let Webhooks { dlr_url: _, inbound_url: _, secret, next, previous } = webhooks;
        (secret.clone(), next.clone(), previous.clone())
    };
    before.map(secrets) != after.map(secrets)
}

/// What a step in changing an account's secret would do.
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

//! An account's webhooks as the operator sees them: where they go, what waits, what became of each event, and what can be
//! done about it.

use crate::app::operator::entries::carry_out;
use crate::app::operator::find_account;
use crate::app::operator::refusal::OperatorRefusal;
use crate::provision::{self, Rotation};
use crate::secrets::Secret;
use crate::secrets::webhook_secret;
use crate::world::World;
use hermod_domain::catalogue::Webhooks;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{WebhookKind, event_name};
use hermod_store::{
    Endpoint, EventId, REPLAYED_AT_ONCE_MAX, WebhookAttempt, WebhookFigures, WebhookFilter, WebhookRecord,
    WebhookReplay,
};

/// An account's webhooks. Never their secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhooksSeen {
    pub dlr_webhook: Option<String>,
    pub inbound_webhook: Option<String>,
    /// Another secret is staged.
    pub staged: bool,
    /// Until when the secret before the last switch signs too.
    pub previous_until: Option<Timestamp>,
    pub figures: Vec<WebhookFigures>,
}

pub async fn webhooks_of(world: &World, account: &str) -> Result<WebhooksSeen, OperatorRefusal> {
    let id = find_account(world, account)?;
    let figures = world.store.webhook_figures(id).await?;
    let catalogue = world.catalogue();
    let webhooks = catalogue.account(id).and_then(|view| view.account.webhooks.clone());
    let none = WebhooksSeen {
        dlr_webhook: None,
        inbound_webhook: None,
        staged: false,
        previous_until: None,
        figures: Vec::new(),
    };
    let seen = webhooks.map_or(none, |webhooks| {
        let Webhooks { dlr_url, inbound_url, secret: _, next, previous } = webhooks;
        let previous_until = previous.map(|previous| previous.until);
        WebhooksSeen {
            dlr_webhook: dlr_url,
            inbound_webhook: inbound_url,
            staged: next.is_some(),
            previous_until: previous_until.filter(|until| world.clock.now() < *until),
            figures: Vec::new(),
        }
    });
    Ok(WebhooksSeen { figures, ..seen })
}

/// Newest first, before the one with the number `before`.
pub async fn webhook_events(
    world: &World,
    account: &str,
    filter: WebhookFilter,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<WebhookRecord>, OperatorRefusal> {
    let id = find_account(world, account)?;
    Ok(world.store.webhook_events(id, filter, before.map(EventId), limit).await?)
}

/// An event, and every attempt at it that is kept, oldest first.
pub async fn webhook_event(
    world: &World,
    account: &str,
    event: EventId,
) -> Result<(WebhookRecord, Vec<WebhookAttempt>), OperatorRefusal> {
    let id = find_account(world, account)?;
    let found = world.store.webhook_event(id, event).await?.ok_or_else(|| no_event(event))?;
    let attempts = world.store.webhook_attempts(id, event).await?.unwrap_or_default();
    Ok((found, attempts))
}

/// Posts an event again, with the same id and body.
pub async fn replay_webhook(world: &World, account: &str, event: EventId) -> Result<(), OperatorRefusal> {
    let id = find_account(world, account)?;
    match world.store.replay_webhook(id, event, world.clock.now()).await? {
        WebhookReplay::Again => Ok(()),
        WebhookReplay::Unknown => Err(no_event(event)),
    }
}

/// Posts everything again that was given up since then; says how many events that is.
pub async fn replay_failed_webhooks(
    world: &World,
    account: &str,
    kind: Option<WebhookKind>,
    since: Timestamp,
) -> Result<u64, OperatorRefusal> {
    let account = find_account(world, account)?;
    let mut replayed = 0;
    for kind in WebhookKind::ALL.into_iter().filter(|one| kind.is_none_or(|kind| kind == *one)) {
        let (endpoint, mut after) = (Endpoint { account, kind }, None);
        loop {
            let now = world.clock.now();
            let step = world.store.replay_failed(endpoint, since, after, REPLAYED_AT_ONCE_MAX, now).await?;
            replayed += u64::from(step.replayed);
            after = step.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(replayed)
}

/// A step in changing the secret that an account's webhooks are signed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretStep {
    /// With this one, or one that is made.
    Stage(Option<Secret>),
    Switch,
    Drop,
}

/// Gives the secret if one was made.
pub async fn change_webhook_secret(
    world: &World,
    account: &str,
    step: SecretStep,
) -> Result<Option<Secret>, OperatorRefusal> {
    find_account(world, account)?;
    let (rotation, made) = match step {
        SecretStep::Stage(Some(given)) => (Rotation::Stage(given), None),
        SecretStep::Stage(None) => {
            let made = webhook_secret::make().map_err(|error| {
                tracing::error!(%error, "There is no randomness for a secret");
                OperatorRefusal::Failed
            })?;
            (Rotation::Stage(made.clone()), Some(made))
        }
        SecretStep::Switch => (Rotation::Switch, None),
        SecretStep::Drop => (Rotation::Drop, None),
    };
    let _alone = world.changing.lock().await;
    let rows = world.store.catalogue().await?;
    let plan = provision::rotate(rows, &world.pepper, account, &rotation, world.clock.now())?;
    carry_out(world, plan).await?;
    Ok(made)
}

fn no_event(event: EventId) -> OperatorRefusal {
    OperatorRefusal::no_such("webhook event", &event_name(event.0))
}

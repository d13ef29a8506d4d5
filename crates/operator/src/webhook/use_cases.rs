//! An account's webhooks: endpoints, events, attempts, replays, the signing secret.

use crate::account;
use crate::account::Rotation;
use crate::author::Acting;
use crate::entry::carry_out::execute_plan;
use crate::find::find_account;
use crate::input::{invalid, one_of};
use crate::refusal::{OperatorRefusal, Result};
use crate::views::paging::{Limit, Page};
use crate::webhook::views::{
    AttemptView, EndpointView, EventAttemptsView, EventView, EventsQuery, ReplayRequest, ReplayedView,
    WebhookSecretRequest, WebhookSecretView, WebhookTestView, WebhooksView,
};
use hermod_domain::shown_number::NumberKind;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{WebhookKind, event_number};
use hermod_gateway::app::webhook_body;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{NoTest, TestEvent};
use hermod_gateway::secrets::{Secret, webhook_secret};
use hermod_store::{Endpoint, EventId, REPLAYED_AT_ONCE_MAX, WebhookFilter, WebhookReplay, WebhookStatus};
use serde_json::{Value, json};

/// A test event takes no longer, except by a slow receiver.
const TEST_RETRY_S: u32 = 2;

/// Returns an account's webhook addresses and queues, without the secrets.
pub async fn show_webhooks(gateway: &Gateway, account: &str) -> Result<WebhooksView> {
    let id = find_account(gateway, account)?;
    let figures = gateway.store.webhooks().figures(id).await?;
    let catalogue = gateway.catalogue();
    let webhooks = catalogue.account(id).and_then(|account| account.account.webhooks.as_ref());
    let previous_until =
        webhooks.and_then(|webhooks| webhooks.previous.as_ref()).map(|previous| previous.until);
    let previous_until = previous_until.filter(|until| gateway.clock.now() < *until);
    Ok(WebhooksView {
        dlr_webhook: webhooks.and_then(|webhooks| webhooks.dlr_url.clone()),
        inbound_webhook: webhooks.and_then(|webhooks| webhooks.inbound_url.clone()),
        secret_staged: webhooks.is_some_and(|webhooks| webhooks.next.is_some()),
        previous_secret_until: previous_until.map(Timestamp::to_iso),
        endpoints: figures.into_iter().map(EndpointView::from).collect(),
    })
}

/// Lists webhook events of an account, the newest first.
pub async fn list_webhook_events(
    gateway: &Gateway,
    account: &str,
    query: EventsQuery,
) -> Result<Page<EventView>> {
    let states = [WebhookStatus::Waiting, WebhookStatus::Delivered, WebhookStatus::Failed];
    let status = query.state.map(|text| one_of("state", &text, states, state_text)).transpose()?;
    let filter = WebhookFilter { kind: parse_kind(query.kind)?, status };
    let id = find_account(gateway, account)?;
    let limit = Limit::of(query.limit);
    let shown = |before| gateway.numbers.read(NumberKind::Event, u64::from(before));
    let before = query.before.map(|before| EventId(shown(before)));
    let found = gateway.store.webhooks().list(id, filter, before, limit).await?;
    Ok(Page::new(found.into_iter().map(|event| EventView::new(event, &gateway.numbers)).collect(), limit))
}

const fn state_text(state: WebhookStatus) -> &'static str {
    match state {
        WebhookStatus::Waiting => "waiting",
        WebhookStatus::Delivered => "delivered",
        WebhookStatus::Failed => "failed",
    }
}

fn parse_kind(text: Option<String>) -> Result<Option<WebhookKind>> {
    text.map(|text| one_of("kind", &text, WebhookKind::ALL, WebhookKind::as_str)).transpose()
}

fn parse_event(gateway: &Gateway, name: &str) -> Result<EventId> {
    let number = event_number(&gateway.numbers, name).filter(|number| i64::try_from(*number).is_ok());
    number.map(EventId).ok_or_else(|| no_event(name))
}

fn no_event(name: &str) -> OperatorRefusal {
    OperatorRefusal::no_such("webhook event", name)
}

/// Returns an event and its stored attempts, the oldest first.
pub async fn show_webhook_event(gateway: &Gateway, account: &str, event: &str) -> Result<EventAttemptsView> {
    let (id, number) = (find_account(gateway, account)?, parse_event(gateway, event)?);
    let found = gateway.store.webhooks().find(id, number).await?.ok_or_else(|| no_event(event))?;
    let attempts = gateway.store.webhooks().attempts(id, number).await?.unwrap_or_default();
    Ok(EventAttemptsView {
        event: EventView::new(found, &gateway.numbers),
        attempts: attempts.into_iter().map(AttemptView::from).collect(),
    })
}

/// Returns the body of an event's posts; `None` if its message was purged or erased.
pub async fn webhook_event_body(gateway: &Gateway, account: &str, event: &str) -> Result<Option<String>> {
    let (id, number) = (find_account(gateway, account)?, parse_event(gateway, event)?);
    let content = gateway.store.webhooks().content(id, number).await?;
    Ok(content.as_ref().map(webhook_body))
}

/// Posts an event again, with the same id and body.
pub async fn replay_webhook(gateway: &Acting, account: &str, event: &str) -> Result<ReplayedView> {
    let (id, number) = (find_account(gateway, account)?, parse_event(gateway, event)?);
    let audited = gateway.audited(Some(id), "webhook.replay", event, &Value::Null);
    match audited.webhooks().replay(id, number, gateway.clock.now()).await? {
        WebhookReplay::Again => Ok(ReplayedView { replayed: 1, retried: 0 }),
        WebhookReplay::Unknown => Err(no_event(event)),
    }
}

/// Posts all events now that wait for a later attempt, and all again that were given up since a time, if one is given; with the same
/// ids and bodies.
pub async fn replay_webhooks(
    gateway: &Acting,
    account: &str,
    request: ReplayRequest,
) -> Result<ReplayedView> {
    let ReplayRequest { since, kind } = request;
    let since = since.as_deref().map(parse_since).transpose()?;
    let kind = parse_kind(kind)?;
    let name = account;
    let account = find_account(gateway, name)?;
    let detail = json!({ "since": since.map(Timestamp::to_iso), "kind": kind.map(WebhookKind::as_str) });
    let audited = gateway.audited(Some(account), "webhook.replay_all", name, &detail);
    audited.note_in_audit_log().await?;
    let mut done = ReplayedView { replayed: 0, retried: 0 };
    for kind in WebhookKind::ALL.into_iter().filter(|one| kind.is_none_or(|kind| kind == *one)) {
        let endpoint = Endpoint { account, kind };
        done.retried += gateway.store.webhooks().retry_waiting(endpoint, gateway.clock.now()).await?;
        if let Some(since) = since {
            done.replayed += replay_failed(gateway, endpoint, since).await?;
        }
    }
    Ok(done)
}

fn parse_since(since: &str) -> Result<Timestamp> {
    Timestamp::parse(since).ok_or_else(|| {
        let rule = "is neither a day such as 2026-11-15 nor a time such as 2026-11-15T09:30:00Z";
        invalid("since", format!("\"{since}\" {rule}"))
    })
}

/// Posts all events of an endpoint again that were given up since a time. Returns how many.
async fn replay_failed(gateway: &Acting, endpoint: Endpoint, since: Timestamp) -> Result<u64> {
    let (mut replayed, mut after) = (0, None);
    loop {
        let (store, now) = (&gateway.store, gateway.clock.now());
        let step = store.webhooks().replay_failed(endpoint, since, after, REPLAYED_AT_ONCE_MAX, now).await?;
        replayed += u64::from(step.replayed);
        after = step.next;
        if after.is_none() {
            return Ok(replayed);
        }
    }
}

/// Signs with another secret as well: the given one, or a generated one, which is returned.
pub async fn stage_webhook_secret(
    gateway: &Acting,
    account: &str,
    request: Option<WebhookSecretRequest>,
) -> Result<WebhookSecretView> {
    find_account(gateway, account)?;
    let (secret, made) = match request.unwrap_or_default().secret {
        Some(text) => (webhook_secret::read(text).map_err(|refusal| invalid("secret", refusal))?, None),
        None => {
            let made = webhook_secret::make().map_err(|error| {
                tracing::error!(%error, "No randomness for a secret");
                OperatorRefusal::Failed
            })?;
            (made.clone(), Some(made))
        }
    };
    rotate_secret(gateway, account, Rotation::Stage(secret)).await?;
    Ok(WebhookSecretView { secret: made.map(|secret| secret.reveal().to_owned()) })
}

/// Makes the staged secret the current one.
pub async fn switch_webhook_secret(gateway: &Acting, account: &str) -> Result<WebhookSecretView> {
    rotate_secret(gateway, account, Rotation::Switch).await
}

/// Discards the staged secret, or the previous one if none is staged.
pub async fn drop_webhook_secret(gateway: &Acting, account: &str) -> Result<WebhookSecretView> {
    rotate_secret(gateway, account, Rotation::Drop).await
}

async fn rotate_secret(gateway: &Acting, account: &str, rotation: Rotation) -> Result<WebhookSecretView> {
    find_account(gateway, account)?;
    let _alone = gateway.change_alone().await?;
    let rows = gateway.store.setup().rows().await?;
    let plan = account::rotate(rows, &gateway.pepper, account, &rotation, gateway.clock.now())?;
    execute_plan(gateway, plan).await?;
    Ok(WebhookSecretView { secret: None })
}

/// Returns the secret that signs an account's webhooks, and notes in the audit log who read it.
pub async fn reveal_webhook_secret(gateway: &Acting, account: &str) -> Result<Secret> {
    let id = find_account(gateway, account)?;
    let catalogue = gateway.catalogue();
    let webhooks = catalogue.account(id).and_then(|view| view.account.webhooks.as_ref());
    let webhooks = webhooks.ok_or_else(|| OperatorRefusal::no_such("webhook secret of account", account))?;
    let secret = webhook_secret::open(&gateway.pepper, id, &webhooks.secret).map_err(|unopened| {
        tracing::error!(%unopened, account, "A webhook secret cannot be opened");
        OperatorRefusal::Failed
    })?;
    let audited = gateway.audited(Some(id), "webhook_secret.reveal", account, &Value::Null);
    audited.note_in_audit_log().await?;
    Ok(secret)
}

/// Posts a signed event of an invented message to an account's webhook, once. Needs a running gateway.
pub async fn test_webhook(gateway: &Acting, account: &str, event: TestEvent) -> Result<WebhookTestView> {
    let id = find_account(gateway, account)?;
    let detail = json!({ "kind": event.kind().as_str() });
    gateway.audited(Some(id), "webhook.test", account, &detail).note_in_audit_log().await?;
    let report = gateway.webhook_tests.run(id, event).await.map_err(|none| match none {
        NoTest::Busy => OperatorRefusal::Unavailable {
            cause: "another test event is being posted: try again when it has ended",
            retry_after_s: TEST_RETRY_S,
        },
        NoTest::Stopping => OperatorRefusal::stopping(),
    })?;
    Ok(WebhookTestView::from(report))
}

//! An account's webhooks: where they go, what became of them, posting them again, and changing what they are signed with.

use super::answer::{Answer, fine};
use super::asked::{Asked, Named, cursor, limit};
use super::body::Received;
use super::desk::Desk;
use crate::app::operator::{self, OperatorRefusal, SecretStep, WebhooksSeen};
use crate::secrets::webhook_secret;
use axum::extract::State;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::payload::status_of;
use hermod_domain::webhook::{WebhookKind, event_name, event_number};
use hermod_store::{
    AttemptOutcome, EventId, GiveUpReason, WebhookAttempt, WebhookFigures, WebhookFilter, WebhookRecord,
    WebhookState, WebhookStatus,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[schema(as = Webhooks)]
pub(super) struct WebhooksShape {
    #[schema(examples("https://shop.example/dlr"))]
    dlr_webhook: Option<String>,
    inbound_webhook: Option<String>,
    /// Another secret is staged: everything is signed with it too.
    secret_staged: bool,
    /// Until when everything is signed with the secret before the last switch too.
    previous_secret_until: Option<String>,
    endpoints: Vec<EndpointShape>,
}

/// What waits and what failed at one of an account's two addresses.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookEndpoint)]
struct EndpointShape {
    /// `dlr` or `inbound`.
    #[schema(examples("dlr"))]
    kind: &'static str,
    waiting: u64,
    /// When the oldest that waits came about.
    oldest: Option<String>,
    /// Given up, and still kept.
    failed: u64,
}

impl WebhooksShape {
    fn of(seen: WebhooksSeen) -> WebhooksShape {
        let WebhooksSeen { dlr_webhook, inbound_webhook, staged, previous_until, figures } = seen;
        let endpoints = figures.into_iter().map(|WebhookFigures { kind, waiting, oldest, failed }| {
            EndpointShape { kind: kind.as_str(), waiting, oldest: oldest.map(Timestamp::to_iso), failed }
        });
        WebhooksShape {
            dlr_webhook,
            inbound_webhook,
            secret_staged: staged,
            previous_secret_until: previous_until.map(Timestamp::to_iso),
            endpoints: endpoints.collect(),
        }
    }
}

pub(super) async fn show(State(desk): State<Arc<Desk>>, Named(account): Named<String>) -> Answer {
    fine(&WebhooksShape::of(operator::webhooks_of(&desk.world, &account).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsAsked {
    kind: Option<String>,
    state: Option<String>,
    before: Option<String>,
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WebhookEvents)]
pub(super) struct EventsShape {
    items: Vec<EventShape>,
    /// Give it as `before` for the next page; nothing on the last one.
    next: Option<u64>,
}

/// One thing that is, was, or could not be posted.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookEvent)]
pub(super) struct EventShape {
    /// As receivers know it: `webhook-id`.
    #[schema(examples("evt_4711"))]
    event: String,
    #[schema(examples("dlr"))]
    kind: &'static str,
    message_id: String,
    /// What a delivery report tells.
    #[schema(examples("DELIVRD"))]
    status: Option<&'static str>,
    /// `waiting`, `delivered` or `failed`.
    #[schema(examples("failed"))]
    state: &'static str,
    /// Why it failed.
    why: Option<&'static str>,
    attempts: u32,
    /// When what it tells came about.
    at: String,
    /// When it will be posted next.
    due_at: Option<String>,
    /// When it was delivered or given up.
    ended_at: Option<String>,
}

impl EventShape {
    fn of(record: WebhookRecord) -> EventShape {
        let WebhookRecord { id, account: _, kind, message, status, state, attempts, at, due_at, ended_at } =
            record;
        EventShape {
            event: event_name(id.0),
            kind: kind.as_str(),
            message_id: message.to_string(),
            status: status.map(status_of),
            state: match state {
                WebhookState::Waiting => "waiting",
                WebhookState::Delivered => "delivered",
                WebhookState::Failed(_) => "failed",
            },
            why: match state {
                WebhookState::Waiting | WebhookState::Delivered => None,
                WebhookState::Failed(GiveUpReason::AttemptsUsedUp) => Some("every attempt failed"),
                WebhookState::Failed(GiveUpReason::NoAddress) => {
                    Some("the account had no address for it any more")
                }
                WebhookState::Failed(GiveUpReason::NothingToTell) => {
                    Some("what it tells of is not kept any more")
                }
            },
            attempts,
            at: at.to_iso(),
            due_at: due_at.map(Timestamp::to_iso),
            ended_at: ended_at.map(Timestamp::to_iso),
        }
    }
}

pub(super) async fn events(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    Asked(EventsAsked { kind, state, before, limit: most }): Asked<EventsAsked>,
) -> Answer {
    let filter =
        WebhookFilter { kind: kind.map(|text| kind_of(&text)).transpose()?, status: standing(state)? };
    let (before, most) = (cursor("before", before.as_deref())?, limit(most.as_deref())?);
    let found = operator::webhook_events(&desk.world, &account, filter, before, most).await?;
    let whole = u32::try_from(found.len()).is_ok_and(|count| count == most);
    let next = found.last().filter(|_| whole).map(|last| last.id.0);
    fine(&EventsShape { items: found.into_iter().map(EventShape::of).collect(), next })
}

fn kind_of(text: &str) -> Result<WebhookKind, OperatorRefusal> {
    WebhookKind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
        OperatorRefusal::InvalidField {
            field: "kind",
            rule: format!("\"{text}\" is neither dlr nor inbound"),
        }
    })
}

fn standing(text: Option<String>) -> Result<Option<WebhookStatus>, OperatorRefusal> {
    let Some(text) = text else { return Ok(None) };
    match text.as_str() {
        "waiting" => Ok(Some(WebhookStatus::Waiting)),
        "delivered" => Ok(Some(WebhookStatus::Delivered)),
        "failed" => Ok(Some(WebhookStatus::Failed)),
        _ => Err(OperatorRefusal::InvalidField {
            field: "state",
            rule: format!("\"{text}\" is not waiting, delivered or failed"),
        }),
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = WebhookAttempts)]
pub(super) struct AttemptsShape {
    event: EventShape,
    /// Oldest first.
    attempts: Vec<AttemptShape>,
}

/// One post and what came of it.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
struct AttemptShape {
    at: String,
    took_ms: u64,
    /// What the receiver answered.
    #[schema(examples(503))]
    status: Option<u16>,
    /// Why it came to no answer.
    failure: Option<String>,
    /// The beginning of the answer's body.
    answer: String,
}

impl AttemptShape {
    fn of(WebhookAttempt { at, took, outcome, response }: WebhookAttempt) -> AttemptShape {
        let (status, failure) = match outcome {
            AttemptOutcome::Status(status) => (Some(status), None),
            AttemptOutcome::Failed(sentence) => (None, Some(sentence)),
        };
        AttemptShape {
            at: at.to_iso(),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            status,
            failure,
            answer: String::from_utf8_lossy(&response).into_owned(),
        }
    }
}

pub(super) async fn attempts(
    State(desk): State<Arc<Desk>>,
    Named((account, event)): Named<(String, String)>,
) -> Answer {
    let (event, attempts) = operator::webhook_event(&desk.world, &account, event_id(&event)?).await?;
    let attempts = attempts.into_iter().map(AttemptShape::of).collect();
    fine(&AttemptsShape { event: EventShape::of(event), attempts })
}

fn event_id(name: &str) -> Result<EventId, OperatorRefusal> {
    let number = event_number(name).filter(|number| i64::try_from(*number).is_ok());
    number.map(EventId).ok_or_else(|| OperatorRefusal::no_such("webhook event", name))
}

#[derive(Serialize, ToSchema)]
#[schema(as = WebhooksReplayed)]
pub(super) struct ReplayedShape {
    /// So many events are posted again, with the same ids and bodies.
    replayed: u64,
}

pub(super) async fn replay_one(
    State(desk): State<Arc<Desk>>,
    Named((account, event)): Named<(String, String)>,
) -> Answer {
    operator::replay_webhook(&desk.world, &account, event_id(&event)?).await?;
    fine(&ReplayedShape { replayed: 1 })
}

/// Which events to post again.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WebhooksToReplay)]
pub(super) struct ReplayAsked {
    /// Those given up from then on: a day, or a time with its offset.
    #[schema(format = DateTime, examples("2026-11-15T09:30:00Z"))]
    since: String,
    /// `dlr` or `inbound`; both if it says nothing.
    #[schema(pattern = "^(dlr|inbound)$", examples("dlr"))]
    kind: Option<String>,
}

pub(super) async fn replay(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    body: Received,
) -> Answer {
    let ReplayAsked { since, kind } = body.json()?;
    let since = Timestamp::parse(&since).ok_or_else(|| OperatorRefusal::InvalidField {
        field: "since",
        rule: format!(
            "\"{since}\" is neither a day such as 2026-11-15 nor a time such as 2026-11-15T09:30:00Z"
        ),
    })?;
    let kind = kind.map(|text| kind_of(&text)).transpose()?;
    let replayed = operator::replay_failed_webhooks(&desk.world, &account, kind, since).await?;
    fine(&ReplayedShape { replayed })
}

/// A secret to stage, or none: then one is made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WebhookSecretGiven)]
pub(super) struct SecretGiven {
    #[schema(min_length = 16, max_length = 256, pattern = "^[!-~]*$", write_only)]
    secret: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WebhookSecret)]
pub(super) struct SecretShape {
    /// The secret that was made, shown this once.
    #[schema(examples("a2r7hq9mz4k8w3x5n6tvbycjdfgpsu2ea2r7hq9m"))]
    secret: Option<String>,
}

pub(super) async fn stage(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    body: Received,
) -> Answer {
    let given = if body.is_empty() { None } else { body.json::<SecretGiven>()?.secret };
    let given = given.map(webhook_secret::read).transpose();
    let given = given
        .map_err(|refusal| OperatorRefusal::InvalidField { field: "secret", rule: refusal.to_string() })?;
    change(&desk, &account, SecretStep::Stage(given)).await
}

pub(super) async fn switch(State(desk): State<Arc<Desk>>, Named(account): Named<String>) -> Answer {
    change(&desk, &account, SecretStep::Switch).await
}

pub(super) async fn forget(State(desk): State<Arc<Desk>>, Named(account): Named<String>) -> Answer {
    change(&desk, &account, SecretStep::Drop).await
}

async fn change(desk: &Desk, account: &str, step: SecretStep) -> Answer {
    let made = operator::change_webhook_secret(&desk.world, account, step).await?;
    fine(&SecretShape { secret: made.map(|secret| secret.reveal().to_owned()) })
}

//! An account's webhooks: endpoints, events, attempts, replays, the signing secret.

use crate::views::masking::MessageText;
use crate::views::paging::{Limit, RowNumber, paged};
use hermod_domain::shown_number::ShownNumbers;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::payload::status_of;
use hermod_domain::webhook::{event_name, shown_event_number};
use hermod_gateway::live_status::TestReport;
use hermod_store::{
    AttemptOutcome, GiveUpReason, WebhookAttempt, WebhookFigures, WebhookRecord, WebhookState,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebhooksView {
    /// Where delivery reports are posted.
    #[schema(examples("https://shop.example/dlr"))]
    pub dlr_webhook: Option<String>,
    /// Where MO messages are posted.
    pub inbound_webhook: Option<String>,
    /// Whether a next secret is staged, with which every post is signed as well.
    pub secret_staged: bool,
    /// Until then every post is signed with the previous secret as well.
    pub previous_secret_until: Option<String>,
    pub endpoints: Vec<EndpointView>,
}

/// The queue of one of an account's two webhook addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EndpointView {
    /// `dlr` or `inbound`.
    #[schema(examples("dlr"))]
    pub kind: String,
    /// Events that are not delivered yet.
    pub waiting: u64,
    /// The time of the oldest waiting event.
    pub oldest: Option<String>,
    /// Events that were given up in the last 30 days.
    pub failed: u64,
}

impl From<WebhookFigures> for EndpointView {
    fn from(WebhookFigures { kind, waiting, oldest, failed }: WebhookFigures) -> EndpointView {
        EndpointView {
            kind: kind.as_str().to_owned(),
            waiting,
            oldest: oldest.map(Timestamp::to_iso),
            failed,
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Only events of this kind: `dlr` or `inbound`.
    #[param(pattern = "^(dlr|inbound)$")]
    pub kind: Option<String>,
    /// Only events in this state: `waiting`, `delivered` or `failed`.
    #[param(pattern = "^(waiting|delivered|failed)$")]
    pub state: Option<String>,
    /// `next` of the previous page.
    pub before: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A webhook event: one delivery report or MO message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// The `webhook-id` of its posts.
    #[schema(examples("evt_4711"))]
    pub event: String,
    #[schema(examples("dlr"))]
    pub kind: String,
    pub message_id: String,
    /// The status in a delivery report.
    #[schema(examples("DELIVRD"))]
    pub status: Option<String>,
    /// `waiting`, `delivered` or `failed`.
    #[schema(examples("failed"))]
    pub state: String,
    /// Why it failed.
    pub why: Option<String>,
    pub attempts: u32,
    /// The time of the event.
    pub at: String,
    /// When the next attempt is due.
    pub due_at: Option<String>,
    /// When it was delivered or given up.
    pub ended_at: Option<String>,
}

paged!(EventView, u64, |row| shown_event_number(&row.event).unwrap_or_default());

impl EventView {
    pub fn new(record: WebhookRecord, numbers: &ShownNumbers) -> EventView {
        let WebhookRecord { id, account: _, kind, message, status, state, attempts, at, due_at, ended_at } =
            record;
        let (state, why) = match state {
            WebhookState::Waiting => ("waiting", None),
            WebhookState::Delivered => ("delivered", None),
            WebhookState::Failed(GiveUpReason::AttemptsUsedUp) => ("failed", Some("every attempt failed")),
            WebhookState::Failed(GiveUpReason::NoAddress) => {
                ("failed", Some("the account has no address for it any more"))
            }
            WebhookState::Failed(GiveUpReason::NothingToTell) => {
                ("failed", Some("its message is no longer stored"))
            }
        };
        EventView {
            event: event_name(numbers, id.0),
            kind: kind.as_str().to_owned(),
            message_id: message.to_string(),
            status: status.map(|status| status_of(status).to_owned()),
            state: state.to_owned(),
            why: why.map(str::to_owned),
            attempts,
            at: at.to_iso(),
            due_at: due_at.map(Timestamp::to_iso),
            ended_at: ended_at.map(Timestamp::to_iso),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventAttemptsView {
    pub event: EventView,
    /// The oldest first.
    pub attempts: Vec<AttemptView>,
}

/// One POST of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    pub at: String,
    pub took_ms: u64,
    /// The HTTP status of the response.
    #[schema(examples(503))]
    pub status: Option<u16>,
    /// Why there was no response.
    pub failure: Option<String>,
    /// The beginning of the response body, which can repeat the text or the number of the message.
    pub answer: MessageText,
}

impl From<WebhookAttempt> for AttemptView {
    fn from(WebhookAttempt { at, took, outcome, response }: WebhookAttempt) -> AttemptView {
        let (status, failure) = match outcome {
            AttemptOutcome::Status(status) => (Some(status), None),
            AttemptOutcome::Failed(sentence) => (None, Some(sentence)),
        };
        AttemptView {
            at: at.to_iso(),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            status,
            failure,
            answer: String::from_utf8_lossy(&response).into_owned().into(),
        }
    }
}

/// The result of a test event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookTestView {
    pub took_ms: u64,
    /// The HTTP status of the response.
    pub status: Option<u16>,
    /// Why there was no response.
    pub failure: Option<String>,
    /// The beginning of the response body.
    pub answer: MessageText,
    /// The body that was posted; empty if nothing was.
    pub body: String,
}

impl From<TestReport> for WebhookTestView {
    fn from(TestReport { took, outcome, response, body }: TestReport) -> WebhookTestView {
        let attempt = WebhookAttempt { at: Timestamp::EPOCH, took, outcome, response };
        let AttemptView { at: _, took_ms, status, failure, answer } = attempt.into();
        WebhookTestView { took_ms, status, failure, answer, body }
    }
}

/// Which events to post again besides those that wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayRequest {
    /// Also events given up since then: a day, or a time with its UTC offset. Default: only events that wait.
    #[schema(format = DateTime, examples("2026-11-15T09:30:00Z"))]
    pub since: Option<String>,
    /// `dlr` or `inbound`. Default: both.
    #[schema(pattern = "^(dlr|inbound)$", examples("dlr"))]
    pub kind: Option<String>,
}

impl crate::views::JsonBody for ReplayRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReplayedView {
    /// The number of ended events that are posted again, with the same ids and bodies.
    pub replayed: u64,
    /// The number of waiting events that are posted now instead of at their next time.
    pub retried: u64,
}

/// The secret to stage. Without one, a secret is generated.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookSecretRequest {
    #[schema(min_length = 16, max_length = 256, pattern = "^[!-~]*$", write_only)]
    pub secret: Option<String>,
}

impl crate::views::JsonBody for WebhookSecretRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebhookSecretView {
    /// The secret, if it was generated now. It cannot be read again.
    #[schema(examples("a2r7hq9mz4k8w3x5n6tvbycjdfgpsu2ea2r7hq9m"))]
    pub secret: Option<String>,
}

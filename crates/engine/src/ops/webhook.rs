//! Webhook events: DLRs and MO messages to be posted, their outcomes, and every attempt. An event's row is written in
//! the transaction of the change that it reports, and has its due time until it ends.

use crate::ops::Hidden;
use crate::ops::InboundRecord;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, WebhookKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long ended events and attempts are listed and can be replayed, at least.
pub const WEBHOOKS_KEPT: Duration = Duration::from_secs(30 * 86_400);
/// Octets of a receiver's response that are stored with an attempt.
pub const RESPONSE_KEPT_BYTES_MAX: usize = 4_096;
/// How long a customer that submits only on transmitters may have no receiver bound before its reports go to the
/// webhook.
pub const RECEIVER_AWAY_MAX: Duration = Duration::from_secs(60);
/// Events that one call of `WebhookStore::replay_failed` looks at. The caller continues behind them.
pub const REPLAYED_AT_ONCE_MAX: u32 = 1_000;
/// Events that one call of `WebhookStore::take` returns.
pub const WEBHOOKS_TAKEN_MAX: u32 = 500;
/// Attempts of one event that are kept; older ones are deleted.
pub const WEBHOOK_ATTEMPTS_KEPT: u32 = 100;
/// Endpoints that the wakeup holds. Others are found by `WebhookStore::waiting`.
pub const ENDPOINTS_WOKEN_MAX: usize = 100_000;

/// The most events that `WebhookStore::figures` counts.
pub const WEBHOOKS_COUNTED_MAX: u32 = 100_000;
/// Given-up events that a list of delivered events skips before it ends.
pub const FAILED_PASSED_OVER_MAX: u32 = 100_000;

/// The number of an event, never reused. The header `webhook-id` is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u64);

/// The queue of webhook events of one kind for one account. Endpoints do not delay each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    pub account: AccountId,
    pub kind: WebhookKind,
}

/// One event to post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEvent {
    pub id: EventId,
    pub account: AccountId,
    pub content: WebhookContent,
    /// Failed attempts since it was created or last replayed.
    pub failures: u32,
    /// All attempts.
    pub attempts: u32,
    /// It is not posted before this time.
    pub due_at: Timestamp,
}

/// What an event reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookContent {
    Dlr(DlrEvent),
    Inbound(InboundRecord),
}

impl WebhookEvent {
    pub const fn endpoint(&self) -> Endpoint {
        let kind = match self.content {
            WebhookContent::Dlr(_) => WebhookKind::Dlr,
            WebhookContent::Inbound(_) => WebhookKind::Inbound,
        };
        Endpoint { account: self.account, kind }
    }
}

/// The status of a message, with everything that the payload says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DlrEvent {
    pub message: MessageId,
    pub connection: ConnectionId,
    pub from: Sender,
    pub to: Msisdn,
    pub status: ReportStatus,
    /// The final state of the message; before its end it may lag behind `status`.
    pub state: MessageState,
    pub err: u16,
    /// When the message was accepted.
    pub submitted_at: Timestamp,
    /// When the message got this status.
    pub at: Timestamp,
    /// The form that the connection was configured for at that time: a replay has the same body.
    pub form: DlrForm,
}

/// One POST and its outcome.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookAttempt {
    pub at: Timestamp,
    pub took: Duration,
    pub outcome: AttemptOutcome,
    /// The beginning of the response's body, at most [`RESPONSE_KEPT_BYTES_MAX`].
    pub response: Vec<u8>,
}

/// The outcome of a POST.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttemptOutcome {
    /// The HTTP status of the response.
    Status(u16),
    /// There was no response; the reason, for people.
    Failed(String),
}

impl AttemptOutcome {
    pub const fn is_success(&self) -> bool {
        matches!(self, AttemptOutcome::Status(200..=299))
    }
}

/// Hides the receiver's response, which can be anything.
impl fmt::Debug for WebhookAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WebhookAttempt { at, took, outcome, response } = self;
        f.debug_struct("WebhookAttempt")
            .field("at", at)
            .field("took", took)
            .field("outcome", outcome)
            .field("response", &Hidden(&" ".repeat(response.len())))
            .finish()
    }
}

/// An attempt that was made, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledAttempt {
    pub endpoint: Endpoint,
    pub event: EventId,
    /// The event's failures when it was taken. If the tables have fewer, the event was replayed since: then a failure
    /// is recorded and the event stays due.
    pub failures: u32,
    /// None if no attempt was made, because there is no address to post to.
    pub attempt: Option<WebhookAttempt>,
    pub next: AfterAttempt,
}

/// What follows for the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AfterAttempt {
    /// The receiver accepted it.
    Delivered,
    RetryAt(Timestamp),
    GiveUp(GiveUpReason),
}

/// Why an event was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GiveUpReason {
    /// Every attempt of the schedule failed.
    AttemptsUsedUp,
    /// The account has no address for it any more.
    NoAddress,
    /// The message that it reports is deleted, or cannot be read.
    NothingToTell,
}

/// The state of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookState {
    Waiting,
    Delivered,
    Failed(GiveUpReason),
}

impl WebhookState {
    pub const fn status(self) -> WebhookStatus {
        match self {
            WebhookState::Waiting => WebhookStatus::Waiting,
            WebhookState::Delivered => WebhookStatus::Delivered,
            WebhookState::Failed(_) => WebhookStatus::Failed,
        }
    }
}

/// The state of an event without the reason, to filter a list by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookStatus {
    Waiting,
    Delivered,
    Failed,
}

/// An endpoint whose oldest event waits for a retry while no newer event was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailingEndpoint {
    pub endpoint: Endpoint,
    /// When the reported change happened. The endpoint has failed at most since then.
    pub since: Timestamp,
}

/// Which events are listed. Empty: all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookFilter {
    pub kind: Option<WebhookKind>,
    pub status: Option<WebhookStatus>,
}

/// Due events of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookPage {
    pub events: Vec<WebhookEvent>,
    /// When the first event behind these is due; none if there is none.
    pub next_due: Option<Timestamp>,
}

/// The result of replaying an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookReplay {
    /// It is due now.
    Again,
    /// The account has no such event.
    Unknown,
}

/// The result of one step of replaying given-up events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayProgress {
    pub replayed: u32,
    /// The event to continue behind; none if there are no more.
    pub next: Option<EventId>,
}

/// The figures of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookFigures {
    pub kind: WebhookKind,
    /// At most [`WEBHOOKS_COUNTED_MAX`], which means that many or more.
    pub waiting: u64,
    /// When the change that the oldest of them reports happened.
    pub oldest: Option<Timestamp>,
    /// Events that were given up within the time that they are kept, and not replayed. Limited likewise.
    pub failed: u64,
}

/// An event as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRecord {
    pub id: EventId,
    pub account: AccountId,
    pub kind: WebhookKind,
    /// The message sent or received.
    pub message: MessageId,
    /// The reported status, if it is a DLR.
    pub status: Option<ReportStatus>,
    pub state: WebhookState,
    pub attempts: u32,
    /// When the reported change happened.
    pub at: Timestamp,
    /// Set while it waits.
    pub due_at: Option<Timestamp>,
    /// When it was delivered or given up.
    pub ended_at: Option<Timestamp>,
}

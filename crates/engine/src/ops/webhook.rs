//! Webhooks: what is still to be posted to customers, what became of it, and every attempt. An event's row is written in
//! the transaction of the fact it tells, and says until its end when it is due.

use crate::ops::InboundRecord;
use crate::ops::Hidden;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, WebhookKind};
use std::fmt;
use std::time::Duration;

/// How long events that have ended and attempts are listed and can be replayed, at least.
pub const WEBHOOKS_KEPT: Duration = Duration::from_secs(30 * 86_400);
/// How much of a receiver's answer is kept with an attempt.
pub const RESPONSE_KEPT_BYTES_MAX: usize = 4_096;
/// How long a customer who submits on transmitters only may have no receiver bound before reports go to its webhook.
pub const RECEIVER_AWAY_MAX: Duration = Duration::from_secs(60);
/// Events that one call of `Store::replay_failed` looks at. Whoever asked goes on where it ended.
pub const REPLAYED_AT_ONCE_MAX: u32 = 1_000;
/// Events that one call of `Store::take_webhooks` gives.
pub const WEBHOOKS_TAKEN_MAX: u32 = 500;
/// Attempts of one event that are kept. Whoever replays one more often loses the oldest.
pub const WEBHOOK_ATTEMPTS_KEPT: u32 = 100;
/// Endpoints the wakeup remembers. Others are found by `Store::webhooks_waiting`.
pub const ENDPOINTS_WOKEN_MAX: usize = 100_000;

/// As far as `Store::webhook_figures` counts.
pub const WEBHOOKS_COUNTED_MAX: u32 = 100_000;
/// Events that a list of what was delivered passes over, because they were given up, before it ends.
pub const FAILED_PASSED_OVER_MAX: u32 = 100_000;

/// Never reused; `webhook-id` is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u64);

/// Where events queue: one endpoint of one account. None of them waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    pub account: AccountId,
    pub kind: WebhookKind,
}

/// One thing to post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEvent {
    pub id: EventId,
    pub account: AccountId,
    pub content: WebhookContent,
    /// Attempts that failed, since it came to be or was replayed.
    pub failures: u32,
    /// Attempts ever made.
    pub attempts: u32,
    /// Not before this.
    pub due_at: Timestamp,
}

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

/// What became of a message, and everything its payload says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DlrEvent {
    pub message: MessageId,
    pub connection: ConnectionId,
    pub from: Sender,
    pub to: Msisdn,
    pub status: ReportStatus,
    /// The message's own state once it has ended; before, it may be behind what is status.
    pub state: MessageState,
    pub err: u16,
    /// When it was accepted.
    pub submitted_at: Timestamp,
    /// When the message became what is status.
    pub at: Timestamp,
    /// As the connection wanted it then: a replay has the same body.
    pub form: DlrForm,
}

/// One POST and what came of it.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookAttempt {
    pub at: Timestamp,
    pub took: Duration,
    pub outcome: AttemptOutcome,
    /// The beginning of the answer's body, at most [`RESPONSE_KEPT_BYTES_MAX`].
    pub response: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver's status code.
    Status(u16),
    /// It never came to an answer; a sentence for people.
    Failed(String),
}

impl AttemptOutcome {
    pub const fn is_success(&self) -> bool {
        matches!(self, AttemptOutcome::Status(200..=299))
    }
}

/// The receiver's own words, which can hold anything.
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

/// An attempt is over: what the store is to write down. As much a fact as what a carrier says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledAttempt {
    pub endpoint: Endpoint,
    pub event: EventId,
    /// As the event said when it was taken. If the store knows of fewer, it was replayed since: then a failure is recorded,
    /// and the event stays due.
    pub failures: u32,
    /// Nothing: none was made, because there is nowhere to post to any more.
    pub attempt: Option<WebhookAttempt>,
    pub next: AfterAttempt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAttempt {
    /// The receiver has it.
    Delivered,
    RetryAt(Timestamp),
    GiveUp(GiveUpReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUpReason {
    /// Every attempt of the schedule failed.
    AttemptsUsedUp,
    /// The account has no address for it any more.
    NoAddress,
    /// What it tells of is not kept any more, or cannot be read.
    NothingToTell,
}

/// Where an event stands.
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

/// The same without the reason: what a list can be narrowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookStatus {
    Waiting,
    Delivered,
    Failed,
}

/// An endpoint whose oldest event waits for a retry while nothing newer was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailingEndpoint {
    pub endpoint: Endpoint,
    /// When what the event tells happened: the endpoint has failed since then at most.
    pub since: Timestamp,
}

/// Which events are listed. Nothing: all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookFilter {
    pub kind: Option<WebhookKind>,
    pub status: Option<WebhookStatus>,
}

/// Some of what is due at an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookPage {
    pub events: Vec<WebhookEvent>,
    /// When the first event behind these is due, or was. Nothing: none waits there.
    pub next_due: Option<Timestamp>,
}

/// What came of asking for an event once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookReplay {
    /// It is due now.
    Again,
    /// The account has no such event.
    Unknown,
}

/// What one step of replaying failed events came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayProgress {
    pub replayed: u32,
    /// Behind which to go on. Nothing: that was all.
    pub next: Option<EventId>,
}

/// How an endpoint of an account does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookFigures {
    pub kind: WebhookKind,
    /// At most [`WEBHOOKS_COUNTED_MAX`], which then means "that many or more".
    pub waiting: u64,
    /// When what the first of them tells happened.
    pub oldest: Option<Timestamp>,
    /// Given up within the time they are kept, and not replayed. Counted likewise.
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
    /// Of a delivery report.
    pub status: Option<ReportStatus>,
    pub state: WebhookState,
    pub attempts: u32,
    /// When what it tells happened.
    pub at: Timestamp,
    /// While it waits.
    pub due_at: Option<Timestamp>,
    /// When it was delivered or given up.
    pub ended_at: Option<Timestamp>,
}

//! Webhooks: URLs, secret, events and attempts.

use crate::elements::{Chip, Fact};
use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/webhooks?state=…&before=…`.
///
/// Posts to `webhooks/urls` (`dlr_webhook`, `inbound_webhook`), `webhooks/form` (`connection`, `dlr_form`), `webhooks/test`
/// (`event`), `webhooks/secret/reveal`, `webhooks/secret/stage`, `webhooks/secret/switch`, `webhooks/secret/drop`,
/// `webhooks/replay` (`since`) and `webhooks/retry`.
#[derive(Clone, Debug, Template)]
#[template(path = "webhooks.html")]
pub struct WebhooksPage {
    pub shell: Shell,
    pub dlr_webhook: Field,
    pub inbound_webhook: Field,
    /// The form of DLRs of each connection: `full` or `short`.
    pub forms: Vec<ConnectionForm>,
    pub endpoints: Vec<EndpointCard>,
    /// `None` until the first URL is saved.
    pub secret: Option<SigningSecretCard>,
    /// `dlr-full`, `dlr-short` or `inbound`.
    pub test_event: Select,
    /// The result of a test event that was just sent.
    pub test: Option<TestResult>,
    /// The latest events first.
    pub events: Vec<EventRow>,
    /// Any, `waiting`, `delivered` or `failed`.
    pub state: Select,
    /// The address of the next page.
    pub next: Option<String>,
    /// A day or a time.
    pub replay_since: Field,
    /// Whether the role may change webhooks.
    pub can_change: bool,
}

/// The form of the DLRs of one connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionForm {
    pub connection: String,
    pub form: Select,
}

/// The queue of one of the two URLs.
#[derive(Clone, Debug)]
pub struct EndpointCard {
    /// `DLRs` or `MO messages`.
    pub name: String,
    pub state: Chip,
    pub waiting: String,
    pub oldest: Option<Time>,
    /// Events given up in the last 30 days.
    pub failed: String,
}

/// The secret that signs every post.
#[derive(Clone, Debug, Default)]
pub struct SigningSecretCard {
    /// Only after the person asked for it and signed in again.
    pub revealed: Option<String>,
    /// Whether a next secret is staged: posts have a signature of each.
    pub is_staged: bool,
    /// The staged secret, shown once after it was made.
    pub staged: Option<String>,
    /// Posts are signed with the previous secret as well until then.
    pub previous_until: Option<Time>,
}

/// What the receiver answered to a test event.
#[derive(Clone, Debug)]
pub struct TestResult {
    pub state: Chip,
    /// `https://shop.example/dlr answered 200 in 84 ms.`
    pub text: String,
    /// The beginning of the response body.
    pub answer: String,
    /// The body that was posted.
    pub body: String,
}

/// An event in the list.
#[derive(Clone, Debug)]
pub struct EventRow {
    pub event: String,
    /// `DLR` or `MO`.
    pub kind: String,
    pub message: String,
    /// The status in a DLR.
    pub status: Option<String>,
    pub state: Chip,
    /// Why it was given up, or when the next attempt is due.
    pub why: Option<String>,
    pub attempts: u32,
    pub at: Time,
}

impl EventRow {
    /// Whether it is of an MO message, which has no page among the messages sent.
    pub fn is_inbound(&self) -> bool {
        self.kind == "MO"
    }
}

/// `GET /accounts/{account}/webhooks/events/{event}`. Posts to `webhooks/events/{event}/replay`.
#[derive(Clone, Debug, Template)]
#[template(path = "webhook_event.html")]
pub struct WebhookEventPage {
    pub shell: Shell,
    pub row: EventRow,
    pub facts: Vec<Fact>,
    /// The oldest first.
    pub attempts: Vec<EventAttempt>,
    pub next_attempt: Option<Time>,
    /// The JSON of its posts; `None` if its message was purged or erased.
    pub body: Option<String>,
    pub can_replay: bool,
}

/// One POST of an event.
#[derive(Clone, Debug)]
pub struct EventAttempt {
    pub at: Time,
    pub took: String,
    /// The HTTP status or the failure in two words.
    pub result: Chip,
    /// The failure in a sentence, if there was no response.
    pub failure: Option<String>,
    /// The beginning of the response body.
    pub answer: String,
}

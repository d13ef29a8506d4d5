//! Which node posts webhooks to which endpoint, where several nodes share a store: what the nodes tell each other about it.

use super::inbox::Inbox;
use hermod_domain::time::Timestamp;
use hermod_store::{AttemptOutcome, Endpoint, NodeRun};
use serde::{Deserialize, Serialize};

/// Messages of nodes that wait for the webhook edge. What is lost is said again soon.
const UNREAD_MAX: usize = 256;

/// An endpoint without a successful post since `since`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    pub since: Timestamp,
    /// The URL of the last post; `None` if there was none since the start.
    pub url: Option<String>,
    /// The outcome of the last post.
    pub last: Option<AttemptOutcome>,
}

/// What nodes tell each other about posting webhooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PostingMessage {
    Order(PostingOrder),
    Notice(PostingNotice),
}

/// From the node with the engine to one that is to post.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostingOrder {
    /// Endpoints that another node posts to.
    pub leave: Vec<Endpoint>,
    /// Endpoints with due events, and how those fail that do.
    pub post_to: Vec<(Endpoint, Option<Failing>)>,
}

/// From a node that posts to the node with the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostingNotice {
    /// The endpoints that it does not post to any more.
    pub ended: Vec<EndedPosting>,
    /// Endpoints that began or ceased to fail.
    pub changed: Vec<(Endpoint, Option<Failing>)>,
    /// All endpoints that it posts to. Said every second.
    pub posting_to: Option<Vec<Endpoint>>,
    /// It is about to stop, and takes no more endpoints.
    pub is_leaving: bool,
}

/// An endpoint that a node has nothing more to post to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedPosting {
    pub endpoint: Endpoint,
    pub next_due: Option<Timestamp>,
    pub failing: Option<Failing>,
}

/// The messages of other nodes to the webhook edge of this one. One is lost if too many wait.
pub type WebhookPosting = Inbox<(NodeRun, PostingMessage)>;

impl Default for WebhookPosting {
    fn default() -> WebhookPosting {
        Inbox::of(UNREAD_MAX)
    }
}

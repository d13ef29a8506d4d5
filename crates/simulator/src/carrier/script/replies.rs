//! Verbs about replies: what the handset that got a message sends back.

use std::sync::Arc;
use std::time::Duration;

use super::Script;
use crate::carrier::when::When;

/// A text that a handset sends to the sender of the message it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandsetReply {
    /// Counted from the answer to the submit.
    pub after: Duration,
    pub text: String,
}

impl Script {
    /// The handset answers each of these messages that is taken, once for a message of several parts.
    #[must_use]
    pub fn reply_when(mut self, when: When, after: Duration, text: &str) -> Script {
        let reply = HandsetReply { after, text: text.to_owned() };
        self.replies.list.push((when, Some(Arc::new(reply))));
        self
    }
}

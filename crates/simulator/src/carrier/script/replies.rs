//! Verbs about replies: what the handset that got a message sends back.

use std::sync::Arc;
use std::time::Duration;

use super::Script;
use crate::carrier::submit_filter::SubmitFilter;

/// A text that a handset sends to the sender of the message it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoReply {
    /// Counted from the answer to the submit.
    pub after: Duration,
    pub text: String,
}

impl Script {
    /// The handset answers each of these messages that is taken, once for a message of several parts.
    #[must_use]
    pub fn reply_when(mut self, when: SubmitFilter, after: Duration, text: &str) -> Script {
        let reply = MoReply { after, text: text.to_owned() };
        self.replies.list.push((when, Some(Arc::new(reply))));
        self
    }

    /// No phone can answer a name: replies to messages from one go to this number instead.
    #[must_use]
    pub fn reply_number_for_names(mut self, number: &str) -> Script {
        self.reply_number_for_names = Some(number.trim_start_matches('+').to_owned());
        self
    }
}

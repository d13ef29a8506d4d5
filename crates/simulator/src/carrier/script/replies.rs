//! Script methods for MO replies of recipients.

use std::time::Duration;

use serde::Deserialize;

use super::Script;
use crate::carrier::submit_filter::SubmitFilter;
use crate::duration::deserialize_duration;

/// A text that the recipient sends to the sender of a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoReply {
    /// Time from the response to the submit.
    #[serde(deserialize_with = "deserialize_duration")]
    pub after: Duration,
    pub text: String,
}

impl Script {
    /// Replies to each accepted message that matches; once per message, also where it has several parts.
    #[must_use]
    pub fn reply_when(mut self, when: SubmitFilter, after: Duration, text: &str) -> Script {
        self.replies.add(when, Some(MoReply { after, text: text.to_owned() }));
        self
    }

    /// Sends replies to messages with an alphanumeric sender to this number, because a handset cannot reply to a name.
    #[must_use]
    pub fn reply_number_for_names(mut self, number: &str) -> Script {
        self.reply_number_for_names = Some(number.to_owned());
        self
    }
}

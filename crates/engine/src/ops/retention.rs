//! How long things are kept, and what a step of purging came to.

use std::time::Duration;

/// How long things are kept after they came to be. A record outlives its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The text of messages, and everything else of theirs that quotes it.
    pub text: Duration,
    /// The records of messages: whole UTC days.
    pub messages: Duration,
    /// Idempotency keys: whole UTC days, and never longer than the records of their messages.
    pub idempotency_keys: Duration,
    /// Messages from handsets.
    pub inbound: Duration,
}

/// What one step did. The next one is due as long as it did anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Messages whose text is gone.
    pub texts: u64,
    /// 1 if idempotency keys became void by age. Their rows are deleted when they are merged.
    pub keys: u64,
    /// Messages whose record is gone.
    pub messages: u64,
    pub inbound: u64,
    /// Ids that carriers gave.
    pub carrier_ids: u64,
    /// Webhook events that have ended.
    pub webhook_events: u64,
    /// Reports that were given up.
    pub given_up_reports: u64,
}

impl Purged {
    pub fn is_nothing(self) -> bool {
        self == Purged::default()
    }
}

//! How long data is kept, and what a purge step deleted.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long data is kept after its creation. A record is kept longer than its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// Texts of messages, and everything that quotes them.
    pub text: Duration,
    /// Records of messages, in whole UTC days.
    pub messages: Duration,
    /// Idempotency keys, in whole UTC days; never longer than the records of their messages.
    pub idempotency_keys: Duration,
    /// MO messages.
    pub inbound: Duration,
    /// Lines of the request log, which is in the record.
    pub requests: Duration,
}

/// What one purge step deleted. Another step is due as long as it is not empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Messages whose text was deleted.
    pub texts: u64,
    /// 1 if idempotency keys became void by age. Their rows are deleted when their buckets are merged.
    pub keys: u64,
    /// Messages whose record was deleted.
    pub messages: u64,
    pub inbound: u64,
    /// Carrier ids.
    pub carrier_ids: u64,
    /// Webhook events that have ended.
    pub webhook_events: u64,
    /// Given-up reports.
    pub given_up_reports: u64,
}

impl Purged {
    pub fn is_nothing(self) -> bool {
        self == Purged::default()
    }
}

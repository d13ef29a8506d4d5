//! What a link may do once a batch is durable.

use crate::ops::{Job, Recorded};

/// What a link may do now that it is durable.
#[derive(Debug, Default)]
pub struct Handout {
    /// Claimed parts: write their bytes.
    pub jobs: Vec<Job>,
    /// Receipts that are recorded: answer them.
    pub recorded: Vec<Recorded>,
    /// MO messages that are stored, by sequence number: answer them.
    pub received: Vec<u32>,
}

impl Handout {
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.recorded.is_empty() && self.received.is_empty()
    }
}

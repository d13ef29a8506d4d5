//! The table of messages held for review, and the decisions about them.

use crate::ops::{APPROVAL_LASTS, ReviewCase, ReviewState, Screened};
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The status of a review case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewStatus {
    pub id: u64,
    pub state: ReviewState,
    pub decided_at: Option<Timestamp>,
    pub last_at: Timestamp,
    /// How many times a message was held for it.
    pub seen: u64,
}

impl ReviewStatus {
    /// Whether a message of this case passes at a time: the case was approved, and the approval lasts.
    pub fn is_approved_at(&self, now: Timestamp) -> bool {
        let lasts = |at: Timestamp| now < at.plus(APPROVAL_LASTS);
        self.state == ReviewState::Approved && self.decided_at.is_some_and(lasts)
    }
}

/// What changes when a decided case is opened again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReopenedReview {
    pub to: Msisdn,
    pub rules: Vec<String>,
    /// When it was opened and last matched.
    pub at: Timestamp,
    pub seen: u64,
}

/// A change of the table.
#[derive(Clone, Serialize, Deserialize)]
pub enum ReviewChange {
    /// An open case that was matched once.
    Add {
        id: u64,
        screened: Box<Screened>,
    },
    /// When a case was last matched, and how often.
    Met {
        id: u64,
        last_at: Timestamp,
        seen: u64,
    },
    /// A case is open, without a decision.
    Reopen {
        id: u64,
        reopened: ReopenedReview,
    },
    Decision {
        id: u64,
        state: ReviewState,
        at: Timestamp,
        by: String,
        /// What the customer reads; empty for none.
        reason: String,
    },
    Delete(u64),
}

/// Reads and writes messages held for review, and the decisions about them.
pub trait ReviewRows {
    /// Returns the highest id that any case has or had; 0 if there was none.
    fn last_review(&self) -> Result<u64, TableError>;

    /// Applies a change.
    fn change_review(&self, change: &ReviewChange) -> Result<(), TableError>;

    fn review(&self, id: u64) -> Result<Option<ReviewCase>, TableError>;

    /// Returns the case of an account's text and sender, by their digest.
    fn review_by_digest(
        &self,
        account: AccountId,
        digest: &[u8; 16],
    ) -> Result<Option<ReviewStatus>, TableError>;

    /// Returns the status of a case.
    fn review_status(&self, id: u64) -> Result<Option<ReviewStatus>, TableError>;

    /// Returns how many open cases an account has, counted up to a limit.
    fn count_open_reviews(&self, account: AccountId, limit: u32) -> Result<u32, TableError>;
}

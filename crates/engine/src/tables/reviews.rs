//! The table of messages held for review, and the decisions about them.

use crate::ops::{ReviewCase, ReviewState, Screened};
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;

/// Where a review case stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewStanding {
    pub id: u64,
    pub state: ReviewState,
    pub decided_at: Option<Timestamp>,
    pub last_at: Timestamp,
    /// How many times a message was held for it.
    pub seen: u64,
}

/// What changes when a decided case is opened again.
#[derive(Clone, Copy, Debug)]
pub struct ReopenedReview<'a> {
    pub to: Msisdn,
    pub rules: &'a [String],
    /// When it was opened and last met.
    pub at: Timestamp,
    pub seen: u64,
}

/// Reads and writes messages held for review, and the decisions about them.
pub trait ReviewRows {
    fn review(&self, id: u64) -> Result<Option<ReviewCase>, TableError>;

    /// Returns the case of an account's text and sender, by their digest.
    fn review_by_digest(
        &self,
        account: AccountId,
        digest: &[u8; 16],
    ) -> Result<Option<ReviewStanding>, TableError>;

    /// Returns where a case stands.
    fn review_standing(&self, id: u64) -> Result<Option<ReviewStanding>, TableError>;

    /// Returns how many open cases an account has, counted up to a limit.
    fn count_open_reviews(&self, account: AccountId, limit: u32) -> Result<u32, TableError>;

    /// Writes a case that is open and was met once, and returns its id, which no case had before.
    fn add_review(&self, screened: &Screened) -> Result<u64, TableError>;

    /// Writes when a case was last met and how often.
    fn put_review_met(&self, id: u64, last_at: Timestamp, seen: u64) -> Result<(), TableError>;

    /// Writes that a case is open, without a decision.
    fn put_review_open(&self, id: u64, reopened: &ReopenedReview<'_>) -> Result<(), TableError>;

    /// Writes the decision about a case.
    fn put_review_decision(
        &self,
        id: u64,
        state: ReviewState,
        at: Timestamp,
        by: &str,
    ) -> Result<(), TableError>;

    fn delete_review(&self, id: u64) -> Result<(), TableError>;
}

//! The tables of messages held for review, with the decisions about them, and of the last id.

use crate::ops::{APPROVAL_LASTS, Hidden};
use crate::tables::TableError;
use crate::tables::columns::{OnlyRow, one_column};
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One text of one sender that is held, however often it was submitted.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCase {
    pub id: u64,
    pub account: AccountId,
    /// A digest of account, sender and text. No other case of the account has it.
    #[serde(with = "hermod_domain::octets")]
    pub digest: [u8; 16],
    pub from: Sender,
    /// The first recipient.
    pub to: Msisdn,
    pub text: String,
    pub rules: Vec<String>,
    pub opened_at: Timestamp,
    pub last_at: Timestamp,
    /// How many times it was held.
    pub seen: u64,
    pub state: ReviewState,
    pub decided_at: Option<Timestamp>,
    /// Empty until it is decided.
    pub decided_by: String,
    /// The reason that the customer reads; may be empty.
    pub reason: String,
}

/// The state of a case. Stored as small integers: add, never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReviewState {
    Open,
    Approved,
    Rejected,
}

impl ReviewState {
    pub const fn to_stored(self) -> i64 {
        match self {
            ReviewState::Open => 0,
            ReviewState::Approved => 1,
            ReviewState::Rejected => 2,
        }
    }

    pub const fn from_stored(number: i64) -> Option<ReviewState> {
        Some(match number {
            0 => ReviewState::Open,
            1 => ReviewState::Approved,
            2 => ReviewState::Rejected,
            _ => return None,
        })
    }
}

impl ReviewCase {
    /// Whether a message of this case passes at a time: the case was approved, and the approval lasts.
    pub fn is_approved_at(&self, now: Timestamp) -> bool {
        let lasts = |at: Timestamp| now < at.plus(APPROVAL_LASTS);
        self.state == ReviewState::Approved && self.decided_at.is_some_and(lasts)
    }
}

impl fmt::Debug for ReviewCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReviewCase { id, account, from, to, text, rules, state, seen, .. } = self;
        f.debug_struct("ReviewCase")
            .field("id", id)
            .field("account", account)
            .field("from", from)
            .field("to", to)
            .field("text", &Hidden(text))
            .field("rules", rules)
            .field("state", state)
            .field("seen", seen)
            .finish_non_exhaustive()
    }
}

/// The highest id that any case has or had, so that none is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCounter {
    pub last: u64,
}

one_column! {
    ReviewState: Number, |state| state.to_stored(), |number| ReviewState::from_stored(number);
}

stored_table! {
    review: ReviewCase {
        id, account, digest, from => source, to => dest, text as MessageText, rules, opened_at, last_at, seen, state,
        decided_at, decided_by, reason,
    },
    key (id: u64),
    indexes [
        "UNIQUE INDEX review_text ON review (account, digest)",
        "INDEX review_state ON review (state)",
        "INDEX review_open ON review (account) WHERE state = 0",
        "INDEX review_account ON review (account, id)",
    ]
}
stored_table! { review_counter: ReviewCounter { last }, one row }

/// Reads messages held for review, and the decisions about them.
pub trait ReviewRows {
    /// Returns the highest id that any case has or had; 0 if there was none.
    fn last_review(&self) -> Result<u64, TableError>;

    fn review(&self, id: u64) -> Result<Option<ReviewCase>, TableError>;

    /// Returns the case of an account's text and sender, by their digest.
    fn review_by_digest(
        &self,
        account: AccountId,
        digest: &[u8; 16],
    ) -> Result<Option<ReviewCase>, TableError>;

    /// Returns how many open cases an account has, counted up to a limit.
    fn count_open_reviews(&self, account: AccountId, limit: u32) -> Result<u32, TableError>;
}

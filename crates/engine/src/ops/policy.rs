//! Opt-outs, and reviews of texts that a screening rule holds.

use crate::ops::Hidden;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long an approval is valid, from the decision.
pub const APPROVAL_LASTS: Duration = Duration::from_secs(7 * 24 * 3600);
/// Open cases of one account. Texts beyond that are held without a case.
pub const REVIEW_CASES_OPEN_MAX: u32 = 10_000;
/// How long a case is kept after it was last matched, decided or not.
pub const REVIEW_CASE_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The most cases that `Store::open_reviews` counts.
pub const OPEN_REVIEWS_COUNTED_MAX: u32 = 100_000;

/// Cases that wait for a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenReviews {
    /// At most [`OPEN_REVIEWS_COUNTED_MAX`].
    pub count: u64,
    /// When the oldest of them was opened.
    pub oldest: Option<Timestamp>,
}

/// An opt-out of a handset from an account's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptOut {
    pub account: AccountId,
    pub number: Msisdn,
    /// The opt-out keyword that it sent, or the operator who entered it.
    pub how: String,
    pub now: Timestamp,
}

/// A message that a screening rule matches.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screened {
    pub account: AccountId,
    pub from: Sender,
    pub to: Msisdn,
    pub text: String,
    /// A digest of account, sender and text. An approval is valid for all messages with the same digest.
    #[serde(with = "hermod_domain::octets")]
    pub digest: [u8; 16],
    /// The names of the rules that match.
    pub rules: Vec<String>,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Screening {
    /// It was approved within [`APPROVAL_LASTS`].
    Passed,
    /// Held for review. `None` if the account has too many open cases.
    Held { case: Option<u64> },
}

/// One text of one sender that is held, however often it was submitted.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCase {
    pub id: u64,
    pub account: AccountId,
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

impl fmt::Debug for Screened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Screened { account, from, to, text, digest: _, rules, now } = self;
        f.debug_struct("Screened")
            .field("account", account)
            .field("from", from)
            .field("to", to)
            .field("text", &Hidden(text))
            .field("rules", rules)
            .field("now", now)
            .finish_non_exhaustive()
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

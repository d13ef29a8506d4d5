//! What keeps a message from being sent: recipients who opted out, and texts that somebody has to look at first.

use crate::ops::Hidden;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use std::fmt;
use std::time::Duration;

/// How long an approved text passes, counted from the decision.
pub const APPROVAL_LASTS: Duration = Duration::from_secs(7 * 24 * 3600);
/// Open cases an account can have. What is held beyond that is held without a case of its own.
pub const REVIEW_CASES_OPEN_MAX: u32 = 10_000;
/// A case nobody has met again for this long is forgotten, decided or not.
pub const REVIEW_CASE_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// As far as `Store::open_reviews` counts.
pub const OPEN_REVIEWS_COUNTED_MAX: u32 = 100_000;

/// Cases that wait for a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenReviews {
    /// At most [`OPEN_REVIEWS_COUNTED_MAX`].
    pub count: u64,
    /// When the oldest of them was opened.
    pub oldest: Option<Timestamp>,
}

/// A handset that wants no more messages from an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptOut {
    pub account: AccountId,
    pub number: Msisdn,
    /// The stop word it sent, or who entered it.
    pub how: String,
    pub now: Timestamp,
}

/// A message that a screening rule has met.
#[derive(Clone, PartialEq, Eq)]
pub struct Screened {
    pub account: AccountId,
    pub from: Sender,
    pub to: Msisdn,
    pub text: String,
    /// Of account, sender and text: what an approval is for.
    pub digest: [u8; 16],
    /// The names of the rules.
    pub rules: Vec<String>,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screening {
    /// It was approved lately.
    Passed,
    /// `None` if the account has too many open cases already.
    Held { case: Option<u64> },
}

/// One text of one sender that is held, however often it was tried.
#[derive(Clone, PartialEq, Eq)]
pub struct ReviewCase {
    pub id: u64,
    pub account: AccountId,
    pub from: Sender,
    /// The recipient it was first tried for.
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
}

/// Stored as small integers: add, never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

//! Reviews of texts that a screening rule holds.

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

/// The most cases that `ReviewStore::count_open` counts.
pub const OPEN_REVIEWS_COUNTED_MAX: u32 = 100_000;

/// Cases that wait for a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenReviews {
    /// At most [`OPEN_REVIEWS_COUNTED_MAX`].
    pub count: u64,
    /// When the oldest of them was opened.
    pub oldest: Option<Timestamp>,
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

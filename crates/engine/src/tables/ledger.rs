//! The table of ledger entries.

use crate::ops::{Balance, LedgerKind, LedgerRow};
use crate::tables::{MessageRange, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};

/// The row of a posting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Posting {
    pub id: i64,
    pub account: AccountId,
    pub at: Timestamp,
    pub kind: LedgerKind,
    pub change: Balance,
    /// The message that a refund is for.
    pub message: Option<MessageId>,
    pub reference: Option<String>,
    pub note: String,
}

/// The posting that refunded a message's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    pub message: MessageId,
    pub at: Timestamp,
    pub amount: Money,
}

/// The rolled-up costs or refunds of one account and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RolledUpKey {
    pub account: AccountId,
    pub day: Day,
    pub kind: LedgerKind,
}

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LedgerChange {
    Add(Posting),
    /// The postings that refunded these messages are deleted.
    DeleteRefunds(MessageRange),
    /// The amount of a rolled-up posting that has a row.
    RolledUp {
        key: RolledUpKey,
        amount: Money,
    },
}

/// Reads and writes postings to accounts.
pub trait LedgerRows {
    /// Returns the highest id of a posting; 0 if there is none.
    fn last_posting(&self) -> Result<i64, TableError>;

    /// Applies a change.
    fn change_ledger(&self, change: &LedgerChange) -> Result<(), TableError>;

    /// Returns the account's posting that has this reference.
    fn posting_by_reference(
        &self,
        account: AccountId,
        reference: &str,
    ) -> Result<Option<LedgerRow>, TableError>;

    /// Returns the postings that refunded these messages, in the order of the messages.
    fn refunds(&self, range: MessageRange) -> Result<Vec<Refund>, TableError>;

    /// Returns the amount of a rolled-up posting.
    fn rolled_up_amount(&self, key: RolledUpKey) -> Result<Option<Money>, TableError>;
}

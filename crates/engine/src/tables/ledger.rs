//! The table of postings to accounts.

use crate::ops::{Balance, LedgerKind, LedgerRow};
use crate::tables::{MessageRange, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::{Day, Timestamp};

/// A posting that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewPosting<'a> {
    pub account: AccountId,
    pub at: Timestamp,
    pub kind: LedgerKind,
    pub change: Balance,
    /// The message that a refund is for.
    pub message: Option<MessageId>,
    pub reference: Option<&'a str>,
    pub note: &'a str,
}

/// The posting that gave a message's cost back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    pub message: MessageId,
    pub at: Timestamp,
    pub amount: Money,
}

/// Costs or refunds of one account and day, of messages whose records are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RolledUpKey {
    pub account: AccountId,
    pub day: Day,
    pub kind: LedgerKind,
}

/// Reads and writes postings to accounts.
pub trait LedgerRows {
    /// Returns the account's posting that has this reference.
    fn posting_by_reference(
        &self,
        account: AccountId,
        reference: &str,
    ) -> Result<Option<LedgerRow>, TableError>;

    /// Writes a posting and returns its id, which is higher than that of every posting in the table.
    fn add_posting(&self, posting: &NewPosting<'_>) -> Result<i64, TableError>;

    /// Returns the postings that refunded these messages, in the order of the messages.
    fn refunds(&self, range: MessageRange) -> Result<Vec<Refund>, TableError>;

    /// Deletes the postings that refunded these messages.
    fn delete_refunds(&self, range: MessageRange) -> Result<(), TableError>;

    /// Returns the amount of a rolled-up posting.
    fn rolled_up_amount(&self, key: RolledUpKey) -> Result<Option<Money>, TableError>;

    /// Writes a rolled-up posting, new or not. A new one gets an id as with `add_posting`.
    fn put_rolled_up(&self, key: RolledUpKey, amount: Money) -> Result<(), TableError>;
}

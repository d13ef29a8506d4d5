//! The tables of accounts' money: balances, what was sent per day, and ledger entries.

use crate::ops::{Balance, DayTotals, LedgerKind, LedgerRow};
use crate::tables::columns::one_column;
use crate::tables::described::{stored_fields, stored_table};
use crate::tables::{MessageRange, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};

/// The balance of an account.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BalanceRow {
    pub account: AccountId,
    pub balance: Balance,
}

/// What an account sent on a day.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DayTotalsRow {
    pub account: AccountId,
    pub totals: DayTotals,
}

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
    pub note: String,
    pub reference: Option<String>,
}

impl From<Posting> for LedgerRow {
    fn from(posting: Posting) -> LedgerRow {
        let Posting { id, account: _, at, kind, change, message, note, reference } = posting;
        let Balance { balance, credit_used } = change;
        LedgerRow { id, at, kind, balance, credit_used, message, reference, note }
    }
}

/// The posting that refunded a message's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    pub message: MessageId,
    pub at: Timestamp,
    pub amount: Money,
}

/// The rolled-up costs or refunds of one account and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RolledUpKey {
    pub account: AccountId,
    pub day: Day,
    pub kind: LedgerKind,
}

one_column! {
    LedgerKind: Number, |kind| kind.to_stored(), |number| LedgerKind::from_stored(number);
}

stored_fields! { Balance { balance, credit_used } }
stored_fields! { DayTotals { day, messages, spend } }

stored_table! { balance: BalanceRow { account, balance }, key (account: AccountId) }
stored_table! { daily: DayTotalsRow { account, totals }, key (account: AccountId, totals.day: Day) }
stored_table! {
    ledger: Posting { id, account, at, kind, change, message, note, reference }, key (id: i64),
    indexes [
        "INDEX ledger_account ON ledger (account, id)",
        "UNIQUE INDEX ledger_one_refund ON ledger (message) WHERE message IS NOT NULL",
        "UNIQUE INDEX ledger_reference ON ledger (account, reference) WHERE reference IS NOT NULL",
        "INDEX ledger_at ON ledger (account, at)",
        "UNIQUE INDEX ledger_rolled_up ON ledger (account, at, kind) WHERE kind IN (6, 7)",
    ]
}

/// Reads the balance of each account.
pub trait BalanceRows {
    /// Returns every account that has a row.
    fn all_balances(&self) -> Result<Vec<(AccountId, Balance)>, TableError>;
}

/// Reads what each account sent per day.
pub trait DayTotalRows {
    /// Returns the totals of every account that has a balance and sent on this day.
    fn day_totals_on(&self, day: Day) -> Result<Vec<(AccountId, DayTotals)>, TableError>;
}

/// Reads postings to accounts.
pub trait LedgerRows {
    /// Returns the highest id of a posting; 0 if there is none.
    fn last_posting(&self) -> Result<i64, TableError>;

    /// Returns the account's posting that has this reference.
    fn posting_by_reference(
        &self,
        account: AccountId,
        reference: &str,
    ) -> Result<Option<LedgerRow>, TableError>;

    /// Returns the postings that refunded these messages, in the order of the messages.
    fn refunds(&self, range: MessageRange) -> Result<Vec<Refund>, TableError>;

    /// Returns a rolled-up posting.
    fn rolled_up(&self, key: RolledUpKey) -> Result<Option<Posting>, TableError>;
}

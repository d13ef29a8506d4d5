//! Balances, daily totals, ledger entries and statements.

use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};

/// The funds and the credit in use of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balance {
    pub balance: Money,
    /// Invoiced and not paid yet. A negative balance is not part of it.
    pub credit_used: Money,
}

impl Balance {
    /// Adds both figures. None if one overflows.
    pub fn checked_add(self, change: Balance) -> Option<Balance> {
        Some(Balance {
            balance: self.balance.checked_add(change.balance)?,
            credit_used: self.credit_used.checked_add(change.credit_used)?,
        })
    }

    /// Returns what an account with this credit limit may spend: what is available minus the minimum that must remain. None
    /// if it overflows.
    pub fn spendable(self, credit_limit: Money, minimum: Money) -> Option<Money> {
        let available = self.balance.checked_add(credit_limit)?.checked_sub(self.credit_used)?;
        available.checked_sub(minimum)
    }

    pub fn checked_sub(self, change: Balance) -> Option<Balance> {
        Some(Balance {
            balance: self.balance.checked_sub(change.balance)?,
            credit_used: self.credit_used.checked_sub(change.credit_used)?,
        })
    }
}

/// The limits of an account for one UTC day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyLimits {
    pub messages_max: Option<u64>,
    pub spend_max: Option<Money>,
}

/// The limit that a message would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DailyLimit {
    Messages,
    Spend,
}

/// What an account submitted on a UTC day, including refunded messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayTotals {
    pub day: Day,
    pub messages: u64,
    pub spend: Money,
}

impl DayTotals {
    pub const fn none(day: Day) -> DayTotals {
        DayTotals { day, messages: 0, spend: Money::ZERO }
    }

    /// Returns the totals with one more message, or the limit that it would exceed.
    pub fn with_message(self, cost: Money, limits: DailyLimits) -> Result<DayTotals, DailyLimit> {
        let messages = self.messages + 1;
        if limits.messages_max.is_some_and(|messages_max| messages > messages_max) {
            return Err(DailyLimit::Messages);
        }
        // A sum that overflows exceeds any limit.
        let spend = self.spend.checked_add(cost).ok_or(DailyLimit::Spend)?;
        if limits.spend_max.is_some_and(|spend_max| spend > spend_max) {
            return Err(DailyLimit::Spend);
        }
        Ok(DayTotals { day: self.day, messages, spend })
    }
}

/// A change of a balance that is not a message's charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    pub account: AccountId,
    pub kind: LedgerKind,
    /// Above zero; only an adjustment may be negative.
    pub amount: Money,
    pub note: String,
    /// The poster's own id for the entry, unique within the account: posting it again changes nothing.
    pub reference: Option<String>,
    pub now: Timestamp,
}

/// The kind of a ledger entry. Stored as small integers: add, never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LedgerKind {
    /// A deposit: adds to the balance.
    TopUp,
    /// The refund of a message's cost. Posted only by the engine.
    Refund,
    /// A manual correction of the balance, up or down.
    Adjustment,
    /// Bills a negative balance: adds the amount to the balance and to the credit in use.
    Invoice,
    /// Pays an invoice: reduces the credit in use. Any excess is added to the balance.
    Payment,
    /// A day's costs of messages whose records are deleted. Posted only by the engine.
    RolledUpCosts,
    /// A day's refunds of messages whose records are deleted. Posted only by the engine.
    RolledUpRefunds,
}

impl LedgerKind {
    pub const fn to_stored(self) -> i64 {
        match self {
            LedgerKind::TopUp => 1,
            LedgerKind::Refund => 2,
            LedgerKind::Adjustment => 3,
            LedgerKind::Invoice => 4,
            LedgerKind::Payment => 5,
            LedgerKind::RolledUpCosts => 6,
            LedgerKind::RolledUpRefunds => 7,
        }
    }

    pub const fn from_stored(number: i64) -> Option<LedgerKind> {
        Some(match number {
            1 => LedgerKind::TopUp,
            2 => LedgerKind::Refund,
            3 => LedgerKind::Adjustment,
            4 => LedgerKind::Invoice,
            5 => LedgerKind::Payment,
            6 => LedgerKind::RolledUpCosts,
            7 => LedgerKind::RolledUpRefunds,
            _ => return None,
        })
    }
}

/// The result of posting an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PostOutcome {
    Posted {
        entry: i64,
        balance: Balance,
    },
    /// An entry with the same reference, kind and amount was posted before.
    Repeated {
        entry: i64,
        /// The current balance, not the one after that entry.
        balance: Balance,
    },
    Refused(PostRefusal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum PostRefusal {
    #[error("the amount must be more than zero")]
    NotPositive,
    #[error("an adjustment must not be zero")]
    Zero,
    #[error("the balance would exceed the largest amount")]
    TooLarge,
    #[error("the reference was used before for another kind of entry or another amount")]
    ReferenceTaken,
    #[error("only the gateway posts refunds and rolled-up entries")]
    RefundsAreAutomatic,
}

/// A ledger entry as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    pub id: i64,
    pub at: Timestamp,
    pub kind: LedgerKind,
    /// What it added to the balance.
    pub balance: Money,
    /// What it added to the credit in use.
    pub credit_used: Money,
    /// The message that a refund is for.
    pub message: Option<MessageId>,
    pub reference: Option<String>,
    pub note: String,
}

impl LedgerRow {
    pub fn change(&self) -> Balance {
        Balance { balance: self.balance, credit_used: self.credit_used }
    }
}

/// An account's movements over some days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub opening: Balance,
    /// In order of time; a day's charges follow its entries.
    pub lines: Vec<StatementLine>,
    /// Exactly the opening plus all lines.
    pub closing: Balance,
    /// There were more lines than a statement holds. It ends with its last line.
    pub cut_off: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementLine {
    Entry(LedgerRow),
    /// The cost of a day's messages.
    Charges(DayTotals),
}

impl StatementLine {
    pub fn change(&self) -> Balance {
        match self {
            StatementLine::Entry(row) => row.change(),
            StatementLine::Charges(totals) => Balance {
                balance: totals.spend.checked_neg().expect("what was spent is not negative"),
                credit_used: Money::ZERO,
            },
        }
    }
}

#[cfg(test)]
#[path = "money_tests.rs"]
mod tests;

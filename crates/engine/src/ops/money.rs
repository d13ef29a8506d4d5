//! Money beside the messages: what accounts have, owe and have spent, and the entries that change it.

use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::time::{Day, Timestamp};

/// What an account has and owes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    pub balance: Money,
    /// Invoiced and not paid yet. What the balance itself shows is not in it.
    pub credit_used: Money,
}

impl Balance {
    /// Both figures together, or nothing if one of them overflows.
    pub fn checked_add(self, change: Balance) -> Option<Balance> {
        Some(Balance {
            balance: self.balance.checked_add(change.balance)?,
            credit_used: self.credit_used.checked_add(change.credit_used)?,
        })
    }

    pub fn checked_sub(self, change: Balance) -> Option<Balance> {
        Some(Balance {
            balance: self.balance.checked_sub(change.balance)?,
            credit_used: self.credit_used.checked_sub(change.credit_used)?,
        })
    }
}

/// How much an account may send on one UTC day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DailyLimits {
    pub messages_max: Option<u64>,
    pub spend_max: Option<Money>,
}

/// Which limit a message would break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DailyLimit {
    Messages,
    Spend,
}

/// What an account had accepted on a UTC day, refunded or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayTotals {
    pub day: Day,
    pub messages: u64,
    pub spend: Money,
}

impl DayTotals {
    pub const fn none(day: Day) -> DayTotals {
        DayTotals { day, messages: 0, spend: Money::ZERO }
    }
}

/// A change of a balance that is not a message's charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub account: AccountId,
    pub kind: LedgerKind,
    /// More than zero, except that an adjustment may also take away.
    pub amount: Money,
    pub note: String,
    /// The poster's own name for it, unique within the account: posting it again changes nothing.
    pub reference: Option<String>,
    pub now: Timestamp,
}

/// Kinds are stored as small integers: add, never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerKind {
    /// Money that came in: more balance.
    TopUp,
    /// A message's cost given back. Only the store itself posts these.
    Refund,
    /// More or less balance, by hand.
    Adjustment,
    /// What the balance has gone below zero by is asked for: more balance, and as much more credit in use.
    Invoice,
    /// An invoice is paid: less credit in use. Whatever is more than that goes to the balance.
    Payment,
    /// What a day's messages cost whose records are gone. Only the store itself posts these.
    RolledUpCosts,
    /// What was refunded on a day for messages whose records are gone. Only the store itself posts these.
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

/// What came of posting an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostOutcome {
    Posted {
        entry: i64,
        balance: Balance,
    },
    /// Its reference was posted before, for the same thing.
    Repeated {
        entry: i64,
        /// As it is now, not as it was then.
        balance: Balance,
    },
    Refused(PostRefusal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostRefusal {
    #[error("the amount must be more than zero")]
    NotPositive,
    #[error("an adjustment of zero adjusts nothing")]
    Zero,
    #[error("the balance would become too large to be counted")]
    TooLarge,
    #[error("the reference was used before, for another kind of entry or another amount")]
    ReferenceTaken,
    #[error(
        "refunds are made by the gateway itself, when a message never left, and rolled up with its record"
    )]
    RefundsAreAutomatic,
}

/// A ledger entry as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    pub id: i64,
    pub at: Timestamp,
    pub kind: LedgerKind,
    /// What it changed the balance by.
    pub balance: Money,
    /// What it changed the credit in use by.
    pub credit_used: Money,
    /// The message a refund is for.
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
    /// In order of time; a day's charges stand after its entries.
    pub lines: Vec<StatementLine>,
    /// The opening and the lines together, exactly.
    pub closing: Balance,
    /// There was more than a statement holds; it goes up to its last line.
    pub cut_off: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementLine {
    Entry(LedgerRow),
    /// What a day's messages cost.
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

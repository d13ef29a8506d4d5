//! The expected state of an account: balance, credit used, references, opt-outs and daily totals.

use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_store::{AcceptOutcome, Balance, DailyLimit, DailyLimits, DayTotals, LedgerKind, PostRefusal};
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Default)]
pub(super) struct Purse {
    pub balance: i64,
    pub credit_used: i64,
    references: HashMap<u8, (LedgerKind, i64)>,
    /// Opted-out recipients, by their number in the model.
    pub opted_out: HashSet<u8>,
    /// Messages and spend.
    days: BTreeMap<Day, (u64, i64)>,
}

pub(super) enum Posting {
    Posted,
    Repeated,
    Refused(PostRefusal),
}

impl Purse {
    pub(super) fn with(balance: i64) -> Purse {
        Purse { balance, ..Purse::default() }
    }

    pub(super) fn figures(&self) -> Balance {
        Balance {
            balance: Money::from_micros(self.balance),
            credit_used: Money::from_micros(self.credit_used),
        }
    }

    pub(super) fn post(&mut self, kind: LedgerKind, micros: i64, reference: Option<u8>) -> Posting {
        match kind {
            LedgerKind::Refund | LedgerKind::RolledUpCosts | LedgerKind::RolledUpRefunds => {
                return Posting::Refused(PostRefusal::RefundsAreAutomatic);
            }
            LedgerKind::Adjustment if micros == 0 => return Posting::Refused(PostRefusal::Zero),
            LedgerKind::TopUp | LedgerKind::Invoice | LedgerKind::Payment if micros <= 0 => {
                return Posting::Refused(PostRefusal::NotPositive);
            }
            _ => {}
        }
        if let Some(reference) = reference {
            match self.references.get(&reference) {
                Some(earlier) if *earlier == (kind, micros) => return Posting::Repeated,
                Some(_) => return Posting::Refused(PostRefusal::ReferenceTaken),
                None => drop(self.references.insert(reference, (kind, micros))),
            }
        }
        match kind {
            LedgerKind::TopUp
            | LedgerKind::Adjustment
            | LedgerKind::Refund
            | LedgerKind::RolledUpCosts
            | LedgerKind::RolledUpRefunds => self.balance += micros,
            LedgerKind::Invoice => {
                self.balance += micros;
                self.credit_used += micros;
            }
            LedgerKind::Payment => {
                let paid = micros.min(self.credit_used);
                self.credit_used -= paid;
                self.balance += micros - paid;
            }
        }
        Posting::Posted
    }

    /// Returns the reason for refusing a message.
    pub(super) fn refuses(
        &self,
        recipient: u8,
        cost: i64,
        limits: DailyLimits,
        day: Day,
    ) -> Option<AcceptOutcome> {
        let (messages, spend) = self.days.get(&day).copied().unwrap_or_default();
        let available = self.balance - self.credit_used;
        if self.opted_out.contains(&recipient) {
            Some(AcceptOutcome::OptedOut)
        } else if limits.messages_max.is_some_and(|messages_max| messages >= messages_max) {
            Some(AcceptOutcome::OverDailyLimit(DailyLimit::Messages))
        } else if limits.spend_max.is_some_and(|spend_max| spend + cost > spend_max.as_micros()) {
            Some(AcceptOutcome::OverDailyLimit(DailyLimit::Spend))
        } else if cost > available {
            Some(AcceptOutcome::InsufficientCredit { available: Money::from_micros(available) })
        } else {
            None
        }
    }

    pub(super) fn charge(&mut self, cost: i64, day: Day) {
        self.balance -= cost;
        let (messages, spend) = self.days.entry(day).or_default();
        *messages += 1;
        *spend += cost;
    }

    pub(super) fn days(&self) -> Vec<DayTotals> {
        let totals = |(day, (messages, spend)): (&Day, &(u64, i64))| DayTotals {
            day: *day,
            messages: *messages,
            spend: Money::from_micros(*spend),
        };
        self.days.iter().map(totals).collect()
    }
}

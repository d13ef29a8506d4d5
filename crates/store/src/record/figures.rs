//! Statistics over time: counters per minute, hour and day, by account, connection, country, network, carrier and sender.
//!
//! A message counts in the interval in which it was accepted, also its end: the figures of an interval add up, and can be
//! counted again from the messages.

use hermod_domain::ids::AccountId;
use hermod_domain::lifecycle::MessageState;
use hermod_domain::money::{Currency, Money};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most rows that one query of statistics returns.
pub const STATISTICS_ROWS_MAX: usize = 5_000;

/// The length of the intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    Minute,
    Hour,
    Day,
}

impl Resolution {
    pub const ALL: [Resolution; 3] = [Resolution::Minute, Resolution::Hour, Resolution::Day];

    /// Returns the length of an interval.
    pub const fn length(self) -> Duration {
        match self {
            Resolution::Minute => Duration::from_secs(60),
            Resolution::Hour => Duration::from_secs(3_600),
            Resolution::Day => Duration::from_secs(86_400),
        }
    }

    /// Returns how long the figures are kept.
    pub const fn kept(self) -> Duration {
        match self {
            Resolution::Minute => Duration::from_secs(48 * 3_600),
            Resolution::Hour => Duration::from_secs(90 * 86_400),
            Resolution::Day => Duration::from_secs(400 * 86_400),
        }
    }

    /// Returns the beginning of the interval that a time is in (UTC).
    pub fn start_of(self, at: Timestamp) -> Timestamp {
        let length =
            i64::try_from(self.length().as_millis()).expect("a day has fewer milliseconds than that");
        Timestamp::from_millis(at.as_millis().div_euclid(length) * length)
    }
}

/// By what messages are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// All together.
    All,
    Account,
    Connection,
    Country,
    Network,
    Carrier,
    Sender,
    /// Refused requests by their code.
    Refusal,
}

/// A value of a dimension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// Of [`Dimension::All`], and of messages whose country or network is unknown.
    None,
    /// An account, connection or carrier.
    Id(u32),
    /// A country, network, sender or code, as it is written.
    Text(Box<str>),
}

/// What to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatisticsQuery {
    pub resolution: Resolution,
    pub by: Dimension,
    /// Only this value.
    pub value: Option<Value>,
    pub from: Timestamp,
    pub until: Timestamp,
}

/// The figures of one interval and one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatisticRow {
    pub start: Timestamp,
    /// None over all accounts.
    pub account: Option<AccountId>,
    pub value: Value,
    pub figures: Figures,
}

/// Counters of the messages that were accepted in one interval, and of the requests that were refused in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    pub accepted: u64,
    pub parts: u64,
    /// What was charged, without refunds.
    pub spend: Money,
    pub refunded: Money,
    pub delivered: u64,
    pub expired: u64,
    pub undeliverable: u64,
    pub rejected: u64,
    pub refused: u64,
    /// The times from acceptance to delivery.
    pub times: TimeHistogram,
    pub costs: CostSums,
}

impl Figures {
    /// Counts a message that ended after `took`.
    pub fn count_end(&mut self, state: MessageState, took: Duration, refund: Option<Money>) {
        match state {
            MessageState::Delivered => {
                self.delivered += 1;
                self.times.add(took);
            }
            MessageState::Expired => self.expired += 1,
            MessageState::Undeliverable => self.undeliverable += 1,
            MessageState::Rejected => self.rejected += 1,
            MessageState::Queued | MessageState::Submitted | MessageState::Enroute => {}
        }
        self.refunded = add_money(self.refunded, refund.unwrap_or(Money::ZERO));
    }

    /// Adds other figures.
    pub fn add(&mut self, other: &Figures) {
        let Figures {
            accepted,
            parts,
            spend,
            refunded,
            delivered,
            expired,
            undeliverable,
            rejected,
            refused,
            times,
            costs,
        } = other;
        self.accepted += accepted;
        self.parts += parts;
        self.spend = add_money(self.spend, *spend);
        self.refunded = add_money(self.refunded, *refunded);
        self.delivered += delivered;
        self.expired += expired;
        self.undeliverable += undeliverable;
        self.rejected += rejected;
        self.refused += refused;
        self.times.merge(times);
        self.costs.merge(costs);
    }

    /// Returns how many of the accepted messages have not ended.
    pub fn open(&self) -> u64 {
        let ended = self.delivered + self.expired + self.undeliverable + self.rejected;
        self.accepted.saturating_sub(ended)
    }
}

/// What is due to carriers for messages that have ended, by the currency of the costs: amounts of two currencies are never added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostSums(BTreeMap<Currency, CostSum>);

/// What is due in one currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostSum {
    /// Messages that the last carrier whose cost is known asks for in this currency.
    pub messages: u64,
    pub due: Money,
    /// What their customers paid, without what was refunded, in the currency of `spend`.
    pub revenue: Money,
}

impl CostSums {
    pub fn add(&mut self, currency: Currency, CostSum { messages, due, revenue }: CostSum) {
        let sum = self.0.entry(currency).or_default();
        sum.messages += messages;
        sum.due = add_money(sum.due, due);
        sum.revenue = add_money(sum.revenue, revenue);
    }

    pub fn merge(&mut self, CostSums(other): &CostSums) {
        other.iter().for_each(|(currency, sum)| self.add(*currency, *sum));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sums in the order of the currencies.
    pub fn iter(&self) -> impl Iterator<Item = (Currency, CostSum)> {
        self.0.iter().map(|(currency, sum)| (*currency, *sum))
    }

    /// Returns what remains of the revenue. `convert` returns an amount of a currency in that of the revenue. None without costs, or
    /// if an amount cannot be converted.
    pub fn margin(&self, convert: impl Fn(Money, Currency) -> Option<Money>) -> Option<Money> {
        let remains = |sum: Money, (currency, CostSum { due, revenue, messages: _ }): (Currency, CostSum)| {
            sum.checked_add(revenue)?.checked_sub(convert(due, currency)?)
        };
        if self.0.is_empty() { None } else { self.iter().try_fold(Money::ZERO, remains) }
    }
}

/// A sum that stays as it is if it would overflow: a statistic must not stop the record.
pub(crate) fn add_money(sum: Money, more: Money) -> Money {
    sum.checked_add(more).unwrap_or(sum)
}

/// Counts times by their order of magnitude: four classes per doubling, so a quantile is right within a fifth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeHistogram(BTreeMap<u8, u64>);

/// Classes per doubling.
const CLASSES: u32 = 4;

impl TimeHistogram {
    pub fn add(&mut self, time: Duration) {
        *self.0.entry(class_of(time)).or_default() += 1;
    }

    pub fn merge(&mut self, TimeHistogram(other): &TimeHistogram) {
        for (class, count) in other {
            *self.0.entry(*class).or_default() += count;
        }
    }

    /// Returns the time that this share of all times (0 to 1) does not exceed; none without any time.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.0.values().sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a count of messages fits, and a rank needs no more precision"
        )]
        let rank = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (class, count) in &self.0 {
            seen += count;
            if seen >= rank {
                return Some(end_of(*class));
            }
        }
        None
    }
}

/// Returns the class of a time: 0 up to one millisecond, then four per doubling.
fn class_of(time: Duration) -> u8 {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    if ms <= 1 {
        return 0;
    }
    (1..u8::MAX).find(|class| ms <= end_in_ms(*class)).unwrap_or(u8::MAX)
}

fn end_of(class: u8) -> Duration {
    Duration::from_millis(end_in_ms(class))
}

/// Returns the longest time of a class in milliseconds, rounded up.
fn end_in_ms(class: u8) -> u64 {
    let (doublings, quarter) = (u32::from(class) / CLASSES, u32::from(class) % CLASSES);
    // 2^(0/4), 2^(1/4), 2^(2/4), 2^(3/4), in thousandths.
    const ROOTS: [u64; 4] = [1_000, 1_190, 1_415, 1_682];
    let base = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
    base.saturating_mul(ROOTS[quarter as usize]).div_ceil(1_000)
}

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;

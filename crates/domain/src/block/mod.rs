//! Blocked numbers: those that the operator forbids to send to, or to receive MO messages from. A block is for a prefix, a
//! range or a built-in list.

mod list;
mod range;

use crate::phone::Msisdn;
use crate::prefix::{Prefix, PrefixTable};
use crate::time::Timestamp;
pub use list::NumberList;
pub use range::{NumberRange, RangeRefusal};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// The numbers of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockedNumbers {
    /// One number is a prefix with all its digits.
    Prefix(Prefix),
    Range(NumberRange),
    List(NumberList),
}

/// Which messages a block applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockDirection {
    /// Messages to the numbers.
    Sent,
    /// MO messages from the numbers.
    Received,
    Both,
}

/// One block, as a table is built from it.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub name: &'a str,
    pub numbers: BlockedNumbers,
    pub direction: BlockDirection,
    /// The block applies before this time; `None`: always.
    pub until: Option<Timestamp>,
}

/// Blocks by direction and prefix. A look-up is one binary search, however many blocks there are.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    sent: PrefixTable<Longest>,
    received: PrefixTable<Longest>,
}

/// Of the blocks for a prefix, the one that applies longest: if it is over, all of them are.
#[derive(Clone, Debug)]
struct Longest {
    name: Arc<str>,
    until: Option<Timestamp>,
}

impl BlockedNumbers {
    /// Returns the one of the three that is given; `None` without or with several.
    pub fn one_of(
        prefix: Option<Prefix>,
        range: Option<NumberRange>,
        list: Option<NumberList>,
    ) -> Option<BlockedNumbers> {
        match (prefix, range, list) {
            (Some(prefix), None, None) => Some(BlockedNumbers::Prefix(prefix)),
            (None, Some(range), None) => Some(BlockedNumbers::Range(range)),
            (None, None, Some(list)) => Some(BlockedNumbers::List(list)),
            _ => None,
        }
    }

    /// Returns the prefixes that together cover the numbers.
    fn prefixes(self) -> Vec<Prefix> {
        match self {
            BlockedNumbers::Prefix(prefix) => vec![prefix],
            BlockedNumbers::Range(range) => range.prefixes().collect(),
            BlockedNumbers::List(list) => list.prefixes().collect(),
        }
    }
}

impl BlockDirection {
    const fn has_sent(self) -> bool {
        match self {
            BlockDirection::Sent | BlockDirection::Both => true,
            BlockDirection::Received => false,
        }
    }

    const fn has_received(self) -> bool {
        match self {
            BlockDirection::Received | BlockDirection::Both => true,
            BlockDirection::Sent => false,
        }
    }
}

impl Blocks {
    pub fn build<'a>(blocks: impl IntoIterator<Item = Block<'a>>) -> Blocks {
        let mut sent = HashMap::new();
        let mut received = HashMap::new();
        for Block { name, numbers, direction, until } in blocks {
            let block = Longest { name: name.into(), until };
            for prefix in numbers.prefixes() {
                if direction.has_sent() {
                    keep_longest(&mut sent, prefix, &block);
                }
                if direction.has_received() {
                    keep_longest(&mut received, prefix, &block);
                }
            }
        }
        Blocks { sent: table_of(sent), received: table_of(received) }
    }

    /// Returns the name of a block that forbids to send to a number now.
    pub fn of_recipient(&self, to: Msisdn, now: Timestamp) -> Option<&str> {
        find(&self.sent, to, now)
    }

    /// Returns the name of a block that forbids to receive MO messages from a handset now.
    pub fn of_handset(&self, from: Msisdn, now: Timestamp) -> Option<&str> {
        find(&self.received, from, now)
    }
}

impl Longest {
    fn lasts_longer_than(&self, other: &Longest) -> bool {
        match (self.until, other.until) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(own), Some(until)) => own > until,
        }
    }
}

fn find(table: &PrefixTable<Longest>, number: Msisdn, now: Timestamp) -> Option<&str> {
    let blocks = table.covering(number).map(|(_, block)| block);
    let longest = blocks.reduce(|kept, block| if block.lasts_longer_than(kept) { block } else { kept })?;
    longest.until.is_none_or(|until| now < until).then_some(&longest.name)
}

fn keep_longest(blocks: &mut HashMap<Prefix, Longest>, prefix: Prefix, block: &Longest) {
    let kept = blocks.entry(prefix).or_insert_with(|| block.clone());
    if block.lasts_longer_than(kept) {
        *kept = block.clone();
    }
}

fn table_of(blocks: HashMap<Prefix, Longest>) -> PrefixTable<Longest> {
    PrefixTable::build(blocks).expect("a map has each prefix once")
}

#[cfg(test)]
mod tests;

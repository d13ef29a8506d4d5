//! Writes prefixes and their destinations in the form of the data file: without redundant prefixes, grouped by destination,
//! neighbours as ranges.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lines are broken here, so that a change of one prefix is a small difference.
const LINE_WIDTH: usize = 118;

/// The destination of a prefix, in the order of the file's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Holder {
    pub(crate) country: String,
    pub(crate) network: String,
    pub(crate) operator: String,
}

pub(crate) type Holders = BTreeMap<String, Holder>;

/// Returns the destination of the longest listed prefix of these digits.
pub(crate) fn longest<'a, V>(listed: &'a BTreeMap<String, V>, digits: &str) -> Option<&'a V> {
    (1..=digits.len()).rev().find_map(|length| listed.get(&digits[..length]))
}

/// Removes every prefix with the same destination as the shorter prefix that covers it. Where all ten prefixes below one are
/// listed, that one gets the most frequent destination of the ten: it covers no further numbers.
pub(crate) fn simplify(holders: &mut Holders) {
    let longest_prefix = holders.keys().map(String::len).max().unwrap_or(0);
    for length in (2..=longest_prefix).rev() {
        for (around, ten) in full_families(holders, length) {
            if let Some(holder) = most_frequent(&ten) {
                holders.insert(around, holder);
            }
        }
    }
    let prefixes: Vec<String> = holders.keys().cloned().collect();
    let nobody = Holder::default();
    // Removing a prefix leaves what the prefixes below it inherit as it was, so one pass is enough.
    for prefix in prefixes {
        let around = longest(holders, &prefix[..prefix.len() - 1]).unwrap_or(&nobody);
        if holders.get(&prefix) == Some(around) {
            holders.remove(&prefix);
        }
    }
}

fn full_families(holders: &Holders, length: usize) -> Vec<(String, Vec<Holder>)> {
    let mut families: BTreeMap<&str, Vec<Holder>> = BTreeMap::new();
    for (prefix, holder) in holders.iter().filter(|(prefix, _)| prefix.len() == length) {
        families.entry(&prefix[..length - 1]).or_default().push(holder.clone());
    }
    let full = families.into_iter().filter(|(_, members)| members.len() == 10);
    full.map(|(around, members)| (around.to_owned(), members)).collect()
}

/// Returns the most frequent destination; none if all differ, because nothing would be saved.
fn most_frequent(members: &[Holder]) -> Option<Holder> {
    let distinct: BTreeSet<&Holder> = members.iter().collect();
    let count = |one: &Holder| members.iter().filter(|other| *other == one).count();
    // Of equally frequent ones the first in order, so that the same data gives the same file.
    let most = distinct.into_iter().rev().max_by_key(|one| count(one))?;
    (count(most) > 1).then(|| most.clone())
}

/// Returns the lines of the file, without its head.
pub(crate) fn write(holders: &Holders) -> String {
    let mut by_holder: BTreeMap<&Holder, Vec<&str>> = BTreeMap::new();
    for (prefix, holder) in holders {
        by_holder.entry(holder).or_default().push(prefix);
    }
    let mut text = String::new();
    for (Holder { country, network, operator }, prefixes) in by_holder {
        let mut line = format!("{country}\t{network}\t{operator}\t");
        let mut separator = "";
        for run in runs(&prefixes) {
            if line.chars().count() + separator.len() + run.len() > LINE_WIDTH && !separator.is_empty() {
                writeln!(text, "{line}").expect("a String takes any text");
                line = " ".to_owned();
                separator = "";
            }
            line.push_str(separator);
            line.push_str(&run);
            separator = " ";
        }
        writeln!(text, "{line}").expect("a String takes any text");
    }
    text
}

/// Joins neighbours that differ in their last digit: 49170, 49171 and 49172 become `49170-2`.
fn runs(prefixes: &[&str]) -> Vec<String> {
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for prefix in prefixes {
        match runs.last_mut() {
            Some((_, last)) if follows(last, prefix) => *last = prefix,
            _ => runs.push((prefix, prefix)),
        }
    }
    let field = |(first, last): (&str, &str)| {
        if first == last { first.to_owned() } else { format!("{first}-{}", &last[last.len() - 1..]) }
    };
    runs.into_iter().map(field).collect()
}

fn follows(before: &str, after: &str) -> bool {
    let (head, last) = before.split_at(before.len() - 1);
    let next = last.parse::<u8>().expect("prefixes are digits") + 1;
    next < 10 && after == format!("{head}{next}")
}

//! Matches the receipts of a run to its messages by their ids. A receipt may arrive before the response with its id, over
//! another bind, twice, or with an unknown id.

use std::collections::HashMap;
use std::time::Instant;

use hermod_smpp::{CommandStatus, Receipt, ReceiptKind};

use super::tally::SmppTally;

/// Receipts that match no message yet; further ones count as unknown.
const UNMATCHED_MAX: usize = 1_000_000;

/// A message id. Nearly all are numbers, which need no allocation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum RemoteId {
    Number(u64),
    Text(Box<[u8]>),
}

impl RemoteId {
    /// Different ids give different values: a number with a leading zero is a text.
    fn new(id: &[u8]) -> RemoteId {
        let is_number = (1..=18).contains(&id.len()) && id[0] != b'0' && id.iter().all(u8::is_ascii_digit);
        if is_number {
            RemoteId::Number(id.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
        } else {
            RemoteId::Text(id.into())
        }
    }
}

/// Receipts of one id that match no message yet.
struct UnmatchedReceipt {
    received: Instant,
    copies: u64,
}

/// The state of all messages of a run.
pub(super) struct ReceiptMatcher {
    pub(super) tally: SmppTally,
    /// Whether accepted messages get a receipt.
    wants_receipts: bool,
    /// Accepted messages without a receipt, and when they were submitted.
    open: HashMap<RemoteId, Instant>,
    /// Accepted messages with a receipt. A list, because a hash table would pause to grow.
    settled: Vec<RemoteId>,
    unmatched: HashMap<RemoteId, UnmatchedReceipt>,
}

impl ReceiptMatcher {
    pub(super) fn new(started: Instant, wants_receipts: bool) -> ReceiptMatcher {
        ReceiptMatcher {
            tally: SmppTally::new(started),
            wants_receipts,
            open: HashMap::new(),
            settled: Vec::new(),
            unmatched: HashMap::new(),
        }
    }

    /// Receipts that have not arrived yet.
    pub(super) fn missing_receipts(&self) -> usize {
        self.open.len()
    }

    /// Notes an accepted message; `submitted` is none if it had timed out before.
    pub(super) fn accepted(&mut self, id: &[u8], submitted: Option<Instant>, now: Instant) {
        self.tally.accepted(submitted, now);
        if id.is_empty() {
            self.tally.without_id += 1;
            return;
        }
        if !self.wants_receipts {
            return;
        }
        let (name, submitted) = (RemoteId::new(id), submitted.unwrap_or(now));
        match self.unmatched.remove(&name) {
            Some(UnmatchedReceipt { received, copies }) => {
                self.tally.receipted(submitted, received);
                self.tally.report.receipts.duplicated += copies - 1;
                self.settled.push(name);
            }
            None => {
                if self.open.insert(name, submitted).is_some() {
                    self.tally.ids_repeated += 1;
                }
            }
        }
    }

    pub(super) fn rejected(&mut self, status: CommandStatus, now: Instant) {
        self.tally.rejected(status, now);
    }

    pub(super) fn receipt(&mut self, receipt: &Receipt<'_>, now: Instant) {
        if receipt.kind == ReceiptKind::Intermediate {
            self.tally.report.receipts.intermediate += 1;
            return;
        }
        self.tally.count_state(receipt.stat.unwrap_or(b"-"), now);
        let name = RemoteId::new(receipt.message_id.unwrap_or_default());
        match self.open.remove(&name) {
            Some(submitted) => {
                self.tally.receipted(submitted, now);
                self.settled.push(name);
            }
            None if self.unmatched.len() < UNMATCHED_MAX => {
                self.unmatched.entry(name).or_insert(UnmatchedReceipt { received: now, copies: 0 }).copies +=
                    1;
            }
            None => self.tally.report.receipts.unknown += 1,
        }
    }

    /// Ends the run: open messages miss their receipts, and unmatched receipts are duplicates or unknown.
    pub(super) fn close(mut self) -> SmppTally {
        self.settled.sort_unstable();
        self.tally.ids_repeated += self.settled.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
        for (name, stray) in &self.unmatched {
            if self.settled.binary_search(name).is_ok() {
                self.tally.report.receipts.duplicated += stray.copies;
            } else {
                self.tally.report.receipts.unknown += stray.copies;
            }
        }
        self.tally.report.receipts.missing = self.open.len() as u64;
        self.tally
    }
}

#[cfg(test)]
#[path = "receipt_matcher_tests.rs"]
mod tests;

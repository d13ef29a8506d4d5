//! The carrier's own record of everything it saw: the witness in every test. It never asks the gateway anything.
//!
//! Memory is bounded in both modes. `Full` keeps details of the first 200,000 submits and receipts (about 100 MB)
//! and counts the rest; `Compact` keeps counters and, for each message, a hash (151 MB at most, see `copies`).

mod copies;
mod joined;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hermod_smpp::{BindType, CommandStatus};
use serde::Serialize;
use tokio::sync::Notify;

pub use joined::Received;

use super::outcome::Outcome;
use super::text::Part;
use crate::world;
use copies::Copies;
pub(in crate::carrier) use copies::fingerprint;

/// Submits, and receipts, whose details `Full` keeps.
pub const DETAILED_MAX: usize = 200_000;
/// Binds whose details are kept.
const BINDS_MAX: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordMode {
    /// Every submit and receipt with its details: for tests.
    Full,
    /// Counters, and a hash of each message to find duplicates: for millions.
    Compact,
}

/// One submit_sm as it arrived, and what was done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    /// Position among all submits, from 0.
    pub order: u64,
    /// Time since the carrier started.
    pub at: Duration,
    /// Number of the link it came on, from 1.
    pub link: u64,
    pub source: String,
    pub destination: String,
    /// The text of this part, decoded.
    pub text: String,
    pub part: Option<Part>,
    pub data_coding: u8,
    pub esm_class: u8,
    pub registered_delivery: u8,
    pub answer: Answer,
}

/// What the carrier decided. Whether an answer arrived only the other side can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Accepted {
        id: String,
    },
    Refused(CommandStatus),
    Silent,
    /// Taken under this id, but the connection was cut instead of answering.
    Cut {
        id: String,
    },
}

/// One receipt as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSent {
    pub at: Duration,
    pub link: u64,
    /// The id as it stands in the receipt.
    pub id: String,
    pub outcome: Outcome,
    /// The gateway's answer; none yet, or never.
    pub answer: Option<CommandStatus>,
}

/// One attempt to bind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindSeen {
    pub at: Duration,
    pub link: u64,
    pub system_id: String,
    pub kind: BindType,
    pub interface_version: u8,
    /// 0 where it was accepted.
    pub status: CommandStatus,
}

/// Everything that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub links_opened: u64,
    pub links_closed: u64,
    pub binds: u64,
    pub binds_refused: u64,
    /// Unbinds the gateway sent.
    pub unbinds: u64,
    pub enquire_links: u64,
    pub submits: u64,
    /// Taken, with an id.
    pub accepted: u64,
    pub refused: u64,
    pub silent: u64,
    /// deliver_sm that went out, repetitions included.
    pub receipts_sent: u64,
    /// Answered with status 0.
    pub receipts_taken: u64,
    /// Answered with another status.
    pub receipts_refused: u64,
    /// Sent, and the link ended or the time ran out before an answer: they are sent again.
    pub receipts_unanswered: u64,
    /// Copies of messages that were not refused, beyond the first of each.
    pub duplicates: u64,
    /// Messages past the limit of what is told apart: duplicates among them are not seen.
    pub untracked: u64,
    /// Octets or requests that made no sense.
    pub protocol_errors: u64,
}

/// A handle on the record; clones show the same one.
#[derive(Clone)]
pub struct Record {
    shared: Arc<Shared>,
}

struct Shared {
    log: Mutex<Log>,
    changed: Notify,
}

#[derive(Debug)]
pub(super) struct Log {
    mode: RecordMode,
    counts: Counts,
    copies: Copies,
    submits: Vec<Submit>,
    receipts: Vec<ReceiptSent>,
    binds: Vec<BindSeen>,
}

/// A wait that ended before what it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitedInVain {
    pub waited: Duration,
    pub counts: Counts,
}

impl fmt::Display for WaitedInVain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not seen within {:?}; the carrier has {:?}", self.waited, self.counts)
    }
}

impl std::error::Error for WaitedInVain {}

impl Record {
    pub(super) fn new(mode: RecordMode) -> Record {
        let log = Log {
            mode,
            counts: Counts::default(),
            copies: Copies::new(copies::MESSAGES_MAX),
            submits: Vec::new(),
            receipts: Vec::new(),
            binds: Vec::new(),
        };
        Record { shared: Arc::new(Shared { log: Mutex::new(log), changed: Notify::new() }) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.shared.log.lock().expect("no holder of the record panics")
    }

    /// Writes into the record, many entries under one lock, and wakes those who wait for a change.
    pub(super) fn write<R>(&self, entries: impl FnOnce(&mut Log) -> R) -> R {
        let written = entries(&mut self.log());
        self.shared.changed.notify_waiters();
        written
    }

    pub fn counts(&self) -> Counts {
        let log = self.log();
        Counts { duplicates: log.copies.extra(), untracked: log.copies.untracked(), ..log.counts }
    }

    /// Submits in order of arrival; `Full` only, and at most [`DETAILED_MAX`].
    pub fn submits(&self) -> Vec<Submit> {
        self.log().submits.clone()
    }

    /// Receipts in the order they went out; `Full` only, and at most [`DETAILED_MAX`].
    pub fn receipts(&self) -> Vec<ReceiptSent> {
        self.log().receipts.clone()
    }

    pub fn binds(&self) -> Vec<BindSeen> {
        self.log().binds.clone()
    }

    /// Whole texts the carrier may have passed on to handsets (all that were not refused), long ones joined;
    /// `Full` only.
    pub fn received(&self) -> Vec<Received> {
        let log = self.log();
        joined::join(log.submits.iter().filter(|submit| !matches!(submit.answer, Answer::Refused(_))))
    }

    /// The texts of [`Record::received`].
    pub fn received_texts(&self) -> Vec<String> {
        self.received().into_iter().map(|received| received.text).collect()
    }

    /// How many times this text came whole and was not refused; `Full` only.
    pub fn count_text(&self, text: &str) -> usize {
        self.received().iter().filter(|received| received.text == text).count()
    }

    /// Copies of messages (parts, for long ones) beyond the first of each, refused ones left out; both modes.
    pub fn duplicates(&self) -> u64 {
        self.log().copies.extra()
    }

    /// How often the message with the most copies came; 1 when there are no copies.
    pub fn copies_max(&self) -> u32 {
        self.log().copies.counts().max().unwrap_or(1)
    }

    /// Waits until `predicate` holds of this record. Asked again after every change.
    pub async fn wait_until(
        &self,
        mut predicate: impl FnMut(&Record) -> bool,
        wait_max: Duration,
    ) -> Result<(), WaitedInVain> {
        let give_up = world::now() + wait_max;
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            // Listen first, then look: a change in between must not be missed.
            changed.as_mut().enable();
            if predicate(self) {
                return Ok(());
            }
            tokio::select! {
                () = changed => {}
                () = world::sleep_until(give_up) => {
                    return Err(WaitedInVain { waited: wait_max, counts: self.counts() });
                }
            }
        }
    }
}

impl Log {
    pub(super) fn counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    /// Whether details are still kept of submits.
    pub(super) fn wants_submits(&self) -> bool {
        self.mode == RecordMode::Full && self.submits.len() < DETAILED_MAX
    }

    /// The position the next submit gets.
    pub(super) fn next_order(&self) -> u64 {
        self.counts.submits
    }

    /// Counts a submit; `message` is its fingerprint unless it was refused.
    pub(super) fn count_submit(&mut self, answer: AnswerKind, message: u64) {
        self.counts.submits += 1;
        match answer {
            AnswerKind::Accepted => self.counts.accepted += 1,
            AnswerKind::Silent => self.counts.silent += 1,
            AnswerKind::Refused => {
                self.counts.refused += 1;
                return;
            }
        }
        self.copies.note(message);
    }

    pub(super) fn keep_submit(&mut self, submit: Submit) {
        self.submits.push(submit);
    }

    pub(super) fn bind(&mut self, bind: BindSeen) {
        if bind.status.is_ok() {
            self.counts.binds += 1
        } else {
            self.counts.binds_refused += 1
        }
        if self.binds.len() < BINDS_MAX {
            self.binds.push(bind);
        }
    }

    /// Notes a receipt on its way; gives its place, to note the answer there.
    pub(super) fn receipt_sent(&mut self, receipt: impl FnOnce() -> ReceiptSent) -> Option<usize> {
        self.counts.receipts_sent += 1;
        if self.mode == RecordMode::Compact || self.receipts.len() >= DETAILED_MAX {
            return None;
        }
        self.receipts.push(receipt());
        Some(self.receipts.len() - 1)
    }

    pub(super) fn receipt_answered(&mut self, place: Option<usize>, status: CommandStatus) {
        if status.is_ok() {
            self.counts.receipts_taken += 1
        } else {
            self.counts.receipts_refused += 1
        }
        if let Some(place) = place {
            self.receipts[place].answer = Some(status);
        }
    }
}

/// An answer as far as counting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Accepted,
    Refused,
    Silent,
}

#[cfg(test)]
mod tests;

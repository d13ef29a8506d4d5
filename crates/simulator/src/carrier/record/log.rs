//! Writes the record: counts everything, and keeps details up to their limits.

use std::net::SocketAddr;
use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::duplicates::{self, Duplicates};
use super::entries::{BindAttempt, LinkEntry, MoSent, ReceiptSent, ReceivedSubmit, RecordCounts};
use super::{DETAILED_MAX, RecordMode};

/// Bind attempts whose details are kept.
const BINDS_MAX: usize = 10_000;
/// Connections whose details are kept.
const LINKS_KEPT_MAX: usize = 100_000;

#[derive(Debug)]
pub(in crate::carrier) struct Log {
    mode: RecordMode,
    counts: RecordCounts,
    pub(super) copies: Duplicates,
    pub(super) submits: Vec<ReceivedSubmit>,
    pub(super) receipts: Vec<ReceiptSent>,
    pub(super) mo: Vec<MoSent>,
    pub(super) binds: Vec<BindAttempt>,
    pub(super) links: Vec<LinkEntry>,
}

impl Log {
    pub(super) fn new(mode: RecordMode) -> Log {
        Log {
            mode,
            counts: RecordCounts::default(),
            copies: Duplicates::new(duplicates::MESSAGES_MAX),
            submits: Vec::new(),
            receipts: Vec::new(),
            mo: Vec::new(),
            binds: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Returns all counts, including duplicates.
    pub(super) fn all_counts(&self) -> RecordCounts {
        RecordCounts { duplicates: self.copies.extra(), untracked: self.copies.untracked(), ..self.counts }
    }

    pub(in crate::carrier) fn counts(&mut self) -> &mut RecordCounts {
        &mut self.counts
    }

    /// Whether the details of another submit are kept.
    pub(in crate::carrier) fn keeps_submits(&self) -> bool {
        self.mode == RecordMode::Full && self.submits.len() < DETAILED_MAX
    }

    /// The position of the next submit.
    pub(in crate::carrier) fn next_order(&self) -> u64 {
        self.counts.submits
    }

    /// Counts a submit; `message` is its fingerprint.
    pub(in crate::carrier) fn count_submit(&mut self, response: ResponseKind, message: u64) {
        self.counts.submits += 1;
        match response {
            ResponseKind::Accepted => self.counts.accepted += 1,
            ResponseKind::None => self.counts.ignored += 1,
            ResponseKind::Rejected => {
                self.counts.rejected += 1;
                return;
            }
        }
        self.copies.note(message);
    }

    pub(in crate::carrier) fn keep_submit(&mut self, submit: ReceivedSubmit) {
        self.submits.push(submit);
    }

    /// Notes a new connection; links are numbered in order of arrival.
    pub(in crate::carrier) fn link_opened(&mut self, number: u64, peer: SocketAddr, at: Duration) {
        self.counts.links_opened += 1;
        if self.links.len() < LINKS_KEPT_MAX {
            self.links.push(LinkEntry { number, peer, opened: at, closed: None });
        }
    }

    pub(in crate::carrier) fn link_closed(&mut self, number: u64, at: Duration) {
        self.counts.links_closed += 1;
        if let Some(link) = self.links.iter_mut().rfind(|link| link.number == number) {
            link.closed = Some(at);
        }
    }

    pub(in crate::carrier) fn bind(&mut self, bind: BindAttempt) {
        if bind.status.is_ok() {
            self.counts.binds += 1
        } else {
            self.counts.binds_rejected += 1
        }
        if self.binds.len() < BINDS_MAX {
            self.binds.push(bind);
        }
    }

    /// Notes a sent receipt. Returns its entry, where the response is noted.
    pub(in crate::carrier) fn receipt_sent(
        &mut self,
        receipt: impl FnOnce() -> ReceiptSent,
    ) -> Option<usize> {
        self.counts.receipts_sent += 1;
        if self.mode == RecordMode::Compact || self.receipts.len() >= DETAILED_MAX {
            return None;
        }
        self.receipts.push(receipt());
        Some(self.receipts.len() - 1)
    }

    pub(in crate::carrier) fn receipt_response(&mut self, entry: Option<usize>, status: CommandStatus) {
        if status.is_ok() {
            self.counts.receipts_accepted += 1
        } else {
            self.counts.receipts_rejected += 1
        }
        if let Some(entry) = entry {
            self.receipts[entry].response = Some(status);
        }
    }

    /// Notes a sent MO part. Returns its entry, where the response is noted.
    pub(in crate::carrier) fn mo_sent(&mut self, mo: impl FnOnce() -> MoSent) -> Option<usize> {
        self.counts.mo_sent += 1;
        if self.mode == RecordMode::Compact || self.mo.len() >= DETAILED_MAX {
            return None;
        }
        self.mo.push(mo());
        Some(self.mo.len() - 1)
    }

    pub(in crate::carrier) fn mo_response(&mut self, entry: Option<usize>, status: CommandStatus) {
        if status.is_ok() {
            self.counts.mo_accepted += 1;
        }
        if let Some(entry) = entry {
            self.mo[entry].response = Some(status);
        }
    }
}

/// The kinds of response that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::carrier) enum ResponseKind {
    Accepted,
    Rejected,
    None,
}

//! The carrier's record of all traffic, which tests compare with what the gateway reports.
//!
//! Memory is bounded in both modes. `Full` keeps details of the first 2,000,000 submits and receipts (about 1 KB each)
//! and counts the rest; `Compact` keeps counters and, for each message, a hash (151 MB at most, see `duplicates`).

mod concatenation;
mod duplicates;
mod entries;
mod log;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;

pub use concatenation::ReceivedMessage;
pub use entries::{
    BindAttempt, LinkEntry, MoSent, ReceiptSent, ReceivedSubmit, RecordCounts, RecordedResponse,
};

use crate::runtime;
pub(in crate::carrier) use duplicates::fingerprint;
pub(in crate::carrier) use log::{Log, ResponseKind};

/// Submits, and as many receipts, whose details `Full` keeps.
pub const DETAILED_MAX: usize = 2_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordMode {
    /// Keeps every submit and receipt with its details.
    Full,
    /// Keeps counters, and a hash of each message to find duplicates.
    Compact,
}

/// A handle to the record; clones share it.
#[derive(Clone)]
pub struct CarrierRecord {
    shared: Arc<Shared>,
}

struct Shared {
    log: Mutex<Log>,
    changed: Notify,
}

/// The condition of [`CarrierRecord::wait_until`] was not met in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeout {
    pub waited: Duration,
    pub counts: RecordCounts,
}

impl fmt::Display for WaitTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not met within {:?}; the carrier has {:?}", self.waited, self.counts)
    }
}

impl std::error::Error for WaitTimeout {}

impl CarrierRecord {
    pub(super) fn new(mode: RecordMode) -> CarrierRecord {
        CarrierRecord { shared: Arc::new(Shared { log: Mutex::new(Log::new(mode)), changed: Notify::new() }) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.shared.log.lock().expect("no holder of the record panics")
    }

    /// Writes entries under one lock and wakes the tasks that wait for a change.
    pub(super) fn write<R>(&self, entries: impl FnOnce(&mut Log) -> R) -> R {
        let written = entries(&mut self.log());
        self.shared.changed.notify_waiters();
        written
    }

    pub fn counts(&self) -> RecordCounts {
        self.log().all_counts()
    }

    /// Submits in order of arrival; `Full` only, and at most [`DETAILED_MAX`].
    pub fn submits(&self) -> Vec<ReceivedSubmit> {
        self.log().submits.clone()
    }

    /// Receipts in the order they were sent; `Full` only, and at most [`DETAILED_MAX`].
    pub fn receipts(&self) -> Vec<ReceiptSent> {
        self.log().receipts.clone()
    }

    pub fn binds(&self) -> Vec<BindAttempt> {
        self.log().binds.clone()
    }

    /// Connections in order of arrival, in both modes.
    pub fn links(&self) -> Vec<LinkEntry> {
        self.log().links.clone()
    }

    /// MO parts in the order they were sent; `Full` only.
    pub fn mo(&self) -> Vec<MoSent> {
        self.log().mo.clone()
    }

    /// The highest number of submits in any time span of this length, over all links; `Full` only.
    pub fn most_within(&self, span: Duration) -> usize {
        most_within(self.log().submits.iter().map(|submit| submit.at), span)
    }

    /// The highest number of submits on one link in any time span of this length; `Full` only.
    pub fn most_within_on(&self, link: u64, span: Duration) -> usize {
        let log = self.log();
        most_within(log.submits.iter().filter(|submit| submit.link == link).map(|submit| submit.at), span)
    }

    /// Complete messages that were not rejected, with their parts joined; `Full` only.
    pub fn received(&self) -> Vec<ReceivedMessage> {
        let log = self.log();
        concatenation::join(log.submits.iter().filter(|submit| !submit.response.is_rejection()))
    }

    /// The texts of [`CarrierRecord::received`].
    pub fn received_texts(&self) -> Vec<String> {
        self.received().into_iter().map(|received| received.text).collect()
    }

    /// How often a complete message with this text was received and not rejected; `Full` only.
    pub fn count_text(&self, text: &str) -> usize {
        self.received().iter().filter(|received| received.text == text).count()
    }

    /// Copies of messages or parts beyond the first of each, without rejected ones; both modes.
    pub fn duplicates(&self) -> u64 {
        self.log().copies.extra()
    }

    /// How often the message with the most copies was received; 1 without copies.
    pub fn copies_max(&self) -> u32 {
        self.log().copies.counts().max().unwrap_or(1)
    }

    /// Waits until `predicate` holds, which is checked after every change.
    pub async fn wait_until(
        &self,
        mut predicate: impl FnMut(&CarrierRecord) -> bool,
        wait_max: Duration,
    ) -> Result<(), WaitTimeout> {
        let give_up = runtime::now() + wait_max;
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            // Registered before the check: a change in between must not be missed.
            changed.as_mut().enable();
            if predicate(self) {
                return Ok(());
            }
            tokio::select! {
                () = changed => {}
                () = runtime::sleep_until(give_up) => {
                    return Err(WaitTimeout { waited: wait_max, counts: self.counts() });
                }
            }
        }
    }
}

/// Returns how many of these ordered times lie within one span at most.
fn most_within(times: impl Iterator<Item = Duration>, span: Duration) -> usize {
    let mut recent = VecDeque::new();
    let mut most = 0;
    for at in times {
        recent.push_back(at);
        while recent.front().is_some_and(|first| *first + span <= at) {
            recent.pop_front();
        }
        most = most.max(recent.len());
    }
    most
}

#[cfg(test)]
mod tests;

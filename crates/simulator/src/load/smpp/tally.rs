//! The counters of a running load.

use std::collections::BTreeMap;
use std::time::Instant;

use hdrhistogram::Histogram;
use hermod_smpp::CommandStatus;

use crate::load::report::{latencies, micros};

/// Different states, or reasons, that are counted; a peer may send any number of them.
const KINDS_MAX: usize = 100;
const DELIVERED: &[u8] = b"DELIVRD";

pub(super) struct SmppTally {
    pub(super) started: Instant,
    pub(super) response: Histogram<u32>,
    pub(super) receipt: Histogram<u32>,
    /// From the time a message was due until it was sent.
    pub(super) lag: Histogram<u32>,
    /// Messages sent together count as one.
    pub(super) bursts: u64,
    pub(super) submitted: u64,
    pub(super) accepted: u64,
    pub(super) rejected: BTreeMap<CommandStatus, u64>,
    pub(super) timed_out: u64,
    pub(super) late: u64,
    pub(super) lost: u64,
    pub(super) without_id: u64,
    pub(super) ids_repeated: u64,
    delivered: u64,
    states: BTreeMap<String, u64>,
    pub(super) receipts_duplicated: u64,
    pub(super) receipts_unknown: u64,
    pub(super) receipts_missing: u64,
    pub(super) intermediate: u64,
    /// MO messages.
    pub(super) messages: u64,
    /// Binds that ended early, by reason.
    pub(super) ends: BTreeMap<String, u64>,
    pub(super) last_response: Instant,
    pub(super) last_receipt: Instant,
}

impl SmppTally {
    pub(super) fn new(started: Instant) -> SmppTally {
        SmppTally {
            started,
            response: latencies(),
            receipt: latencies(),
            lag: latencies(),
            bursts: 0,
            submitted: 0,
            accepted: 0,
            rejected: BTreeMap::new(),
            timed_out: 0,
            late: 0,
            lost: 0,
            without_id: 0,
            ids_repeated: 0,
            delivered: 0,
            states: BTreeMap::new(),
            receipts_duplicated: 0,
            receipts_unknown: 0,
            receipts_missing: 0,
            intermediate: 0,
            messages: 0,
            ends: BTreeMap::new(),
            last_response: started,
            last_receipt: started,
        }
    }

    /// Counts a sent message; one that has a due time belongs to an open loop.
    pub(super) fn sent(&mut self, due: Option<Instant>, now: Instant) {
        self.submitted += 1;
        if let Some(due) = due {
            self.lag.saturating_record(micros(now.saturating_duration_since(due)));
        }
    }

    pub(super) fn accepted(&mut self, submitted: Option<Instant>, now: Instant) {
        self.accepted += 1;
        match submitted {
            Some(submitted) => self.response.saturating_record(micros(now - submitted)),
            None => self.late += 1,
        }
        self.last_response = now;
    }

    pub(super) fn rejected(&mut self, status: CommandStatus, now: Instant) {
        *self.rejected.entry(status).or_default() += 1;
        self.last_response = now;
    }

    pub(super) fn receipted(&mut self, submitted: Instant, received: Instant) {
        self.receipt.saturating_record(micros(received - submitted));
    }

    /// Messages with a receipt.
    pub(super) fn receipted_count(&self) -> u64 {
        self.receipt.len()
    }

    pub(super) fn count_state(&mut self, stat: &[u8], now: Instant) {
        self.last_receipt = now;
        if stat == DELIVERED {
            self.delivered += 1;
        } else {
            count(&mut self.states, &String::from_utf8_lossy(stat));
        }
    }

    /// All receipts by `stat`.
    pub(super) fn states(&self) -> BTreeMap<String, u64> {
        let mut states = self.states.clone();
        if self.delivered > 0 {
            states.insert(String::from_utf8_lossy(DELIVERED).into_owned(), self.delivered);
        }
        states
    }

    pub(super) fn ended(&mut self, reason: &str) {
        count(&mut self.ends, reason);
    }
}

fn count(counts: &mut BTreeMap<String, u64>, kind: &str) {
    let kind = if counts.len() < KINDS_MAX || counts.contains_key(kind) { kind } else { "other" };
    *counts.entry(kind.to_owned()).or_default() += 1;
}

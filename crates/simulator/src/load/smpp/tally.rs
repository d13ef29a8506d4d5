//! The figures of a run while it goes on.

use std::collections::BTreeMap;
use std::time::Instant;

use hdrhistogram::Histogram;
use hermod_smpp::CommandStatus;

use crate::load::report::{latencies, micros};

/// Kinds of state, or of end, that are told apart; a peer may invent any number.
const KINDS_MAX: usize = 100;
const DELIVERED: &[u8] = b"DELIVRD";

pub(super) struct Tally {
    pub(super) started: Instant,
    pub(super) answer: Histogram<u32>,
    pub(super) receipt: Histogram<u32>,
    pub(super) submitted: u64,
    pub(super) accepted: u64,
    pub(super) refused: BTreeMap<CommandStatus, u64>,
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
    /// Receipts that say a message is on its way.
    pub(super) notices: u64,
    /// Messages from handsets.
    pub(super) messages: u64,
    /// Binds that ended before they should, by why.
    pub(super) ends: BTreeMap<String, u64>,
    pub(super) last_answer: Instant,
    pub(super) last_receipt: Instant,
}

impl Tally {
    pub(super) fn new(started: Instant) -> Tally {
        Tally {
            started,
            answer: latencies(),
            receipt: latencies(),
            submitted: 0,
            accepted: 0,
            refused: BTreeMap::new(),
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
            notices: 0,
            messages: 0,
            ends: BTreeMap::new(),
            last_answer: started,
            last_receipt: started,
        }
    }

    pub(super) fn accepted(&mut self, submitted: Option<Instant>, now: Instant) {
        self.accepted += 1;
        match submitted {
            Some(submitted) => self.answer.saturating_record(micros(now - submitted)),
            None => self.late += 1,
        }
        self.last_answer = now;
    }

    pub(super) fn refused(&mut self, status: CommandStatus, now: Instant) {
        *self.refused.entry(status).or_default() += 1;
        self.last_answer = now;
    }

    pub(super) fn receipted(&mut self, submitted: Instant, came: Instant) {
        self.receipt.saturating_record(micros(came - submitted));
    }

    /// Receipts whose message is known, each message once.
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

    /// All receipts by what they say.
    pub(super) fn states(&self) -> BTreeMap<String, u64> {
        let mut states = self.states.clone();
        if self.delivered > 0 {
            states.insert(String::from_utf8_lossy(DELIVERED).into_owned(), self.delivered);
        }
        states
    }

    pub(super) fn ended(&mut self, why: &str) {
        count(&mut self.ends, why);
    }
}

fn count(counts: &mut BTreeMap<String, u64>, kind: &str) {
    let kind = if counts.len() < KINDS_MAX || counts.contains_key(kind) { kind } else { "other" };
    *counts.entry(kind.to_owned()).or_default() += 1;
}

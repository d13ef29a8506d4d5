//! The counters of a running load.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hermod_smpp::CommandStatus;

use super::report::{ReceiptCounts, SmppLoadReport, SmppRunFacts};
use crate::load::report::{Latency, latencies, micros};

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
    pub(super) rejected: BTreeMap<CommandStatus, u64>,
    pub(super) without_id: u64,
    pub(super) ids_repeated: u64,
    delivered: u64,
    /// What is counted as it is reported; the rest of the report is empty until the end.
    pub(super) report: SmppLoadReport,
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
            rejected: BTreeMap::new(),
            without_id: 0,
            ids_repeated: 0,
            delivered: 0,
            report: SmppLoadReport::default(),
            last_response: started,
            last_receipt: started,
        }
    }

    /// Counts a sent message; one that has a due time belongs to an open loop.
    pub(super) fn sent(&mut self, due: Option<Instant>, now: Instant) {
        self.report.submitted += 1;
        if let Some(due) = due {
            self.lag.saturating_record(micros(now.saturating_duration_since(due)));
        }
    }

    pub(super) fn accepted(&mut self, submitted: Option<Instant>, now: Instant) {
        self.report.accepted += 1;
        match submitted {
            Some(submitted) => self.response.saturating_record(micros(now - submitted)),
            None => self.report.late += 1,
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

    pub(super) fn count_state(&mut self, stat: &[u8], now: Instant) {
        self.last_receipt = now;
        if stat == DELIVERED {
            self.delivered += 1;
        } else {
            count(&mut self.report.receipts.states, &String::from_utf8_lossy(stat));
        }
    }

    /// All receipts by `stat`.
    fn states(&self) -> BTreeMap<String, u64> {
        let mut states = self.report.receipts.states.clone();
        if self.delivered > 0 {
            states.insert(String::from_utf8_lossy(DELIVERED).into_owned(), self.delivered);
        }
        states
    }

    /// Returns the report of the run.
    pub(super) fn finish(self, run: SmppRunFacts, unsent: u64, cpu: Duration) -> SmppLoadReport {
        let since_start = |last: Instant| (last - self.started).as_secs_f64();
        let per_second = |count: u64, last| count as f64 / since_start(last).max(1e-9);
        let (cpu_us, received, counted) = (micros(cpu), self.receipt.len(), &self.report);
        SmppLoadReport {
            run,
            duration_s: since_start(self.last_response),
            rejected: self.rejected.values().sum(),
            statuses: self.rejected.iter().map(|(status, count)| (status.to_string(), *count)).collect(),
            unsent,
            bad_ids: self.without_id + self.ids_repeated,
            per_second: per_second(counted.accepted, self.last_response),
            receipts: ReceiptCounts {
                received,
                states: self.states(),
                duration_s: since_start(self.last_receipt),
                per_second: per_second(received, self.last_receipt),
                ..counted.receipts.clone()
            },
            response: Latency::of(&self.response),
            receipt: Latency::of(&self.receipt),
            lag: Latency::of(&self.lag),
            burst: counted.submitted as f64 / self.bursts.max(1) as f64,
            cpu_us,
            cpu_us_per_message: cpu_us as f64 / counted.submitted.max(1) as f64,
            ..counted.clone()
        }
    }

    pub(super) fn ended(&mut self, reason: &str) {
        count(&mut self.report.binds_ended, reason);
    }
}

fn count(counts: &mut BTreeMap<String, u64>, kind: &str) {
    let kind = if counts.len() < KINDS_MAX || counts.contains_key(kind) { kind } else { "other" };
    *counts.entry(kind.to_owned()).or_default() += 1;
}

//! The report of a load run over SMPP: counts, rates and latencies, as a table or JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::load::report::{Latency, latency_head, latency_row};

/// The parameters of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SmppRunFacts {
    pub binds: u32,
    /// Messages without a response per bind.
    pub window: u32,
    /// Messages due per second; none when each bind keeps its window full.
    pub target_per_second: Option<f64>,
}

/// The result of a run. Every submitted message is accepted, rejected, timed out or lost; one that is accepted after it timed
/// out counts as both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SmppLoadReport {
    #[serde(flatten)]
    pub run: SmppRunFacts,
    /// From the start to the last response.
    pub duration_s: f64,
    pub submitted: u64,
    pub accepted: u64,
    pub rejected: u64,
    /// Rejected messages by status.
    pub statuses: BTreeMap<String, u64>,
    /// No response in time.
    pub timed_out: u64,
    /// Accepted after they had timed out.
    pub late: u64,
    /// Without a response when their bind ended.
    pub lost: u64,
    /// Due, but all windows were full.
    pub unsent: u64,
    /// Accepted without an id, or with one that was used before.
    pub bad_ids: u64,
    /// Accepted messages per second.
    pub per_second: f64,
    pub receipts: ReceiptCounts,
    /// MO messages.
    pub messages_received: u64,
    /// Binds that ended before the run, by reason.
    pub binds_ended: BTreeMap<String, u64>,
    /// From the time a message was due or sent to its `submit_sm_resp`.
    pub response: Latency,
    /// From the same time to its receipt.
    pub receipt: Latency,
    /// From the time a message was due until it was sent: the generator's own delay, and the wait for a free place in the window.
    pub lag: Latency,
    /// Messages that were sent together, on average.
    pub burst: f64,
    /// CPU time of the process during the run.
    pub cpu_us: u64,
    pub cpu_us_per_message: f64,
}

/// The receipts of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReceiptCounts {
    /// Messages with a receipt.
    pub received: u64,
    /// Repeated receipts.
    pub duplicated: u64,
    /// Receipts with an id of no message.
    pub unknown: u64,
    /// Accepted messages without a receipt at the end of the wait.
    pub missing: u64,
    /// Intermediate receipts.
    pub intermediate: u64,
    /// All receipts by `stat`.
    pub states: BTreeMap<String, u64>,
    /// From the start to the last receipt.
    pub duration_s: f64,
    pub per_second: f64,
}

impl SmppLoadReport {
    /// The number of errors. Unsent messages are a result and no error.
    pub fn errors(&self) -> u64 {
        let ReceiptCounts { duplicated, unknown, missing, .. } = &self.receipts;
        self.rejected
            + self.timed_out
            + self.lost
            + self.bad_ids
            + duplicated
            + unknown
            + missing
            + self.binds_ended.values().sum::<u64>()
    }
}

impl fmt::Display for SmppLoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SmppRunFacts { binds, window, target_per_second } = self.run;
        let pace = target_per_second.map_or("full window".to_owned(), |rate| format!("{rate:.0} /s"));
        writeln!(f, "{pace}, {binds} binds, window {window}, {:.2} s", self.duration_s)?;
        writeln!(f, "  submitted  {:>12}", self.submitted)?;
        writeln!(f, "  accepted   {:>12}  {:>12.0} /s", self.accepted, self.per_second)?;
        writeln!(f, "  receipts   {:>12}  {:>12.0} /s", self.receipts.received, self.receipts.per_second)?;
        for (state, count) in &self.receipts.states {
            writeln!(f, "    {state:<9}{count:>12}")?;
        }
        writeln!(f, "  errors     {:>12}", self.errors())?;
        for (status, count) in &self.statuses {
            writeln!(f, "    {count:>9}  rejected with {status}")?;
        }
        for (count, what) in self.error_counts() {
            if count > 0 {
                writeln!(f, "    {count:>9}  {what}")?;
            }
        }
        for (why, count) in &self.binds_ended {
            writeln!(f, "    {count:>9}  binds ended: {why}")?;
        }
        if self.unsent > 0 {
            writeln!(f, "  unsent     {:>12}  due, but all windows were full", self.unsent)?;
        }
        latency_head(f)?;
        latency_row(f, "response", &self.response)?;
        latency_row(f, "receipt", &self.receipt)?;
        if target_per_second.is_some() {
            latency_row(f, "lag", &self.lag)?;
        }
        writeln!(f, "  CPU of the generator {:.1} us per message", self.cpu_us_per_message)
    }
}

impl SmppLoadReport {
    fn error_counts(&self) -> [(u64, &'static str); 6] {
        [
            (self.timed_out, "timed out"),
            (self.lost, "lost with their bind"),
            (self.bad_ids, "accepted without an id or with a repeated one"),
            (self.receipts.duplicated, "duplicated receipts"),
            (self.receipts.unknown, "receipts with an unknown id"),
            (self.receipts.missing, "missing receipts"),
        ]
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

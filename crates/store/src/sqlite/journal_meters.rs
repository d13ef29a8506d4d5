//! Metrics of the journal and of flushes.

use metrics::{Counter, Gauge, counter, gauge};

pub(super) struct JournalMeters {
    /// Syncs of the journal, one for each batch with changes.
    pub(super) fsyncs: Counter,
    flushes: Counter,
    journal_bytes: Gauge,
}

impl JournalMeters {
    pub(super) fn register() -> JournalMeters {
        JournalMeters {
            fsyncs: counter!("hermod_store_fsyncs_total"),
            flushes: counter!("hermod_store_flushes_total"),
            journal_bytes: gauge!("hermod_store_journal_bytes"),
        }
    }

    /// Counts a flush, and publishes the size of the batches that only the journal makes durable.
    #[expect(clippy::cast_precision_loss, reason = "a metric, exact up to 2^53")]
    pub(super) fn count_flush(&self, journal_bytes: u64) {
        self.flushes.increment(1);
        self.journal_bytes.set(journal_bytes as f64);
    }
}

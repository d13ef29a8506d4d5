//! The writer's metrics. The handles are created once, because looking a metric up by name costs more than counting it.

use hermod_engine::batch::Tally;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

pub(crate) struct Meters {
    /// In the order of [`Tally::METRICS`].
    counts: [Counter; Tally::METRICS.len()],
    webhooks_waiting: Gauge,
    batches: Counter,
    batch_ops: Histogram,
    jobs_in_memory: Gauge,
}

impl Meters {
    /// Registers the metrics. `webhooks_waiting`: how many webhook events wait at the start.
    #[expect(clippy::cast_precision_loss, reason = "a metric, exact up to 2^53")]
    pub(crate) fn register(webhooks_waiting: u64) -> Meters {
        let waiting = gauge!("hermod_webhook_waiting");
        waiting.set(webhooks_waiting as f64);
        Meters {
            counts: Tally::METRICS.map(|name| counter!(name)),
            webhooks_waiting: waiting,
            batches: counter!("hermod_store_batches_total"),
            batch_ops: histogram!("hermod_store_batch_operations"),
            jobs_in_memory: gauge!("hermod_store_jobs_in_memory"),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a metric of at most a few thousand")]
    /// Adds the counts of a committed batch.
    pub(crate) fn count(&self, tally: &Tally, ops: usize, jobs_in_memory: usize) {
        for (counter, count) in self.counts.iter().zip(tally.counts()) {
            counter.increment(count);
        }
        self.webhooks_waiting.increment((tally.webhooks + tally.webhooks_replayed) as f64);
        self.webhooks_waiting.decrement((tally.webhooks_delivered + tally.webhooks_given_up) as f64);
        self.batches.increment(1);
        self.batch_ops.record(ops as f64);
        self.jobs_in_memory.set(jobs_in_memory as f64);
    }
}

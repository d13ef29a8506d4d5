//! The writer's metrics. The handles are created once, because looking a metric up by name costs more than counting it.

use hermod_engine::batch::{Doubts, Tally};
use hermod_engine::ops::Purged;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

pub(crate) struct Meters {
    accepted: Counter,
    claimed: Counter,
    settled: Counter,
    refunded: Counter,
    in_doubt: Counter,
    resent: Counter,
    unconfirmed: Counter,
    moved: Counter,
    receipts_parked: Counter,
    receipts_ambiguous: Counter,
    receipts_rematched: Counter,
    receipts_given_up: Counter,
    receipts_late: Counter,
    receipts_by_number: Counter,
    ids_reused: Counter,
    illegal: Counter,
    reports: Counter,
    reports_accepted: Counter,
    reports_given_up: Counter,
    reports_moved: Counter,
    webhooks: Counter,
    webhooks_delivered: Counter,
    webhooks_given_up: Counter,
    webhooks_replayed: Counter,
    webhook_attempts: Counter,
    webhook_failures: Counter,
    webhooks_waiting: Gauge,
    texts_purged: Counter,
    messages_purged: Counter,
    inbound_purged: Counter,
    inbound: Counter,
    inbound_repeated: Counter,
    inbound_incomplete: Counter,
    inbound_unassigned: Counter,
    opt_outs: Counter,
    opt_ins: Counter,
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
            accepted: counter!("hermod_messages_accepted_total"),
            claimed: counter!("hermod_parts_claimed_total"),
            settled: counter!("hermod_messages_settled_total"),
            refunded: counter!("hermod_messages_refunded_total"),
            in_doubt: counter!("hermod_parts_in_doubt_total"),
            resent: counter!("hermod_parts_resent_total"),
            unconfirmed: counter!("hermod_parts_unconfirmed_total"),
            moved: counter!("hermod_messages_moved_total"),
            receipts_parked: counter!("hermod_receipts_parked_total"),
            receipts_ambiguous: counter!("hermod_receipts_ambiguous_total"),
            receipts_rematched: counter!("hermod_receipts_rematched_total"),
            receipts_given_up: counter!("hermod_receipts_given_up_total"),
            receipts_late: counter!("hermod_receipts_late_total"),
            receipts_by_number: counter!("hermod_receipts_matched_by_number_total"),
            ids_reused: counter!("hermod_carrier_ids_reused_total"),
            illegal: counter!("hermod_lifecycle_illegal_total"),
            reports: counter!("hermod_reports_total"),
            reports_accepted: counter!("hermod_reports_taken_total"),
            reports_given_up: counter!("hermod_reports_given_up_total"),
            reports_moved: counter!("hermod_reports_moved_to_webhooks_total"),
            webhooks: counter!("hermod_webhook_events_total"),
            webhooks_delivered: counter!("hermod_webhook_delivered_total"),
            webhooks_given_up: counter!("hermod_webhook_given_up_total"),
            webhooks_replayed: counter!("hermod_webhook_replayed_total"),
            webhook_attempts: counter!("hermod_webhook_attempts_total"),
            webhook_failures: counter!("hermod_webhook_failures_total"),
            webhooks_waiting: waiting,
            texts_purged: counter!("hermod_texts_purged_total"),
            messages_purged: counter!("hermod_messages_purged_total"),
            inbound_purged: counter!("hermod_inbound_purged_total"),
            inbound: counter!("hermod_inbound_total"),
            inbound_repeated: counter!("hermod_inbound_repeated_total"),
            inbound_incomplete: counter!("hermod_inbound_incomplete_total"),
            inbound_unassigned: counter!("hermod_inbound_unassigned_total"),
            opt_outs: counter!("hermod_inbound_opt_outs_total"),
            opt_ins: counter!("hermod_inbound_opt_ins_total"),
            batches: counter!("hermod_store_batches_total"),
            batch_ops: histogram!("hermod_store_batch_operations"),
            jobs_in_memory: gauge!("hermod_store_jobs_in_memory"),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a metric of at most a few thousand")]
    /// Adds the counts of a committed batch.
    pub(crate) fn count(&self, tally: &Tally, ops: usize, jobs_in_memory: usize) {
        let Tally {
            accepted,
            claimed,
            settled,
            refunded,
            doubts,
            moved,
            receipts_parked,
            receipts_ambiguous,
            receipts_rematched,
            receipts_given_up,
            receipts_late,
            receipts_by_number,
            ids_reused,
            illegal,
            reports,
            reports_accepted,
            reports_given_up,
            reports_moved,
            webhooks,
            webhooks_delivered,
            webhooks_given_up,
            webhooks_replayed,
            webhook_attempts,
            webhook_failures,
            purged,
            inbound,
            inbound_repeated,
            inbound_incomplete,
            inbound_unassigned,
            opt_outs,
            opt_ins,
        } = *tally;
        self.accepted.increment(accepted);
        self.claimed.increment(claimed);
        self.settled.increment(settled);
        self.refunded.increment(refunded);
        self.count_doubts(doubts);
        self.moved.increment(moved);
        self.receipts_parked.increment(receipts_parked);
        self.receipts_ambiguous.increment(receipts_ambiguous);
        self.receipts_rematched.increment(receipts_rematched);
        self.receipts_given_up.increment(receipts_given_up);
        self.receipts_late.increment(receipts_late);
        self.receipts_by_number.increment(receipts_by_number);
        self.ids_reused.increment(ids_reused);
        self.illegal.increment(illegal);
        self.reports.increment(reports);
        self.reports_accepted.increment(reports_accepted);
        self.reports_given_up.increment(reports_given_up);
        self.reports_moved.increment(reports_moved);
        self.webhooks.increment(webhooks);
        self.webhooks_delivered.increment(webhooks_delivered);
        self.webhooks_given_up.increment(webhooks_given_up);
        self.webhooks_replayed.increment(webhooks_replayed);
        self.webhook_attempts.increment(webhook_attempts);
        self.webhook_failures.increment(webhook_failures);
        self.webhooks_waiting.increment((webhooks + webhooks_replayed) as f64);
        self.webhooks_waiting.decrement((webhooks_delivered + webhooks_given_up) as f64);
        self.count_purged(purged);
        self.inbound.increment(inbound);
        self.inbound_repeated.increment(inbound_repeated);
        self.inbound_incomplete.increment(inbound_incomplete);
        self.inbound_unassigned.increment(inbound_unassigned);
        self.opt_outs.increment(opt_outs);
        self.opt_ins.increment(opt_ins);
        self.batches.increment(1);
        self.batch_ops.record(ops as f64);
        self.jobs_in_memory.set(jobs_in_memory as f64);
    }

    fn count_doubts(&self, doubts: Doubts) {
        let Doubts { in_doubt, resent, unconfirmed } = doubts;
        self.in_doubt.increment(in_doubt);
        self.resent.increment(resent);
        self.unconfirmed.increment(unconfirmed);
    }

    fn count_purged(&self, purged: Purged) {
        let Purged { texts, messages, inbound, .. } = purged;
        self.texts_purged.increment(texts);
        self.messages_purged.increment(messages);
        self.inbound_purged.increment(inbound);
    }
}

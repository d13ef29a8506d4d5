//! The metrics of the record.

use metrics::{Counter, Gauge, counter, gauge};

pub(super) struct Meters {
    pub messages: Counter,
    pub batches_dropped: Counter,
    pub requests_dropped: Counter,
    lag: Gauge,
    catching_up: Gauge,
}

impl Meters {
    pub(super) fn register() -> Meters {
        Meters {
            messages: counter!("hermod_record_messages_total"),
            batches_dropped: counter!("hermod_record_batches_dropped_total"),
            requests_dropped: counter!("hermod_record_requests_dropped_total"),
            lag: gauge!("hermod_record_lag_seconds"),
            catching_up: gauge!("hermod_record_catching_up_messages"),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a metric, exact up to 2^53")]
    pub(super) fn set(&self, status: crate::record::RecordStatus) {
        self.lag.set(status.lag.as_secs_f64());
        self.catching_up.set(status.catching_up as f64);
    }
}

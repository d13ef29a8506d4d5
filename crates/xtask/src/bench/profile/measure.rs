//! One measurement: a gateway on an empty store, a warm-up, the load, and the audit.

use super::super::Programs;
use super::super::bed::{Bed, rest};
use super::super::float;
use super::super::gateway::{Gateway, Setup};
use super::super::load::{Length, Load, Over, Report};
use super::super::metrics::Metrics;
use super::super::process::Usage;
use super::figures::{Column, Figures, Measured};
use super::scenario::{CONNECTIONS, Offered, Protocol, Scenario};
use crate::shell::Failure;

/// An offered load counts as reached from this share on.
const REACHED_SHARE: f64 = 0.98;
const COMMITS: &str = "hermod_store_batches_total";
const FSYNCS: &str = "hermod_store_fsyncs_total";

/// How long the load lasts, in seconds.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    pub(super) seconds: u64,
    /// Before it, and not measured: new links start slowly, and a new store grows.
    pub(super) warm_up: u64,
}

/// Measures one build at one load.
pub(super) fn measure(programs: &Programs, scenario: Scenario, lengths: Lengths) -> Measured {
    let load = |seconds| Load {
        over: match scenario.protocol {
            Protocol::Smpp => Over::Smpp { binds: 1, window: scenario.window, tls: false },
            Protocol::Http => Over::Http { connections: CONNECTIONS, flags: &[] },
        },
        rate: scenario.offered.rate(),
        length: Length::Seconds(seconds),
    };
    let setup = Setup::default();
    let customers = setup.customers.clone();
    let mut bed = Bed::start(programs, setup)?;
    if lengths.warm_up > 0 {
        bed.offer(&customers, &load(lengths.warm_up), rest)?;
        bed.gateway().wait_until_idle()?;
    }
    let before = Snapshot::take(bed.gateway())?;
    let sent = bed.offer(&customers, &load(lengths.seconds), rest)?;
    // What is done later belongs to the cost of a message.
    bed.gateway().wait_until_idle()?;
    let after = Snapshot::take(bed.gateway())?;
    bed.end()?;
    Ok(figures(scenario.offered, sent.per_second, sent.report(), &before, &after))
}

/// The counters of a gateway at one moment.
struct Snapshot {
    usage: Usage,
    metrics: Metrics,
}

impl Snapshot {
    fn take(gateway: &Gateway) -> Result<Snapshot, Failure> {
        Ok(Snapshot { usage: gateway.usage()?, metrics: gateway.metrics()? })
    }
}

fn figures(offered: Offered, per_second: f64, sent: &Report, before: &Snapshot, after: &Snapshot) -> Figures {
    let used = after.usage.since(before.usage);
    let each = |amount: f64| amount / float(sent.accepted.max(1));
    let [cpu, store, record] =
        [used.cpu, used.store_cpu, used.record_cpu].map(|time| time.as_secs_f64() * 1e6);
    let counted = |name| {
        let now = after.metrics.total(name)?;
        Some(each(now - before.metrics.total(name).unwrap_or(0.0)))
    };
    let mut figures = Figures::new(is_short(offered, per_second, sent.unsent));
    for (column, value) in [
        (Column::Reached, Some(per_second)),
        (Column::Cpu, Some(each(cpu))),
        (Column::CpuStore, Some(each(store))),
        (Column::CpuRecord, Some(each(record))),
        (Column::CpuRest, Some(each((cpu - store - record).max(0.0)))),
        (Column::Written, Some(each(float(used.written_bytes)))),
        (Column::Commits, counted(COMMITS)),
        (Column::Fsyncs, counted(FSYNCS)),
        (Column::ResponseP50, Some(sent.response[0])),
        (Column::ResponseP99, Some(sent.response[1])),
        (Column::ResponseP999, Some(sent.response[2])),
        (Column::ReceiptP50, sent.receipt.map(|receipt| receipt[0])),
        (Column::ReceiptP99, sent.receipt.map(|receipt| receipt[1])),
        (Column::Memory, Some(float(used.resident_peak_bytes >> 20))),
    ] {
        figures.set(column, value);
    }
    figures
}

fn is_short(offered: Offered, per_second: f64, unsent: u64) -> bool {
    offered.rate().is_some_and(|rate| unsent > 0 || per_second < float(rate) * REACHED_SHARE)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn snapshot(cpu_ms: u64, store_ms: u64, written: u64, metrics: &str) -> Snapshot {
        let usage = Usage {
            cpu: Duration::from_millis(cpu_ms),
            store_cpu: Duration::from_millis(store_ms),
            written_bytes: written,
            resident_peak_bytes: 45 << 20,
            ..Usage::default()
        };
        Snapshot { usage, metrics: Metrics::new(metrics.to_owned()) }
    }

    #[test]
    fn usage_is_divided_by_the_messages_of_the_load() {
        let before = snapshot(100, 50, 1_000, "hermod_store_batches_total 10\n");
        let after = snapshot(500, 350, 5_000_000, "hermod_store_batches_total 1310\n");
        let sent = Report { accepted: 1_000, response: [1.0, 2.0, 3.0], ..Report::default() };
        let figures = figures(Offered::Rate(500), 499.0, &sent, &before, &after);
        let cells = Column::ALL.map(|column| figures.cell(column)).join(" ");
        assert_eq!(cells, "499 400 300 0.00 100 4,999 1.30 - 1.00 2.00 3.00 - - 45.0");
        assert!(!figures.is_short);
    }

    #[test]
    fn load_is_short_below_its_rate_or_with_messages_unsent() {
        assert!(is_short(Offered::Rate(500), 480.0, 0));
        assert!(is_short(Offered::Rate(500), 500.0, 1));
        assert!(!is_short(Offered::Rate(500), 495.0, 0));
        assert!(!is_short(Offered::Saturation, 1.0, 0));
    }
}

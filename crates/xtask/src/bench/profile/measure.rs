//! One measurement: a gateway on an empty store, a warm-up, the load, and the audit.

use std::time::Duration;

use super::super::gateway::{Carrier, Gateway, Smpp};
use super::super::http_load::HttpLoad;
use super::super::metrics::Metrics;
use super::super::process::Usage;
use super::super::programs::Programs;
use super::super::smpp_load::SmppLoad;
use super::super::{failure, ms, start_watch};
use super::figures::{Column, Figures};
use super::row::Measured;
use super::scenario::{CONNECTIONS, Offered, Protocol, Scenario};
use crate::shell::Failure;

/// Time for all accepted messages to be settled after the load.
const SETTLE_WAIT: Duration = Duration::from_secs(120);
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
    let carrier = Carrier::start(programs, &["--receipt-after", "1ms"])?;
    let (gateway, smpp) = match scenario.protocol {
        Protocol::Smpp => {
            let (gateway, smpp) = Gateway::start_for(programs, &carrier.address, 1)?;
            (gateway, Some(smpp))
        }
        Protocol::Http => (Gateway::start(programs, &carrier.address)?, None),
    };
    let customer = Customer { programs, scenario, gateway: &gateway, smpp: smpp.as_ref() };
    let mut accepted = 0;
    if lengths.warm_up > 0 {
        accepted = customer.send(lengths.warm_up, 0)?.accepted;
        gateway.wait_until_idle()?;
    }
    let before = Snapshot::take(&gateway)?;
    let sent = customer.send(lengths.seconds, accepted)?;
    // What is done later belongs to the cost of a message.
    gateway.wait_until_idle()?;
    let after = Snapshot::take(&gateway)?;
    accepted += sent.accepted;
    gateway.end_and_audit(accepted)?;
    carrier.end_and_compare(accepted)?;
    Ok(figures(scenario.offered, &sent, &before, &after))
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

/// What a customer sent and got back. Latencies are in milliseconds.
struct Sent {
    accepted: u64,
    /// Messages per second until the last one was receipted.
    per_second: f64,
    unsent: u64,
    /// p50, p99 and p99.9.
    response: [f64; 3],
    /// p50 and p99, where the generator receives receipts.
    receipt: Option<[f64; 2]>,
}

struct Customer<'a> {
    programs: &'a Programs,
    scenario: Scenario,
    gateway: &'a Gateway,
    smpp: Option<&'a Smpp>,
}

impl Customer<'_> {
    /// Sends for this long and waits until all messages are settled, those `before` included.
    fn send(&self, seconds: u64, before: u64) -> Result<Sent, Failure> {
        match self.smpp {
            Some(smpp) => self.send_smpp(smpp, seconds, before),
            None => self.send_http(seconds, before),
        }
    }

    fn send_smpp(&self, smpp: &Smpp, seconds: u64, before: u64) -> Result<Sent, Failure> {
        let Scenario { offered, window, .. } = self.scenario;
        let load = SmppLoad {
            address: &smpp.plain,
            binds: 1,
            window,
            certificate: None,
            rate: offered.rate(),
            seconds,
            first: before,
        };
        let report = load.run(self.programs)?;
        report.require_no_errors()?;
        self.gateway.wait_until_settled(before + report.accepted, SETTLE_WAIT)?;
        Ok(Sent {
            accepted: report.accepted,
            per_second: report.per_second,
            unsent: report.count("/unsent"),
            response: ["/response/p50_us", "/response/p99_us", "/response/p999_us"].map(|p| report.ms(p)),
            receipt: Some(["/receipt/p50_us", "/receipt/p99_us"].map(|p| report.ms(p))),
        })
    }

    fn send_http(&self, seconds: u64, before: u64) -> Result<Sent, Failure> {
        let Scenario { offered, .. } = self.scenario;
        let load = HttpLoad {
            url: &self.gateway.base_url,
            credentials: self.gateway.credentials(),
            connections: CONNECTIONS,
            keys: false,
            rate: offered.rate(),
            seconds,
            first: before,
        };
        let started = start_watch();
        let report = load.run(self.programs)?;
        if report.errors() > 0 {
            return Err(failure(format!("{} errors: {report:?}", report.errors())));
        }
        self.gateway.wait_until_settled(before + report.accepted, SETTLE_WAIT)?;
        let per_second = match offered {
            Offered::Rate(_) => report.per_second,
            Offered::Saturation => float(report.accepted) / started.elapsed().as_secs_f64(),
        };
        Ok(Sent {
            accepted: report.accepted,
            per_second,
            unsent: report.unsent,
            response: [report.p50_us, report.p99_us, report.p999_us].map(ms),
            receipt: None,
        })
    }
}

fn figures(offered: Offered, sent: &Sent, before: &Snapshot, after: &Snapshot) -> Figures {
    let used = after.usage.since(before.usage);
    let each = |amount: f64| amount / float(sent.accepted.max(1));
    let [cpu, store, record] =
        [used.cpu, used.store_cpu, used.record_cpu].map(|time| time.as_secs_f64() * 1e6);
    let counted = |name| {
        let now = after.metrics.total(name)?;
        Some(each(now - before.metrics.total(name).unwrap_or(0.0)))
    };
    let mut figures = Figures::new(is_short(offered, sent));
    for (column, value) in [
        (Column::Reached, Some(sent.per_second)),
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

fn is_short(offered: Offered, sent: &Sent) -> bool {
    offered.rate().is_some_and(|rate| sent.unsent > 0 || sent.per_second < float(rate) * REACHED_SHARE)
}

#[expect(clippy::cast_precision_loss, reason = "a count or an amount, for a figure with three digits")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
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

    fn sent(per_second: f64, unsent: u64) -> Sent {
        Sent { accepted: 1_000, per_second, unsent, response: [1.0, 2.0, 3.0], receipt: None }
    }

    #[test]
    fn usage_is_divided_by_the_messages_of_the_load() {
        let before = snapshot(100, 50, 1_000, "hermod_store_batches_total 10\n");
        let after = snapshot(500, 350, 5_000_000, "hermod_store_batches_total 1310\n");
        let figures = figures(Offered::Rate(500), &sent(499.0, 0), &before, &after);
        let cells = Column::ALL.map(|column| figures.cell(column)).join(" ");
        assert_eq!(cells, "499 400 300 0.00 100 4,999 1.30 - 1.00 2.00 3.00 - - 45.0");
        assert!(!figures.is_short);
    }

    #[test]
    fn load_is_short_below_its_rate_or_with_messages_unsent() {
        assert!(is_short(Offered::Rate(500), &sent(480.0, 0)));
        assert!(is_short(Offered::Rate(500), &sent(500.0, 1)));
        assert!(!is_short(Offered::Rate(500), &sent(495.0, 0)));
        assert!(!is_short(Offered::Saturation, &sent(1.0, 0)));
    }
}

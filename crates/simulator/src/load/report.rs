//! The report of a load run over HTTP: counts, rate and latencies, as a table or JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Longer latencies count as this one.
const LATENCY_US_MAX: u64 = 600_000_000;

/// Why a request got no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestFailure {
    /// Connecting timed out: nothing was sent.
    Connect,
    /// The connection ended before the response was complete: the server may have acted.
    Closed,
    /// The response timed out: the server may have acted.
    Timeout,
    /// The response is not HTTP, or its body is too long.
    BadAnswer,
}

/// The figures of one connection, or of several.
#[derive(Debug)]
pub(crate) struct HttpTally {
    latency: Histogram<u32>,
    service: Histogram<u32>,
    statuses: BTreeMap<u16, u64>,
    failures: BTreeMap<RequestFailure, u64>,
}

impl HttpTally {
    pub(crate) fn new() -> HttpTally {
        let empty = latencies();
        HttpTally {
            latency: empty.clone(),
            service: empty,
            statuses: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }

    /// `latency` counts from when the request was due, `service` from when it was sent.
    pub(crate) fn answered(&mut self, status: u16, latency: Duration, service: Duration) {
        self.latency.saturating_record(micros(latency));
        self.service.saturating_record(micros(service));
        *self.statuses.entry(status).or_default() += 1;
    }

    pub(crate) fn failed(&mut self, failure: RequestFailure) {
        *self.failures.entry(failure).or_default() += 1;
    }

    pub(crate) fn merge(&mut self, other: &HttpTally) {
        let HttpTally { latency, service, statuses, failures } = other;
        self.latency.add(latency).expect("all histograms have the same bounds");
        self.service.add(service).expect("all histograms have the same bounds");
        for (status, count) in statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (failure, count) in failures {
            *self.failures.entry(*failure).or_default() += count;
        }
    }

    pub(crate) fn report(&self, run: HttpRunFacts) -> HttpLoadReport {
        let answered = self.statuses.values().sum();
        let failed: u64 = self.failures.values().sum();
        let HttpRunFacts { connections, target_per_second, duration, unsent } = run;
        HttpLoadReport {
            mode: if target_per_second.is_some() { LoadMode::Open } else { LoadMode::Closed },
            connections,
            target_per_second,
            duration_s: duration.as_secs_f64(),
            requests: answered + failed,
            answered,
            failed,
            unsent,
            per_second: answered as f64 / duration.as_secs_f64().max(1e-9),
            statuses: self.statuses.clone(),
            failures: self.failures.clone(),
            latency: Latency::of(&self.latency),
            service: Latency::of(&self.service),
        }
    }
}

/// An empty histogram of microseconds.
pub(crate) fn latencies() -> Histogram<u32> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("constant bounds make a histogram")
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The parameters and the duration of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpRunFacts {
    pub(crate) connections: u32,
    pub(crate) target_per_second: Option<f64>,
    pub(crate) duration: Duration,
    pub(crate) unsent: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadMode {
    Closed,
    Open,
}

/// The result of a run. Every request is either answered or failed; messages of an open loop that were due and not sent are
/// `unsent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HttpLoadReport {
    pub mode: LoadMode,
    pub connections: u32,
    pub target_per_second: Option<f64>,
    pub duration_s: f64,
    pub requests: u64,
    pub answered: u64,
    pub failed: u64,
    pub unsent: u64,
    /// Responses per second over the whole run.
    pub per_second: f64,
    pub statuses: BTreeMap<u16, u64>,
    pub failures: BTreeMap<RequestFailure, u64>,
    /// From the time a request was due (open loop) or sent (closed loop) to the last byte of its response.
    pub latency: Latency,
    /// From the time it was sent. The difference to `latency` is the wait for a free connection.
    pub service: Latency,
}

/// Latency percentiles in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    pub mean_us: f64,
    pub p50_us: u64,
    pub p90_us: u64,
    pub p99_us: u64,
    pub p999_us: u64,
    pub max_us: u64,
}

impl Latency {
    pub(crate) fn of(histogram: &Histogram<u32>) -> Latency {
        Latency {
            mean_us: histogram.mean(),
            p50_us: histogram.value_at_quantile(0.50),
            p90_us: histogram.value_at_quantile(0.90),
            p99_us: histogram.value_at_quantile(0.99),
            p999_us: histogram.value_at_quantile(0.999),
            max_us: histogram.max(),
        }
    }
}

impl HttpLoadReport {
    /// Responses with this status.
    pub fn count(&self, status: u16) -> u64 {
        self.statuses.get(&status).copied().unwrap_or(0)
    }
}

impl fmt::Display for HttpLoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            LoadMode::Closed => "closed loop".to_owned(),
            LoadMode::Open => format!("open loop at {:.0} /s", self.target_per_second.unwrap_or(0.0)),
        };
        writeln!(f, "{mode}, {} connections, {:.2} s", self.connections, self.duration_s)?;
        writeln!(f, "  answered   {:>12}  {:>12.0} /s", self.answered, self.per_second)?;
        for (status, count) in &self.statuses {
            writeln!(f, "    {status}      {count:>12}")?;
        }
        writeln!(f, "  failed     {:>12}", self.failed)?;
        for (failure, count) in &self.failures {
            writeln!(f, "    {:<9}{count:>12}", format!("{failure:?}").to_lowercase())?;
        }
        if self.unsent > 0 {
            writeln!(f, "  unsent     {:>12}  due, but no connection was free in time", self.unsent)?;
        }
        latency_head(f)?;
        latency_row(f, "latency", &self.latency)?;
        if self.mode == LoadMode::Open {
            latency_row(f, "service", &self.service)?;
        }
        Ok(())
    }
}

pub(crate) fn latency_head(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "  {:<10}{:>10}{:>10}{:>10}{:>10}{:>10}", "ms", "p50", "p90", "p99", "p99.9", "max")
}

pub(crate) fn latency_row(f: &mut fmt::Formatter<'_>, name: &str, latency: &Latency) -> fmt::Result {
    let ms = |us: u64| us as f64 / 1000.0;
    let Latency { p50_us, p90_us, p99_us, p999_us, max_us, .. } = *latency;
    writeln!(
        f,
        "  {name:<10}{:>10.2}{:>10.2}{:>10.2}{:>10.2}{:>10.2}",
        ms(p50_us),
        ms(p90_us),
        ms(p99_us),
        ms(p999_us),
        ms(max_us)
    )
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

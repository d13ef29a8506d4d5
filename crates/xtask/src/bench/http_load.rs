//! One run of the load generator over HTTP.

use std::time::Duration;

use serde_json::Value;

use super::failure;
use super::process::Process;
use super::programs::Programs;
use crate::shell::Failure;

pub(super) struct HttpLoad<'a> {
    pub(super) url: &'a str,
    /// Key and secret.
    pub(super) credentials: (&'a str, &'a str),
    /// Connections, each with one request in flight.
    pub(super) connections: u32,
    /// Gives every message an idempotency key.
    pub(super) keys: bool,
    /// Messages per second; none: as many as the connections allow.
    pub(super) rate: Option<u64>,
    pub(super) seconds: u64,
    /// Number of the first message; equal numbers make equal messages.
    pub(super) first: u64,
}

/// What the generator reports.
#[derive(Debug)]
pub(super) struct HttpReport {
    pub(super) per_second: f64,
    pub(super) answered: u64,
    pub(super) accepted: u64,
    pub(super) failed: u64,
    pub(super) p50_us: u64,
    pub(super) p99_us: u64,
}

impl HttpLoad<'_> {
    pub(super) fn run(&self, programs: &Programs) -> Result<HttpReport, Failure> {
        self.start(programs)?.finish().map(|(report, _)| report)
    }

    pub(super) fn start(&self, programs: &Programs) -> Result<RunningHttpLoad, Failure> {
        let (key, secret) = self.credentials;
        let connections = self.connections.to_string();
        let (duration, first) = (format!("{}s", self.seconds), self.first.to_string());
        let rate = self.rate.map(|rate| rate.to_string());
        let mut args = vec!["http-load", "--json", "--url", self.url, "--key", key, "--secret", secret];
        args.extend(["--connections", &connections, "--duration", &duration, "--first", &first]);
        if self.keys {
            args.extend(["--idempotency", "bench-"]);
        }
        if let Some(rate) = &rate {
            args.extend(["--rate", rate]);
        }
        Process::start(&programs.simulator, &args).map(RunningHttpLoad)
    }
}

/// A generator at work.
pub(super) struct RunningHttpLoad(Process);

impl RunningHttpLoad {
    /// Waits for the report. Returns it with the generator's CPU time.
    pub(super) fn finish(mut self) -> Result<(HttpReport, Duration), Failure> {
        let report: Value = serde_json::from_str(&self.0.line()?).map_err(failure)?;
        Ok((HttpReport::of(&report), self.0.cpu()))
    }
}

impl HttpReport {
    fn of(report: &Value) -> HttpReport {
        let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        HttpReport {
            per_second: report["per_second"].as_f64().unwrap_or(0.0),
            answered: count("/answered"),
            accepted: count("/statuses/202"),
            failed: count("/failed"),
            p50_us: count("/latency/p50_us"),
            p99_us: count("/latency/p99_us"),
        }
    }

    /// Requests that were not accepted.
    pub(super) fn errors(&self) -> u64 {
        self.failed + self.answered.abs_diff(self.accepted)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rejected_and_failed_requests_are_errors() {
        let report = HttpReport::of(&json!({
            "per_second": 12.5, "answered": 10, "failed": 2, "unsent": 3, "statuses": { "202": 9, "429": 1 },
            "latency": { "p50_us": 100, "p99_us": 200, "p999_us": 300 },
        }));
        assert_eq!((report.accepted, report.errors()), (9, 3));
        assert_eq!((report.p50_us, report.p99_us), (100, 200));
    }
}

//! One run of the load generator over SMPP.

use std::path::Path;

use serde_json::Value;

use super::failure;
use super::gateway::{PASSWORD, SYSTEM_ID};
use super::process::Process;
use super::programs::Programs;
use crate::shell::{Failure, Outcome};

pub(super) struct SmppLoad<'a> {
    pub(super) address: &'a str,
    /// Transceivers.
    pub(super) binds: u32,
    pub(super) window: u32,
    /// The server's certificate, with TLS.
    pub(super) certificate: Option<&'a Path>,
    /// Messages per second; none: as many as the windows allow.
    pub(super) rate: Option<u64>,
    pub(super) seconds: u64,
    /// Number of the first message; equal numbers make equal messages.
    pub(super) first: u64,
}

/// What the generator reports.
pub(super) struct SmppReport {
    /// Messages that were accepted and receipted per second, until the last receipt.
    pub(super) per_second: f64,
    pub(super) accepted: u64,
    report: Value,
}

impl SmppLoad<'_> {
    pub(super) fn run(&self, programs: &Programs) -> Result<SmppReport, Failure> {
        self.start(programs, SYSTEM_ID)?.finish()
    }

    /// Starts the generator with the binds of this customer.
    pub(super) fn start(&self, programs: &Programs, system_id: &str) -> Result<RunningLoad, Failure> {
        // The certificate is for a name, and the listener's address has the number that name stands for.
        let address = self.address.replace("127.0.0.1", "localhost");
        let (binds, window) = (self.binds.to_string(), self.window.to_string());
        let (duration, first) = (format!("{}s", self.seconds), self.first.to_string());
        let certificate = self.certificate.map(Path::to_string_lossy);
        let rate = self.rate.map(|rate| rate.to_string());
        let mut args = vec!["smpp-load", "--json", "--address", &address];
        args.extend(["--system-id", system_id, "--password", PASSWORD]);
        args.extend([
            "--transceivers",
            &binds,
            "--window",
            &window,
            "--duration",
            &duration,
            "--first",
            &first,
        ]);
        if let Some(certificate) = &certificate {
            args.extend(["--tls-ca", certificate]);
        }
        if let Some(rate) = &rate {
            args.extend(["--rate", rate]);
        }
        Process::start(&programs.simulator, &args).map(RunningLoad)
    }
}

/// A generator at work.
pub(super) struct RunningLoad(Process);

impl RunningLoad {
    /// Waits for the report.
    pub(super) fn finish(mut self) -> Result<SmppReport, Failure> {
        let report: Value = serde_json::from_str(&self.0.line()?).map_err(failure)?;
        Ok(SmppReport::of(report))
    }
}

impl SmppReport {
    fn of(report: Value) -> SmppReport {
        SmppReport {
            per_second: report["receipts"]["per_second"].as_f64().unwrap_or(0.0),
            accepted: report["accepted"].as_u64().unwrap_or(0),
            report,
        }
    }

    pub(super) fn count(&self, pointer: &str) -> u64 {
        self.report.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
    }

    /// A latency of the report in milliseconds.
    pub(super) fn ms(&self, pointer: &str) -> f64 {
        super::ms(self.count(pointer))
    }

    pub(super) fn latencies(&self) -> String {
        format!(
            "response {:.1} ms p50, {:.1} ms p99; receipt {:.1} ms p50, {:.1} ms p99",
            self.ms("/response/p50_us"),
            self.ms("/response/p99_us"),
            self.ms("/receipt/p50_us"),
            self.ms("/receipt/p99_us")
        )
    }

    /// The generator's errors and the messages that were not delivered.
    pub(super) fn errors(&self) -> u64 {
        let ended: u64 = self.report["binds_ended"]
            .as_object()
            .map_or(0, |ends| ends.values().filter_map(Value::as_u64).sum());
        let errors = ["/rejected", "/timed_out", "/lost", "/bad_ids"];
        let receipts = ["/receipts/duplicated", "/receipts/unknown", "/receipts/missing"];
        let errors: u64 = errors.iter().chain(&receipts).map(|pointer| self.count(pointer)).sum();
        let undelivered = self.accepted.abs_diff(self.count("/receipts/states/DELIVRD"));
        errors + ended + undelivered
    }

    pub(super) fn require_no_errors(&self) -> Outcome {
        match self.errors() {
            0 => Ok(()),
            errors => Err(failure(format!("{errors} errors: {}", self.report))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_messages_receipts_and_binds_are_summed() {
        let report = SmppReport::of(json!({
            "accepted": 10, "rejected": 1, "lost": 2, "binds_ended": { "timeout": 1 },
            "receipts": { "per_second": 5.5, "missing": 1, "states": { "DELIVRD": 9 } },
            "response": { "p50_us": 1500 },
        }));
        assert_eq!((report.accepted, report.per_second, report.errors()), (10, 5.5, 6));
        assert_eq!((report.ms("/response/p50_us"), report.ms("/response/p99_us")), (1.5, 0.0));
        assert!(report.require_no_errors().is_err());
    }
}

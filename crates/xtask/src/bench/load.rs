//! The load of a benchmark: what a generator of the simulator sends for one customer, and what it reports.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::Programs;
use super::process::Process;
use super::{failure, ms};
use crate::gateway_files::{Customer, PASSWORD};
use crate::shell::Failure;

/// Gives every message an idempotency key.
pub(super) const WITH_KEYS: &[&str] = &["--idempotency", "bench-"];

#[derive(Clone, Copy)]
pub(super) enum Over {
    /// Transceivers, each with this window.
    Smpp { binds: u32, window: u32, tls: bool },
    /// Connections, each with one request in flight; and more flags of the generator.
    Http { connections: u32, flags: &'static [&'static str] },
}

#[derive(Clone, Copy)]
pub(super) enum Length {
    Seconds(u64),
    Messages(u64),
}

/// What one generator sends.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) over: Over,
    /// Messages per second; none: as many as the windows or connections allow.
    pub(super) rate: Option<u64>,
    pub(super) length: Length,
}

impl Load {
    /// One bind with a window of 100, as fast as it goes.
    pub(super) fn smpp(seconds: u64) -> Load {
        let over = Over::Smpp { binds: 1, window: 100, tls: false };
        Load { over, rate: None, length: Length::Seconds(seconds) }
    }

    /// 64 connections, as fast as they go.
    pub(super) fn http(length: Length) -> Load {
        Load { over: Over::Http { connections: 64, flags: &[] }, rate: None, length }
    }

    /// Starts the generator of a customer. `first` is the number of its first message; equal numbers make equal messages.
    pub(super) fn start(
        &self,
        programs: &Programs,
        server: &Listeners,
        customer: &Customer,
        first: u64,
    ) -> Result<Generator, Failure> {
        let mut words: Vec<String> = Vec::new();
        let mut add = |flags: &[&str]| words.extend(flags.iter().map(ToString::to_string));
        match self.over {
            Over::Smpp { binds, window, tls } => {
                let address = if tls { &server.smpp_tls } else { &server.smpp };
                // The certificate is for a name, and the listener's address has the number that name stands for.
                let address = address.replace("127.0.0.1", "localhost");
                add(&["smpp-load", "--address", &address, "--system-id", &customer.name]);
                add(&["--password", PASSWORD, "--window", &window.to_string()]);
                add(&["--transceivers", &binds.to_string()]);
                if tls {
                    add(&["--tls-ca", &server.certificate.to_string_lossy()]);
                }
            }
            Over::Http { connections, flags } => {
                add(&["http-load", "--url", &server.url, "--connections", &connections.to_string()]);
                add(&["--key", &customer.key(), "--secret", &customer.secret()]);
                add(flags);
            }
        }
        add(&["--json", "--first", &first.to_string()]);
        match self.length {
            Length::Seconds(seconds) => add(&["--duration", &format!("{seconds}s")]),
            Length::Messages(messages) => add(&["--requests", &messages.to_string()]),
        }
        if let Some(rate) = self.rate {
            add(&["--rate", &rate.to_string()]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let process = Process::start(&programs.simulator, &words)?;
        Ok(Generator { process, is_http: matches!(self.over, Over::Http { .. }) })
    }
}

/// Where a server accepts customers.
pub(super) struct Listeners {
    pub(super) smpp: String,
    pub(super) smpp_tls: String,
    /// The self-signed certificate.
    pub(super) certificate: PathBuf,
    /// Of the HTTP API.
    pub(super) url: String,
}

/// A generator at work.
pub(super) struct Generator {
    process: Process,
    is_http: bool,
}

impl Generator {
    /// Waits for the report. Fails if a message was not accepted or, over SMPP, not delivered.
    pub(super) fn finish(mut self) -> Result<Report, Failure> {
        let json: Value = serde_json::from_str(&self.process.line()?).map_err(failure)?;
        let cpu = self.process.cpu();
        let report = if self.is_http { Report::of_http(&json, cpu) } else { Report::of_smpp(&json, cpu) };
        match report.errors {
            0 => Ok(report),
            errors => Err(failure(format!("{errors} errors: {json}"))),
        }
    }
}

/// What a generator reports. Latencies are in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) accepted: u64,
    /// Messages that were due and not sent.
    pub(super) unsent: u64,
    /// Over SMPP messages with their receipts, until the last receipt; over HTTP responses, until the last one.
    pub(super) per_second: f64,
    /// p50, p99 and p99.9.
    pub(super) response: [f64; 3],
    /// p50 and p99, where the generator receives receipts.
    pub(super) receipt: Option<[f64; 2]>,
    pub(super) cpu: Duration,
    pub(super) errors: u64,
}

impl Report {
    fn of_http(json: &Value, cpu: Duration) -> Report {
        let count = |pointer: &str| json.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        let accepted = count("/statuses/202");
        Report {
            accepted,
            unsent: count("/unsent"),
            per_second: json["per_second"].as_f64().unwrap_or(0.0),
            response: ["/latency/p50_us", "/latency/p99_us", "/latency/p999_us"].map(|name| ms(count(name))),
            receipt: None,
            cpu,
            errors: count("/failed") + count("/answered").abs_diff(accepted),
        }
    }

    fn of_smpp(json: &Value, cpu: Duration) -> Report {
        let count = |pointer: &str| json.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        let ends = json["binds_ended"].as_object();
        let ended: u64 = ends.map_or(0, |ends| ends.values().filter_map(Value::as_u64).sum());
        let errors = ["/rejected", "/timed_out", "/lost", "/bad_ids"];
        let receipts = ["/receipts/duplicated", "/receipts/unknown", "/receipts/missing"];
        let errors: u64 = errors.into_iter().chain(receipts).map(count).sum();
        let accepted = count("/accepted");
        let undelivered = accepted.abs_diff(count("/receipts/states/DELIVRD"));
        Report {
            accepted,
            unsent: count("/unsent"),
            per_second: json["receipts"]["per_second"].as_f64().unwrap_or(0.0),
            response: ["/response/p50_us", "/response/p99_us", "/response/p999_us"]
                .map(|name| ms(count(name))),
            receipt: Some(["/receipt/p50_us", "/receipt/p99_us"].map(|name| ms(count(name)))),
            cpu,
            errors: errors + ended + undelivered,
        }
    }

    pub(super) fn latencies(&self) -> String {
        let [p50, p99, p999] = self.response;
        let receipt = self
            .receipt
            .map(|[p50, p99]| format!("; receipt {p50:.1} ms p50, {p99:.1} ms p99"))
            .unwrap_or_default();
        format!("response {p50:.1} ms p50, {p99:.1} ms p99, {p999:.1} ms p99.9{receipt}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_messages_receipts_and_binds_are_summed() {
        let json = json!({
            "accepted": 10, "rejected": 1, "lost": 2, "binds_ended": { "timeout": 1 },
            "receipts": { "per_second": 5.5, "missing": 1, "states": { "DELIVRD": 9 } },
            "response": { "p50_us": 1500 },
        });
        let report = Report::of_smpp(&json, Duration::ZERO);
        assert_eq!((report.accepted, report.per_second, report.errors), (10, 5.5, 6));
        assert_eq!((report.response, report.receipt), ([1.5, 0.0, 0.0], Some([0.0, 0.0])));
    }

    #[test]
    fn rejected_and_failed_requests_are_errors() {
        let json = json!({
            "per_second": 12.5, "answered": 10, "failed": 2, "unsent": 3, "statuses": { "202": 9, "429": 1 },
            "latency": { "p50_us": 100, "p99_us": 200, "p999_us": 300 },
        });
        let report = Report::of_http(&json, Duration::ZERO);
        assert_eq!((report.accepted, report.unsent, report.errors), (9, 3, 3));
        assert_eq!((report.response, report.receipt), ([0.1, 0.2, 0.3], None));
    }
}

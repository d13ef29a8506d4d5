//! The load of `cargo xtask bench nodes`: one generator for each customer, over SMPP or HTTP.

use std::time::Duration;

use clap::ValueEnum;

use super::http_load::{HttpLoad, RunningHttpLoad};
use super::programs::Programs;
use super::smpp_load::{RunningLoad, SmppLoad};
use super::{failure, ms};
use crate::shell::Failure;

/// Numbers of messages that one generator has for itself.
const NUMBERS: u64 = 100_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Over {
    Smpp,
    Http,
}

/// The load of one customer.
pub(super) struct CustomerLoad<'a> {
    pub(super) over: Over,
    pub(super) customer: &'a str,
    /// Counts from 0.
    pub(super) number: u64,
    /// The address for binds, and the URL of the API.
    pub(super) node: &'a (String, String),
    /// Messages without a response: the window of one bind, or the connections.
    pub(super) at_once: u32,
    pub(super) seconds: u64,
}

pub(super) enum Generator {
    Smpp(RunningLoad),
    Http(RunningHttpLoad),
}

/// What a generator reported. All its messages were accepted and, over SMPP, receipted.
pub(super) struct CustomerReport {
    pub(super) accepted: u64,
    /// Over SMPP until the last receipt, over HTTP until the last response.
    pub(super) per_second: f64,
    pub(super) latencies: String,
    pub(super) cpu: Duration,
}

impl CustomerLoad<'_> {
    pub(super) fn start(&self, programs: &Programs) -> Result<Generator, Failure> {
        let CustomerLoad { over, customer, number, node: (binds, url), at_once, seconds } = *self;
        let (rate, first) = (None, NUMBERS * number);
        match over {
            Over::Smpp => {
                let (window, certificate) = (at_once, None);
                let load = SmppLoad { address: binds, binds: 1, window, certificate, rate, seconds, first };
                load.start(programs, customer).map(Generator::Smpp)
            }
            Over::Http => {
                let (key, secret) =
                    (format!("key-{customer}"), format!("secret-of-no-importance-{customer}"));
                let credentials = (key.as_str(), secret.as_str());
                let (connections, keys) = (at_once, false);
                let load = HttpLoad { url, credentials, connections, keys, rate, seconds, first };
                load.start(programs).map(Generator::Http)
            }
        }
    }
}

impl Generator {
    /// Waits for the report. Fails if there were errors.
    pub(super) fn finish(self) -> Result<CustomerReport, Failure> {
        match self {
            Generator::Smpp(load) => {
                let report = load.finish()?;
                report.require_no_errors()?;
                Ok(CustomerReport {
                    accepted: report.accepted,
                    per_second: report.per_second,
                    latencies: report.latencies(),
                    cpu: Duration::from_micros(report.count("/cpu_us")),
                })
            }
            Generator::Http(load) => {
                let (report, cpu) = load.finish()?;
                if report.errors() > 0 {
                    return Err(failure(format!("{} errors: {report:?}", report.errors())));
                }
                let (p50, p99) = (ms(report.p50_us), ms(report.p99_us));
                Ok(CustomerReport {
                    accepted: report.accepted,
                    per_second: report.per_second,
                    latencies: format!("response {p50:.1} ms p50, {p99:.1} ms p99"),
                    cpu,
                })
            }
        }
    }
}

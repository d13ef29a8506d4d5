//! The load of a benchmark: what a generator of the simulator sends for one customer, and what it reports.

use std::path::PathBuf;

use serde_json::Value;

use super::failure;
use super::figures::{ACCEPTED, Column, DLR_P50, DLR_P99, Figures, P50, P99, P999, REACHED, SENDER, UNSENT};
use super::process::Process;
use crate::gateway_files::{Customer, PASSWORD};
use crate::programs::Binaries;
use crate::shell::Failure;

/// Gives every message an idempotency key.
pub(super) const WITH_KEYS: &str = "--idempotency bench-";

#[derive(Clone, Copy)]
pub(super) enum Over {
    /// Transceivers, each with this window.
    Smpp { binds: u64, window: u64, tls: bool },
    /// Connections, each with one request in flight; and more flags of the generator.
    Http { connections: u64, flags: &'static str },
}

impl Over {
    pub(super) fn bind(window: u64) -> Over {
        Over::Smpp { binds: 1, window, tls: false }
    }

    pub(super) fn http(connections: u64) -> Over {
        Over::Http { connections, flags: "" }
    }
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

/// The loads that run at the same time.
pub(super) type Loads = Vec<(Customer, Load)>;

impl Load {
    /// As fast as it goes.
    pub(super) fn seconds(over: Over, seconds: u64) -> Load {
        Load { over, rate: None, length: Length::Seconds(seconds) }
    }

    /// As fast as it goes.
    pub(super) fn messages(over: Over, messages: u64) -> Load {
        Load { over, rate: None, length: Length::Messages(messages) }
    }

    pub(super) fn at(self, rate: u64) -> Load {
        Load { rate: Some(rate), ..self }
    }

    /// The same for each customer.
    pub(super) fn of(self, customers: &[Customer]) -> Loads {
        customers.iter().map(|customer| (customer.clone(), self)).collect()
    }

    /// For the customer of a setup that names none.
    pub(super) fn alone(self) -> Loads {
        self.of(&[Customer::new("bench")])
    }

    /// Starts the generator of a customer. `first` is the number of its first message; equal numbers make equal messages.
    pub(super) fn start(
        &self,
        binaries: &Binaries,
        server: &Listeners,
        customer: &Customer,
        first: u64,
    ) -> Result<Generator, Failure> {
        let Customer { name, .. } = customer;
        let sender = match self.over {
            Over::Smpp { binds, window, tls } => {
                let (address, certificate) = match tls {
                    true => (&server.smpp_tls, format!(" --tls-ca {}", server.certificate.display())),
                    false => (&server.smpp, String::new()),
                };
                // The certificate is for a name, and the listener's address has the number that name stands for.
                let address = address.replace("127.0.0.1", "localhost");
                format!(
                    "smpp-load --address {address} --system-id {name} --password {PASSWORD} --window {window} \
                     --transceivers {binds}{certificate}"
                )
            }
            Over::Http { connections, flags } => {
                let (url, key, secret) = (&server.url, customer.key(), customer.secret());
                format!(
                    "http-load --url {url} --connections {connections} --key {key} --secret {secret} {flags}"
                )
            }
        };
        let is_http = matches!(self.over, Over::Http { .. });
        let length = match self.length {
            Length::Seconds(seconds) => format!("--duration {seconds}s"),
            Length::Messages(messages) if is_http => format!("--requests {messages}"),
            Length::Messages(messages) => format!("--messages {messages}"),
        };
        let rate = self.rate.map_or(String::new(), |rate| format!("--rate {rate}"));
        let words = format!("{sender} --json --first {first} {length} {rate}");
        let process = Process::start(&binaries.simulator, &words)?;
        Ok(Generator { process, is_http })
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

/// Where the figures are in a report.
const IN_HTTP_REPORT: [(Column, &str); 6] = [
    (ACCEPTED, "/statuses/202"),
    (UNSENT, "/unsent"),
    (REACHED, "/per_second"),
    (P50, "/latency/p50_us"),
    (P99, "/latency/p99_us"),
    (P999, "/latency/p999_us"),
];
const IN_SMPP_REPORT: [(Column, &str); 8] = [
    (ACCEPTED, "/accepted"),
    (UNSENT, "/unsent"),
    (REACHED, "/receipts/per_second"),
    (P50, "/response/p50_us"),
    (P99, "/response/p99_us"),
    (P999, "/response/p999_us"),
    (DLR_P50, "/receipt/p50_us"),
    (DLR_P99, "/receipt/p99_us"),
];
/// What must not happen over SMPP.
const SMPP_ERRORS: &str =
    "/rejected /timed_out /lost /bad_ids /receipts/duplicated /receipts/unknown /receipts/missing";

impl Generator {
    /// Waits for the report. Fails if a message was not accepted or, over SMPP, not delivered.
    pub(super) fn finish(mut self) -> Result<Figures, Failure> {
        let json = self.process.json()?;
        let (mut figures, errors) = if self.is_http { of_http(&json) } else { of_smpp(&json) };
        figures.set(SENDER, self.process.cpu() / figures.value(ACCEPTED).max(1.0));
        if errors > 0.0 { Err(failure(format!("{errors} errors: {json}"))) } else { Ok(figures) }
    }
}

fn number(json: &Value, pointer: &str) -> f64 {
    json.pointer(pointer).and_then(Value::as_f64).unwrap_or_default()
}

/// Returns the figures in a report. Latencies there are in microseconds.
fn read(json: &Value, places: &[(Column, &str)]) -> Figures {
    let mut figures = Figures::default();
    for (column, pointer) in places {
        let unit = if pointer.ends_with("_us") { 1_000.0 } else { 1.0 };
        figures.set(column, number(json, pointer) / unit);
    }
    figures
}

/// Returns the figures and the number of errors.
fn of_http(json: &Value) -> (Figures, f64) {
    let figures = read(json, &IN_HTTP_REPORT);
    let others = (number(json, "/answered") - figures.value(ACCEPTED)).abs();
    (figures, others + number(json, "/failed"))
}

/// Returns the figures and the number of errors.
fn of_smpp(json: &Value) -> (Figures, f64) {
    let figures = read(json, &IN_SMPP_REPORT);
    let ends = json["binds_ended"].as_object().into_iter().flatten();
    let ended: f64 = ends.filter_map(|(_, ends)| ends.as_f64()).sum();
    let errors: f64 = SMPP_ERRORS.split(' ').map(|pointer| number(json, pointer)).sum();
    let undelivered = (figures.value(ACCEPTED) - number(json, "/receipts/states/DELIVRD")).abs();
    (figures, errors + ended + undelivered)
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;

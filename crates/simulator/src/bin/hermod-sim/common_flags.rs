//! Flags and values that several commands share: TLS of servers, how a load is sent, rates, and the limit of open files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hermod_simulator::carrier::ServerTls;
use hermod_simulator::load::schedule::SendPace;
use hermod_simulator::parse_duration;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files besides the sockets: the runtime's, the terminal's, a log.
const OTHER_FILES: u64 = 64;

#[derive(Args)]
pub(crate) struct ServerTlsFlags {
    /// Use TLS, with the certificate in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// PEM file with the key of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
}

impl ServerTlsFlags {
    /// Reads certificate and key; none without the flags.
    pub(crate) fn read(&self) -> Result<Option<ServerTls>, String> {
        let (Some(certificate), Some(key)) = (&self.tls_certificate, &self.tls_key) else { return Ok(None) };
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        ServerTls::from_pem(&read(certificate)?, &read(key)?).map(Some).map_err(|error| error.to_string())
    }
}

/// How a load is sent, over HTTP or SMPP.
#[derive(Args)]
pub(crate) struct LoadFlags {
    /// How long to send, as in 10s or 5m
    #[arg(long, value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Send in an open loop at this many messages per second, over all connections or binds
    #[arg(long, value_parser = rate)]
    rate: Option<f64>,
    /// Number of recipients; after the last the run continues with the first
    #[arg(long, default_value_t = 100_000_000)]
    pub(crate) recipients: u64,
    /// Number of the first message, to continue another run
    #[arg(long, default_value_t = 0)]
    pub(crate) first: u64,
    /// Time to wait for a response
    #[arg(long, default_value = "30s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Threads to send from; one suffices for about 50,000 requests per second
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

impl LoadFlags {
    pub(crate) fn pace(&self) -> SendPace {
        self.rate.map_or(SendPace::ClosedLoop, |per_second| SendPace::OpenLoop { per_second })
    }
}

/// Parses a rate per second, which is positive and finite.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err(format!("{text:?} is not a rate: expected a number above 0")),
    }
}

/// Raises the limit of open files for this many sockets.
///
/// # Errors
/// Returns a sentence when the hard limit is too low.
pub(crate) fn allow_sockets(sockets: u64) -> Result<(), String> {
    let needed = sockets.saturating_add(OTHER_FILES);
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
    let is_allowed = limit.maximum.is_none_or(|maximum| maximum >= needed);
    if is_allowed && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let maximum = limit.maximum.unwrap_or_default();
    Err(format!(
        "{needed} open files are needed and this system allows {maximum}: raise the hard limit (ulimit -Hn, or \
         LimitNOFILE= of the service), or use fewer sockets"
    ))
}

//! `hermod-sim smpp-echo`: the reference server, until it is told to end.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use hermod_simulator::carrier::Tls;
use hermod_simulator::smpp_echo::{LINKS_MAX, SmppEcho};

use crate::smpp_flags::allow_sockets;
use crate::{Ended, values};

/// Let everybody bind, answer submit_sm with a number, send the receipt, and store nothing
///
/// The yardstick for benchmarks: what the same client gets from a server that keeps nothing.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SmppEchoArgs {
    /// Address to listen on; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:2775")]
    listen: SocketAddr,
    /// Speak TLS on every link: a PEM file with the certificate
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The PEM file with its key
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Threads to serve on
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  hermod-sim smpp-echo
  hermod-sim smpp-echo --listen 127.0.0.1:0      the address it took is the first line on stdout";

impl SmppEchoArgs {
    pub(crate) async fn run(self) -> Ended {
        // As many as there may be; where the system allows fewer, those beyond are turned away by it.
        let _ = allow_sockets(LINKS_MAX as u64);
        let tls = self.tls()?;
        let echo = SmppEcho::start(self.listen, tls.as_ref())
            .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        values::say(&echo.address().to_string());
        values::told_to_end().await;
        echo.stop().await;
        Ok(())
    }

    fn tls(&self) -> Result<Option<Tls>, String> {
        let (Some(certificate), Some(key)) = (&self.tls_certificate, &self.tls_key) else { return Ok(None) };
        read_tls(certificate, key).map(Some)
    }
}

/// A certificate and its key from two PEM files.
pub(crate) fn read_tls(certificate: &Path, key: &Path) -> Result<Tls, String> {
    let read =
        |path: &Path| std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    Tls::from_pem(&read(certificate)?, &read(key)?).map_err(|error| error.to_string())
}

//! `hermod-sim smpp-echo` and `hermod-sim empty-http`: servers that store nothing, as the reference of benchmarks.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use hermod_simulator::empty_http::EmptyHttp;
use hermod_simulator::smpp_echo::{LINKS_MAX, SmppEcho};

use crate::common_flags::{ServerTlsFlags, allow_sockets};
use crate::{Ended, terminal};

/// Accept every bind and submit_sm, send receipts, and store nothing
///
/// The reference of benchmarks: what the same client achieves with a server that stores nothing.
#[derive(Args)]
#[command(after_help = SMPP_ECHO_EXAMPLES)]
pub(crate) struct SmppEchoArgs {
    /// Address to listen on; port 0 selects a free one
    #[arg(long, default_value = "127.0.0.1:2775")]
    listen: SocketAddr,
    #[command(flatten)]
    tls: ServerTlsFlags,
    /// Threads to serve on
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

const SMPP_ECHO_EXAMPLES: &str = "\
Examples:
  hermod-sim smpp-echo
  hermod-sim smpp-echo --listen 127.0.0.1:0      the first line on stdout is the address";

impl SmppEchoArgs {
    pub(crate) async fn run(self) -> Ended {
        // Where the system allows fewer sockets, it refuses further connections itself.
        let _ = allow_sockets(LINKS_MAX as u64);
        let tls = self.tls.read()?;
        let echo = SmppEcho::start(self.listen, tls.as_ref())
            .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        terminal::print(&echo.address().to_string());
        terminal::stop_signal().await;
        echo.stop().await;
        Ok(())
    }
}

/// Respond to POST /api/v1/sms with a fixed 202 and store nothing
///
/// The reference of benchmarks: what the same client achieves with a server that stores nothing.
#[derive(Args)]
#[command(after_help = EMPTY_HTTP_EXAMPLES)]
pub(crate) struct EmptyHttpArgs {
    /// Port on 127.0.0.1; 0 selects a free one
    #[arg(long, default_value_t = 8081)]
    port: u16,
    /// Threads to serve on
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: usize,
}

const EMPTY_HTTP_EXAMPLES: &str = "\
Examples:
  hermod-sim empty-http --port 8081
  hermod-sim empty-http --port 0      the first line on stdout is the base URL";

impl EmptyHttpArgs {
    pub(crate) async fn run(self) -> Ended {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let endpoint =
            EmptyHttp::start(listen).await.map_err(|error| format!("cannot listen on {listen}: {error}"))?;
        terminal::print(&endpoint.base_url());
        terminal::stop_signal().await;
        // Not stopped: that would wait for idle connections, which end with the process.
        Ok(())
    }
}

//! `hermod-sim empty-http`: an HTTP endpoint that stores nothing, as the reference of benchmarks.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use hermod_simulator::empty_http::EmptyHttp;

use crate::{Ended, terminal};

/// Respond to POST /api/v1/sms with a fixed 202 and store nothing
///
/// The reference of benchmarks: what the same client achieves with a server that stores nothing.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EmptyHttpArgs {
    /// Port on 127.0.0.1; 0 selects a free one
    #[arg(long, default_value_t = 8081)]
    port: u16,
    /// Threads to serve on
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: usize,
}

const EXAMPLES: &str = "\
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

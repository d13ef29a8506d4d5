//! `hermod-sim empty-http`: the reference endpoint, until it is told to end.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use hermod_simulator::empty_http::EmptyHttp;

use crate::{Ended, values};

/// Answer POST /api/v1/sms with a fixed 202 and do nothing else
///
/// The yardstick for benchmarks: what the same client gets from a server that reads the request and stores nothing.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EmptyHttpArgs {
    /// Port on 127.0.0.1; 0 takes any free one
    #[arg(long, default_value_t = 8081)]
    port: u16,
    /// Threads to serve on
    #[arg(long, default_value_t = 2)]
    pub(crate) threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  hermod-sim empty-http --port 8081
  hermod-sim empty-http --port 0      the address it took is the first line on stdout";

impl EmptyHttpArgs {
    pub(crate) async fn run(self) -> Ended {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let endpoint =
            EmptyHttp::start(listen).await.map_err(|error| format!("cannot listen on {listen}: {error}"))?;
        values::say(&endpoint.base_url());
        values::told_to_end().await;
        // Clients may keep idle connections open for ever; leaving is what ends them.
        Ok(())
    }
}

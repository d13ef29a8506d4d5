//! `hermod-sim webhooks`: a webhook receiver.

use std::net::SocketAddr;

use clap::Args;
use hermod_simulator::webhooks::{CONNECTIONS_MAX, ReceiverBehaviour, WebhookReceiver};
use serde_json::json;

use crate::common_flags::{ServerTlsFlags, allow_sockets};
use crate::{Ended, terminal};

/// Receive webhooks, with or without faults, and count them
///
/// The first line on stdout is the URL to post to. The last is a JSON object with the number of posts and connections, and
/// the delay from request to webhook for messages sent with `http-load --to clock`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WebhooksArgs {
    /// Address to listen on; port 0 selects a free one
    #[arg(long, default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// HTTP status of the responses, or: slow=2s, hang, deaf, drip, endless, reset, garbage, redirect=URL
    #[arg(long, default_value = "200")]
    behaviour: ReceiverBehaviour,
    #[command(flatten)]
    tls: ServerTlsFlags,
    /// Threads to serve on
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  hermod-sim webhooks
  hermod-sim webhooks --listen 127.0.0.1:0 --behaviour 503
  hermod-sim webhooks --behaviour hang        reads every post and never responds";

impl WebhooksArgs {
    pub(crate) async fn run(self) -> Ended {
        // Where the system allows fewer sockets, it refuses further connections itself.
        let _ = allow_sockets(CONNECTIONS_MAX as u64);
        let tls = self.tls.read()?;
        let receiver = WebhookReceiver::start(self.listen, self.behaviour.clone(), tls.as_ref())
            .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        terminal::print(&receiver.url(""));
        terminal::stop_signal().await;
        let delays = receiver.delays();
        let ms = |percent| delays.percentile(percent).as_millis();
        let report = json!({
            "posts": receiver.count(),
            "connections": receiver.connections(),
            "timed": delays.count(),
            "delay_ms": { "p50": ms(50.0), "p99": ms(99.0), "p99.9": ms(99.9), "max": delays.longest().as_millis() },
        });
        terminal::print(&report.to_string());
        receiver.stop().await;
        Ok(())
    }
}

//! `hermod-sim webhooks`: a receiver of webhooks, until it is told to end.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use hermod_simulator::webhooks::{CONNECTIONS_MAX, ReceiverBehaviour, WebhookReceiver};
use serde_json::json;

use crate::smpp_echo::read_tls;
use crate::smpp_flags::allow_sockets;
use crate::{Ended, values};

/// Receive webhooks, well or badly, and say at the end what came
///
/// The first line on stdout is the URL to post to, the last a JSON object: posts, connections, and the time from sending
/// to the post where messages were sent with `http-load --to clock`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WebhooksArgs {
    /// Address to listen on; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// A status to answer with, or: slow=2s, hang, deaf, drip, endless, reset, garbage, redirect=URL
    #[arg(long, default_value = "200")]
    behaviour: ReceiverBehaviour,
    /// Speak TLS: a PEM file with the certificate
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
  hermod-sim webhooks
  hermod-sim webhooks --listen 127.0.0.1:0 --behaviour 503
  hermod-sim webhooks --behaviour hang        takes every post and never answers";

impl WebhooksArgs {
    pub(crate) async fn run(self) -> Ended {
        // As many as there may be; where the system allows fewer, those beyond are turned away by it.
        let _ = allow_sockets(CONNECTIONS_MAX as u64);
        let tls = match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(read_tls(certificate, key)?),
            (None, _) | (_, None) => None,
        };
        let webhooks = WebhookReceiver::start(self.listen, self.behaviour.clone(), tls.as_ref())
            .map_err(|error| format!("cannot listen on {}: {error}", self.listen))?;
        values::say(&webhooks.url(""));
        values::told_to_end().await;
        let delays = webhooks.delays();
        let ms = |percent| delays.percentile(percent).as_millis();
        let told = json!({
            "posts": webhooks.count(),
            "connections": webhooks.connections(),
            "timed": delays.count(),
            "delay_ms": { "p50": ms(50.0), "p99": ms(99.0), "p99.9": ms(99.9), "max": delays.longest().as_millis() },
        });
        values::say(&told.to_string());
        webhooks.stop().await;
        Ok(())
    }
}

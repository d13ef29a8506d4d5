//! `hermod webhook listen`: a receiver for tests of an integration. It prints webhooks, verifies them, and can fail on
//! purpose to test retries.

use super::verify::verdict;
use crate::failure::{CommandResult, Failure};
use crate::input_file::first_line;
use crate::output::{fields, print, safe};
use crate::runtime;
use crate::runtime::Signals;
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::webhook_signature::valid_signatures;
use hermod_simulator::webhooks::{Check, ReceivedPost, ReceiverBehaviour, WebhookReceiver};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod webhook listen
  hermod webhook listen --port 9000 --secret-file secret.txt
  hermod webhook listen --answer 503          to test retries
  hermod webhook listen --answer slow=20s     to test timeouts

A gateway on this machine posts here if its settings allow it:

  [webhooks]
  allow_http = true
  allow = [\"127.0.0.0/8\"]

With --secret-file, posts without a valid signature get 403, as a receiver should respond.";

/// How often received posts are printed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(super) struct ListenArgs {
    /// Port to listen on; 0 selects a free port
    #[arg(long, value_name = "N", default_value_t = 9000)]
    port: u16,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// File with the webhook secret in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Response: a status, slow=2s, hang, drip, reset, redirect=URL ...
    #[arg(long, value_name = "ANSWER", default_value = "200")]
    answer: ReceiverBehaviour,
}

impl ListenArgs {
    pub(super) fn run(self) -> CommandResult {
        let secret = self.secret_file.as_deref().map(first_line).transpose()?;
        runtime::block_on(async move { self.listen(secret.as_deref()).await })
    }

    async fn listen(&self, secret: Option<&str>) -> CommandResult {
        let address = SocketAddr::from((self.host, self.port));
        let check: Option<Check> = secret.map(|secret| {
            let secret = secret.to_owned();
            Arc::new(move |caught: &ReceivedPost| is_valid(&secret, caught)) as Check
        });
        let hooks =
            WebhookReceiver::start_checking(address, self.answer.clone(), None, check).map_err(|error| {
                Failure::usage(format!("cannot listen on {address}: {error}; use another --port"))
            })?;
        let mut signals = Signals::listen()?;
        print(&format!("Listening on {}\n", hooks.url("")))?;
        let (clock, mut shown) = (Clock::real(), 0);
        loop {
            let caught = hooks.posts_after(shown);
            shown = hooks.count();
            for post in &caught {
                print(&post_text(post, secret))?;
            }
            tokio::select! {
                () = clock.sleep(POLL_INTERVAL) => {}
                _ = signals.wait_for_stop() => break,
            }
        }
        hooks.stop().await;
        Ok(())
    }
}

fn is_valid(secret: &str, caught: &ReceivedPost) -> bool {
    !valid_signatures(secret, &caught.body, |name| caught.header(name)).is_empty()
}

/// Returns a post as text: path, relevant headers, whether the signature is valid, and the body.
fn post_text(caught: &ReceivedPost, secret: Option<&str>) -> String {
    let interesting = ["webhook-id", "webhook-timestamp", "x-svc-attempt", "x-svc-signature", "content-type"];
    let headers: Vec<_> =
        interesting.into_iter().filter_map(|name| Some((name, caught.header(name)?.to_owned()))).collect();
    let verdict = match secret {
        Some(secret) => verdict(&valid_signatures(secret, &caught.body, |name| caught.header(name))),
        None => "not verified: give --secret-file\n".to_owned(),
    };
    format!(
        "\n{} {}\n{}  {verdict}{}\n",
        safe(&caught.method),
        safe(&caught.path),
        fields(&headers),
        body(caught)
    )
}

/// Returns the body, pretty-printed if it is JSON.
fn body(caught: &ReceivedPost) -> String {
    let pretty = serde_json::from_slice::<serde_json::Value>(&caught.body)
        .and_then(|value| serde_json::to_string_pretty(&value));
    let text = pretty.unwrap_or_else(|_| String::from_utf8_lossy(&caught.body).into_owned());
    text.lines().map(|line| format!("  {}\n", safe(line))).collect()
}

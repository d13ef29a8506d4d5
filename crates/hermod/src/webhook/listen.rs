//! `hermod webhook listen`: a receiver for people who are integrating. It shows what arrives, checks it as a receiver
//! should, and can fail on purpose, so that retries can be seen.

use super::verify::verdict;
use crate::ending::{Ended, Failure};
use crate::runtime;
use crate::secret_file::first_line;
use crate::show::{fields, safe, say};
use crate::signals::Signals;
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
  hermod webhook listen --answer 503          to see it come again
  hermod webhook listen --answer slow=20s     to see it time out

A gateway on this machine posts here if its settings allow it:

  [webhooks]
  allow_http = true
  allow = [\"127.0.0.0/8\"]

With --secret-file, whatever is not genuine is answered with 403, as a receiver should.";

const LOOK: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(super) struct Listen {
    /// Port to listen on; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 9000)]
    port: u16,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// File with the webhook secret in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// What to answer: a status, slow=2s, hang, drip, reset, redirect=URL ...
    #[arg(long, value_name = "ANSWER", default_value = "200")]
    answer: ReceiverBehaviour,
}

impl Listen {
    pub(super) fn run(self) -> Ended {
        let secret = self.secret_file.as_deref().map(first_line).transpose()?;
        runtime::block_on(async move { self.listen(secret.as_deref()).await })
    }

    async fn listen(&self, secret: Option<&str>) -> Ended {
        let address = SocketAddr::from((self.host, self.port));
        let check: Option<Check> = secret.map(|secret| {
            let secret = secret.to_owned();
            Arc::new(move |caught: &ReceivedPost| is_genuine(&secret, caught)) as Check
        });
        let hooks =
            WebhookReceiver::start_checking(address, self.answer.clone(), None, check).map_err(|error| {
                Failure::mend(format!("cannot listen on {address}: {error}; name another --port"))
            })?;
        let mut signals = Signals::listen()?;
        say(&format!("Listening on {}\n", hooks.url("")))?;
        let (clock, mut shown) = (Clock::real(), 0);
        loop {
            let caught = hooks.posts_after(shown);
            shown = hooks.count();
            for post in &caught {
                say(&told(post, secret))?;
            }
            tokio::select! {
                () = clock.sleep(LOOK) => {}
                _ = signals.told_to_end() => break,
            }
        }
        hooks.stop().await;
        Ok(())
    }
}

fn is_genuine(secret: &str, caught: &ReceivedPost) -> bool {
    !valid_signatures(secret, &caught.body, |name| caught.header(name)).is_empty()
}

/// A post, for a person: where it went, the headers that matter, whether it is genuine, and the body.
fn told(caught: &ReceivedPost, secret: Option<&str>) -> String {
    let interesting = ["webhook-id", "webhook-timestamp", "x-svc-attempt", "x-svc-signature", "content-type"];
    let headers: Vec<_> =
        interesting.into_iter().filter_map(|name| Some((name, caught.header(name)?.to_owned()))).collect();
    let verdict = match secret {
        Some(secret) => verdict(&valid_signatures(secret, &caught.body, |name| caught.header(name))),
        None => "not checked: give --secret-file\n".to_owned(),
    };
    format!(
        "\n{} {}\n{}  {verdict}{}\n",
        safe(&caught.method),
        safe(&caught.path),
        fields(&headers),
        body(caught)
    )
}

/// JSON in lines of its own; anything else as it is.
fn body(caught: &ReceivedPost) -> String {
    let pretty = serde_json::from_slice::<serde_json::Value>(&caught.body)
        .and_then(|value| serde_json::to_string_pretty(&value));
    let text = pretty.unwrap_or_else(|_| String::from_utf8_lossy(&caught.body).into_owned());
    text.lines().map(|line| format!("  {}\n", safe(line))).collect()
}

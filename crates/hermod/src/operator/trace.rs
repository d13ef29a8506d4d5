//! `hermod carrier trace`: prints a carrier's PDUs as they are sent and received.

use super::entries;
use super::operator_client::{OperatorClient, RequestBody, with_query};
use super::tables::{on_node, silent_nodes};
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_operator::kind::Kind;
use hermod_operator::trace::{TraceLineView, TraceQuery, TraceRequest, TraceStateView, TraceView};
use hermod_operator::views::paging::RowNumber;
use hyper::Method;
use std::time::Duration;

/// The lines of other nodes arrive up to a second later.
const LAST_LINES: Duration = Duration::from_millis(1_200);
const POLL_INTERVAL: Duration = Duration::from_millis(300);

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod carrier trace acme
  hermod carrier trace acme --for 10m

Prints a line for every PDU until the time is over or Ctrl-C is pressed. Lines have neither
passwords nor texts. -> is sent to the carrier, <- is received from it. With several nodes, those
of other nodes come about a second later.";

#[derive(Args)]
pub(super) struct TraceArgs {
    /// The carrier
    name: String,
    /// How long to trace, 1s to 1h
    #[arg(long = "for", value_name = "TIME", default_value = "60s")]
    duration: String,
}

impl TraceArgs {
    pub(super) async fn run(self, client: &OperatorClient) -> CommandResult {
        let path = format!("{}/trace", entries::path(Kind::Carrier, &self.name));
        // Lines of an earlier trace are skipped.
        let earlier: TraceView = client.get(&path).await?.read_as().map_err(Failure::failed)?;
        let body = RequestBody::json(&TraceRequest { duration: self.duration });
        let started = client.send(Method::PUT, &path, body).await?;
        let TraceStateView { missing_nodes, .. } = started.read_as().map_err(Failure::failed)?;
        if !client.json {
            output::print(&silent_nodes(&missing_nodes))?;
        }
        let clock = Clock::real();
        let (mut after, mut is_last, mut has_nodes) = (earlier.next, false, false);
        loop {
            let query = TraceQuery { after: Some(RowNumber::from(after)) };
            let response = client.get(&with_query(&path, &query)).await?;
            let TraceView { items, next, until } = response.read_as().map_err(Failure::failed)?;
            if !items.is_empty() {
                match client.json {
                    true => output::print_json(&response.body)?,
                    false => output::print(&items.iter().map(line_text).collect::<String>())?,
                }
            }
            after = next;
            has_nodes |= items.iter().any(|line| line.node.is_some());
            if is_last || (until.is_none() && !has_nodes) {
                return Ok(());
            }
            is_last = until.is_none();
            clock.sleep(if is_last { LAST_LINES } else { POLL_INTERVAL }).await;
        }
    }
}

fn line_text(TraceLineView { seq: _, at, node, link, way, line }: &TraceLineView) -> String {
    let link = on_node(node.as_deref(), link);
    let arrow = if way == "out" { "->" } else { "<-" };
    format!("{at}  {link} {arrow} {}\n", output::safe(line))
}

//! `hermod nodes`: lists the nodes of a cluster, and takes one out of service.

use super::list::{ListFormat, print_or_watch, table};
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::client::escape;
use crate::failure::CommandResult;
use crate::output;
use clap::Args;
use hermod_operator::node::{NodesView, StoppingView};
use hyper::Method;

const EXAMPLES: &str = "\
Examples:
  hermod nodes
  hermod nodes --watch
  hermod nodes --drain b

One node runs the engine, which makes every decision; the others are serving: they send it what
customers and carriers want. A node that is lost has not renewed its lease for five seconds.

--drain takes a node out of service, as SIGTERM does: it finishes its requests, its links and the engine
move to other nodes, and its process ends with 0. Start it again to have it back.";

/// List the nodes that share a PostgreSQL server, or take one out of service
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NodesArgs {
    /// Refresh every second until stopped
    #[arg(long, conflicts_with_all = ["drain", "csv"])]
    watch: bool,
    /// Stop the node with this name in order
    #[arg(long, value_name = "NAME", conflicts_with = "csv")]
    drain: Option<String>,
    #[command(flatten)]
    format: ListFormat,
}

impl ClientCommand for NodesArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let NodesArgs { watch, drain, format } = self;
        if let Some(name) = drain {
            let path = format!("/nodes/{}/drain", escape(&name));
            let answer = client.send(Method::POST, &path, RequestBody::None).await?;
            return client.print(&answer, |StoppingView { node }| {
                format!(
                    "Node {} is being stopped; hermod nodes shows when it has left.\n",
                    output::safe(&node)
                )
            });
        }
        print_or_watch(
            client,
            "/nodes",
            watch,
            format,
            |nodes: &NodesView| nodes.items.clone(),
            |nodes| nodes_text(&nodes),
        )
        .await
    }
}

fn nodes_text(NodesView { at, items }: &NodesView) -> String {
    format!("{}\nAs of {at}.\n", table(items))
}

#[cfg(test)]
#[path = "nodes_tests.rs"]
mod tests;

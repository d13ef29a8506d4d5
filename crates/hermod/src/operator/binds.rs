//! `hermod binds`: lists customers' binds, and unbinds one.

use super::list::{ListFormat, print_or_watch, table};
use super::operator_client::{OperatorClient, RequestBody, with_query};
use super::tables::{on_node, silent_nodes};
use super::target::ClientCommand;
use crate::failure::CommandResult;
use crate::output;
use clap::Args;
use hermod_operator::bind::{BindsQuery, BindsView, UnbindQuery, UnbindView};
use hermod_operator::carrier::views::LastErrorView;
use hyper::Method;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  hermod binds
  hermod binds --account shop --watch
  hermod binds --unbind 7
  hermod binds --unbind b/7

IN counts requests of the customer without a response, OUT requests of the gateway without one, both
out of the window. PER S is the rate of submits over the last ten seconds, WAITING the number of
receipts queued for the system_id. With several nodes the binds of all of them are listed; b/7 is bind
7 on the node b.

--unbind ends a bind. Most customers bind again at once; to keep one out, close its connection:
hermod connection set NAME closed=true";

/// List customers' SMPP binds, or unbind one
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BindsArgs {
    /// Only binds of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Only binds of this system_id
    #[arg(long, value_name = "ID")]
    system_id: Option<String>,
    /// Refresh every second until stopped
    #[arg(long, conflicts_with_all = ["unbind", "csv"])]
    watch: bool,
    /// Unbind the bind with this number, as it is listed
    #[arg(long, value_name = "N", conflicts_with = "csv")]
    unbind: Option<BindName>,
    #[command(flatten)]
    format: ListFormat,
}

impl ClientCommand for BindsArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let BindsArgs { account, system_id, watch, unbind, format } = self;
        if let Some(BindName { node, number }) = unbind {
            let path = with_query(&format!("/binds/{number}/unbind"), &UnbindQuery { node });
            let answer = client.send(Method::POST, &path, RequestBody::None).await?;
            return client.print(&answer, |UnbindView { bind }| format!("Unbinding bind {bind}.\n"));
        }
        let path = with_query("/binds", &BindsQuery { system_id, account });
        print_or_watch(
            client,
            &path,
            watch,
            format,
            |binds: &BindsView| binds.items.clone(),
            |binds| binds_text(&binds),
        )
        .await
    }
}

/// A bind as it is listed: `7`, or `b/7` on the node b.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BindName {
    node: Option<String>,
    number: u64,
}

impl FromStr for BindName {
    type Err = String;

    fn from_str(text: &str) -> Result<BindName, String> {
        let (node, number) = match text.rsplit_once('/') {
            Some((node, number)) => (Some(node.to_owned()), number),
            None => (None, text),
        };
        let number =
            number.parse().map_err(|_| "a bind is a number, such as 7, or b/7 on the node b".to_owned())?;
        Ok(BindName { node, number })
    }
}

fn binds_text(BindsView { at, items, missing_nodes }: &BindsView) -> String {
    let mut text = table(items);
    for bind in items {
        if let Some(LastErrorView { at, text: error }) = &bind.last_error {
            let system_id = output::safe(&bind.system_id);
            let bind = on_node(bind.node.as_deref(), &bind.number);
            text.push_str(&format!("\n{system_id} {bind}: {} ({at})\n", output::safe(error)));
        }
    }
    text.push_str(&silent_nodes(missing_nodes));
    text.push_str(&format!("\nAs of {at}.\n"));
    text
}

#[cfg(test)]
#[path = "binds_tests.rs"]
mod tests;

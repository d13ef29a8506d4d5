//! `hermod inbound`: MO messages of a customer; `hermod inbound unassigned`: MO messages that belong to no account.

use super::{AccessArgs, CREDENTIALS_HELP};
use crate::failure::{CommandResult, Failure};
use crate::operator::messages::{UNASSIGNED_EXAMPLES, UnassignedCommand};
use crate::operator::target::VerbOnGateway;
use crate::output::{self, Align, TextTable};
use crate::runtime;
use clap::{Args, Subcommand};
use hermod_gateway::edges::http_api::document::bodies::{InboundMessageBody, InboundPage};

const EXAMPLES: &str = "\
Examples:
  hermod inbound
  hermod inbound --since 42 --limit 500
  hermod inbound --json | jq .next_since
  hermod inbound unassigned list

Messages are in the order of their ids. The last line has the command for the next page.";

/// Read your MO messages; for the operator: assign MO messages without an account
#[derive(Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{CREDENTIALS_HELP}"), args_conflicts_with_subcommands = true)]
pub(crate) struct InboundArgs {
    /// Only messages after this id
    #[arg(long, value_name = "N", default_value_t = 0)]
    since: u64,
    /// Number of messages, 1 to 500
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    #[command(flatten)]
    access: AccessArgs,
    #[command(subcommand)]
    command: Option<InboundCommand>,
}

#[derive(Subcommand)]
enum InboundCommand {
    /// List MO messages that belong to no account, and assign them (operator)
    #[command(after_help = UNASSIGNED_EXAMPLES, arg_required_else_help = true)]
    Unassigned(Box<VerbOnGateway<UnassignedCommand>>),
}

impl InboundArgs {
    pub(crate) fn run(self) -> CommandResult {
        let InboundArgs { since, limit, access, command } = self;
        if let Some(InboundCommand::Unassigned(unassigned)) = command {
            return unassigned.run();
        }
        let customer = access.customer()?;
        runtime::block_on(async move {
            let response = customer.get(&format!("/inbound?since={since}&limit={limit}")).await?;
            if customer.json {
                return output::print_json(&response.body);
            }
            let InboundPage { messages, next_since, .. } = response.read_as().map_err(Failure::failed)?;
            let mut table = TextTable::new(&[
                ("id", Align::Right),
                ("received", Align::Left),
                ("from", Align::Left),
                ("to", Align::Left),
                ("text", Align::Left),
            ]);
            for InboundMessageBody { id, from, to, text, received_at, .. } in &messages {
                table.row([id.to_string(), received_at.clone(), from.clone(), to.clone(), text.clone()]);
            }
            output::print(&table.text("No new messages."))?;
            if messages.is_empty() {
                return Ok(());
            }
            output::print(&format!("\nNext page: hermod inbound --since {next_since}\n"))
        })
    }
}

//! `hermod record`: the state of the record, and its rebuild.

use super::operator_client::{OperatorClient, RequestBody};
use super::record_notes::time;
use super::target::ClientCommand;
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Subcommand;
use hermod_gateway::clock::Clock;
use hermod_operator::message::views::CountView;
use hermod_operator::record::RecordStatusView;
use hyper::Method;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod record status
  hermod record rebuild

The record is the file record.db beside the message store: hermod messages, message, stats, requests
and tail read it. docs/record.md explains it.";
const STATUS_EXAMPLES: &str = "\
Examples:
  hermod record status
  hermod record status --json | jq .lag_ms";
const REBUILD_EXAMPLES: &str = "\
Example:
  hermod record rebuild

Deletes the record and reads every message from the message store again, while the gateway runs or not.
Sending is not affected. Messages, states and money are complete afterwards. The steps of messages, the
request log and the statistics of rejected requests before the rebuild are lost, because only the record
had them. If the command is stopped, the gateway continues the rebuild.";

/// How often the progress is read.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Show the state of the record, or rebuild it
#[derive(Subcommand)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) enum RecordCommand {
    /// Show how far the record is behind the message store
    #[command(after_help = STATUS_EXAMPLES)]
    Status,
    /// Delete the record and read it from the message store again
    #[command(after_help = REBUILD_EXAMPLES)]
    Rebuild,
}

impl ClientCommand for RecordCommand {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            RecordCommand::Status => {
                let response = client.get("/record").await?;
                client.print(&response, |view: RecordStatusView| format!("{}\n", status_text(view)))
            }
            RecordCommand::Rebuild => rebuild(client).await,
        }
    }
}

fn status_text(RecordStatusView { enabled, lag_ms, catching_up }: RecordStatusView) -> String {
    match (enabled, catching_up, lag_ms) {
        (false, ..) => {
            "The gateway keeps no record. Set enabled = true in the section [record] of its settings and restart it."
                .to_owned()
        }
        (true, 0, 0) => "The record is complete.".to_owned(),
        (true, 0, lag_ms) => format!("The record is {} behind.", time(lag_ms)),
        (true, left, _) => format!("The record is catching up: {left} messages are left to read."),
    }
}

/// Begins a rebuild and shows its progress until it is complete.
async fn rebuild(client: &OperatorClient) -> CommandResult {
    let clock = Clock::real();
    let mut response = client.send(Method::POST, "/record/rebuild", RequestBody::None).await?;
    client.note_write();
    let mut most = 0;
    loop {
        let view: RecordStatusView = response.read_as().map_err(Failure::failed)?;
        most = most.max(view.catching_up);
        if view.catching_up == 0 {
            output::progress_done();
            let counted = client.get("/messages/count").await?;
            let CountView { count, exact, .. } = counted.read_as().map_err(Failure::failed)?;
            let at_least = if exact { "" } else { "at least " };
            return client.print(&response, |_: RecordStatusView| {
                format!("Rebuilt the record: {at_least}{count} messages.\n")
            });
        }
        output::progress(&format!("{} of {most} messages are left to read", view.catching_up));
        clock.sleep(LOOK_EVERY).await;
        response = client.get("/record").await?;
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;

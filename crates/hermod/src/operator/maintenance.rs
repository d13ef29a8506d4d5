//! `hermod erase` and `hermod set-aside`: erasing a phone number, and invalid rows of the queue.

use super::list::{ListFormat, NextPage, print_page};
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::failure::CommandResult;
use clap::{Args, Subcommand};
use hermod_operator::maintenance::{ErasureRequest, ErasureView, SetAsideQuery, SetAsideView};
use hermod_operator::views::paging::{Limit, RowNumber};
use hyper::Method;
use std::time::Duration;

const ERASE_EXAMPLES: &str = "\
Examples:
  hermod erase --number +4915112345678
  hermod erase --number +4915112345678 --account shop

For a person who asks for erasure. In every message to or from the number that has ended, the text is deleted and the number
replaced: messages show (erased), which is null in JSON, and MO messages +9990000000; held messages, conversations, the number in unmatched receipts and beside the carriers' message ids,
and responses of webhook receivers that have the number in them are removed. Ids, states, times and money stay, so that every
balance can still be audited. Opt-outs of the number stay: they prevent further messages to it.

The erasure is kept for 400 days as a keyed digest of the number, in the database and in hermod.erasures of the data folder.
It is made again in the records of nodes that were away, and in a backup that is restored: keep hermod.erasures of the folder
that you replace, or copy it into the restored one before the gateway starts. Messages from after the erasure stay.

Messages that are still being delivered are not changed and are listed: run the command again when they have ended. Not
searched, although a customer may have written the number there: idempotency keys, X-Request-Id, and the details of requests to
the operator. Parts that screening joins are forgotten by the gateway that runs the command; other nodes keep them in memory for up
to 24 hours. Not erased: the files of earlier backups (delete them), and the data of customers and carriers.";

/// The gateway reads every stored message.
const ERASE_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Erase a phone number and the texts of its messages
#[derive(Args)]
#[command(after_help = ERASE_EXAMPLES)]
pub(crate) struct EraseArgs {
    /// The number: a plus, then 7 to 15 digits
    #[arg(long, value_name = "NUMBER")]
    number: String,
    /// Only in messages of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
}

impl ClientCommand for EraseArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let EraseArgs { number, account } = self;
        let body = RequestBody::json(&ErasureRequest { number, account });
        let response = client.send_with_timeout(Method::POST, "/erasures", body, ERASE_TIMEOUT).await?;
        client.print(&response, |erasure: ErasureView| erasure_text(&erasure))
    }
}

fn erasure_text(erasure: &ErasureView) -> String {
    let ErasureView { messages, inbound, others, in_progress, in_progress_ids } = erasure;
    let mut text =
        format!("Erased: {messages} messages to the number, {inbound} from it, {others} other records.\n");
    if *in_progress > 0 {
        text.push_str(&format!(
            "Not erased because they are still being delivered: {in_progress}. Run this again when they have ended:\n"
        ));
        for id in in_progress_ids {
            text.push_str(&format!("  {id}\n"));
        }
    }
    text
}

const SET_ASIDE_EXAMPLES: &str = "\
Examples:
  hermod set-aside list
  hermod set-aside list --after 100";

/// List messages that cannot be sent because their rows in the database are invalid
#[derive(Subcommand)]
#[command(after_help = SET_ASIDE_EXAMPLES, arg_required_else_help = true)]
pub(crate) enum SetAsideCommand {
    /// List rows that were set aside, with the reason; docs/alarms.md explains how to repair them
    #[command(after_help = SET_ASIDE_EXAMPLES)]
    List {
        /// Only rows after this number; the last line of a page has it
        #[arg(long, value_name = "N")]
        after: Option<RowNumber>,
        /// Rows of a page, 1 to 1000
        #[arg(long, value_name = "N", default_value = "100")]
        limit: Limit,
        #[command(flatten)]
        format: ListFormat,
    },
}

impl ClientCommand for SetAsideCommand {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let SetAsideCommand::List { after, limit, format } = self;
        let query = SetAsideQuery { after, limit: Some(limit) };
        print_page::<SetAsideView>(client, "/set-aside", &query, NextPage::After, format).await
    }
}

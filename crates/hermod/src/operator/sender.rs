//! `hermod sender`: sender ids, approved or blocked.

use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::operator_client::OperatorClient;
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  hermod sender list --account shop
  hermod sender approve Shop --account shop
  hermod sender block Bank
  hermod sender remove Shop --account shop

An account sends only from sender ids that are approved for it. A sender id that is blocked without an
account is blocked for all accounts, together with look-alikes of it. A look-alike of another
account's approved sender id (PayPa1, Pay-Pal) is rejected unless --look-alike is given.";

/// Manage sender ids of accounts
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct SenderArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: SenderCommand,
}

#[derive(Subcommand)]
enum SenderCommand {
    /// List sender ids
    #[command(after_help = "Examples:\n  hermod sender list\n  hermod sender list --account shop")]
    List {
        /// Only entries of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Approve a sender id for an account
    #[command(after_help = "Example:\n  hermod sender approve Shop --account shop")]
    Approve {
        /// The sender id
        sender: String,
        /// The account
        #[arg(long, value_name = "NAME")]
        account: String,
        /// Approve it even if it looks like another account's sender id
        #[arg(long)]
        look_alike: bool,
    },
    /// Block a sender id for one account or for all
    #[command(
        after_help = "Examples:\n  hermod sender block Shop --account shop\n  hermod sender block Bank"
    )]
    Block {
        /// The sender id
        sender: String,
        /// The account [default: all accounts]
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Remove a sender id, which is then neither approved nor blocked
    #[command(
        after_help = "Examples:\n  hermod sender remove Shop --account shop\n  hermod sender remove Bank"
    )]
    Remove {
        /// The sender id
        sender: String,
        /// The account [default: the entry for all accounts]
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
}

const COLUMNS: [Column<Value>; 3] = [
    ("sender", Left, |entry| text(&entry["sender"])),
    ("account", Left, |entry| match &entry["account"] {
        Value::String(account) => account.clone(),
        _ => "(all)".to_owned(),
    }),
    ("state", Left, |entry| text(&entry["state"])),
];

impl SenderArgs {
    pub(crate) fn run(self) -> CommandResult {
        let SenderArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            SenderCommand::List { account } => entries::list(client, Kind::Sender, account, &COLUMNS).await,
            SenderCommand::Approve { sender, account, look_alike } => {
                let fields = EntryFields::default().with("look_alike", look_alike.then_some(true));
                set_state(client, &sender, Some(&account), "approved", fields).await
            }
            SenderCommand::Block { sender, account } => {
                set_state(client, &sender, account.as_deref(), "blocked", EntryFields::default()).await
            }
            SenderCommand::Remove { sender, account } => {
                entries::remove(client, Kind::Sender, &name(&sender, account.as_deref())).await
            }
        })
    }
}

async fn set_state(
    client: &OperatorClient,
    sender: &str,
    account: Option<&str>,
    state: &str,
    fields: EntryFields,
) -> CommandResult {
    entries::set(client, Kind::Sender, &name(sender, account), fields.with("state", Some(state))).await
}

fn name(sender: &str, account: Option<&str>) -> String {
    format!("{}/{sender}", account.unwrap_or("*"))
}

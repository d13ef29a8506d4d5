//! `hermod sender`: the verbs that approve and block sender ids.

use super::changes::SecretsTo;
use super::entries;
use super::fields::{AssignmentParser, EntryFields};
use super::operator_client::OperatorClient;
use super::target::ClientCommand;
use crate::failure::CommandResult;
use clap::{Args, Subcommand};
use hermod_operator::kind::Kind;

pub(super) const HELP: &str = "\
Examples:
  hermod sender list --account shop
  hermod sender approve Shop --account shop
  hermod sender block Bank
  hermod sender set shop/Shop reason='The name of another brand.'
  hermod sender remove shop/Shop

The name of a sender id is ACCOUNT/SENDER, or */SENDER for all accounts. An account sends only from
sender ids that are approved for it. A sender id that is blocked without an account is blocked for
all accounts, together with look-alikes of it. A look-alike of another account's approved sender id
(PayPa1, Pay-Pal) is rejected unless --look-alike is given.";

#[derive(Subcommand)]
pub(super) enum SenderVerb {
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
        #[command(flatten)]
        others: Others,
    },
    /// Block a sender id for one account or for all
    #[command(
        after_help = "Examples:\n  hermod sender block Shop --account shop reason='The name of another brand.'\n  \
                            hermod sender block Bank"
    )]
    Block {
        /// The sender id
        sender: String,
        /// The account [default: all accounts]
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        #[command(flatten)]
        others: Others,
    },
}

#[derive(Args)]
pub(super) struct Others {
    /// Other fields; hermod sender set --help lists them
    #[arg(value_name = "FIELD=VALUE", value_parser = AssignmentParser(Kind::Sender), hide_possible_values = true)]
    fields: Vec<String>,
}

impl ClientCommand for SenderVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let (sender, account, state, look_alike, others) = match self {
            SenderVerb::Approve { sender, account, look_alike, others } => {
                (sender, account, "approved", look_alike, others)
            }
            SenderVerb::Block { sender, account, others } => {
                (sender, account.unwrap_or_else(|| "*".to_owned()), "blocked", false, others)
            }
        };
        let mut fields = EntryFields::parse(Kind::Sender, &others.fields)?.with("state", state);
        if look_alike {
            fields = fields.with("look_alike", true);
        }
        let path = entries::path(Kind::Sender, &format!("{account}/{sender}"));
        entries::set(client, &path, fields, SecretsTo::Output).await
    }
}

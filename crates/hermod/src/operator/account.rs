//! `hermod account`: the verbs for accounts of customers that do more than switch a field on or off.

use super::account_details;
use super::entries;
use super::entries::OwnVerb;
use super::fields::EntryFields;
use super::operator_client::OperatorClient;
use super::opt_outs::OptOutsArgs;
use super::statement::{LedgerArgs, StatementArgs};
use crate::failure::CommandResult;
use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;
use hermod_operator::kind::Kind;
use serde_json::Value;

pub(super) const HELP: &str = "\
Examples:
  hermod account add shop currency=EUR opening_balance=100 verified=true countries=DE,AT senders=Shop
  hermod account list
  hermod account list --json | jq -r '.items[].name'
  hermod account show shop
  hermod account set shop credit_limit=500 countries='*'
  hermod account statement shop --from 2026-11-01 --to 2026-11-30
  hermod account suspend shop --reason 'unpaid invoice'
  hermod account resume shop
  hermod account close shop

A suspended account cannot send, and its new binds are rejected. It can read, pay and ask, and its
live binds still get receipts and MO messages. A closed account has no access by API or SMPP.

Money moves with hermod topup, invoice, payment and adjust. An account cannot be removed, because
messages and money refer to it; close it instead.";

#[derive(Subcommand)]
pub(super) enum AccountVerb {
    /// Suspend an account: it cannot send until it is resumed, and its portal shows the reason
    #[command(after_help = "Example:\n  hermod account suspend shop --reason 'unpaid invoice'")]
    Suspend {
        /// The account
        name: String,
        /// Why, at most 200 characters; the customer reads it in the portal
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        reason: String,
    },
    /// End the suspension of an account: it can send and bind again
    #[command(after_help = "Example:\n  hermod account resume shop")]
    Resume {
        /// The account
        name: String,
    },
    /// Show charges and payments day by day
    #[command(after_help = "Examples:\n  hermod account statement shop\n  \
                            hermod account statement shop --from 2026-11-01 --to 2026-11-30")]
    Statement(StatementArgs),
    /// List ledger entries, the newest first; without charges of messages
    #[command(after_help = "Example:\n  hermod account ledger shop --limit 20")]
    Ledger(LedgerArgs),
    /// Show today's messages and spend, and the traffic controls
    #[command(after_help = "Example:\n  hermod account traffic shop")]
    Traffic {
        /// The account
        name: String,
    },
    /// List, add or remove opt-outs
    #[command(
        after_help = "Examples:\n  hermod account opt-outs shop\n  hermod account opt-outs shop --add +4915112345678\n  \
                            hermod account opt-outs shop --lift +4915112345678"
    )]
    OptOuts(OptOutsArgs),
}

impl OwnVerb for AccountVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            AccountVerb::Suspend { name, reason } => set_suspension(client, &name, Value::from(reason)).await,
            AccountVerb::Resume { name } => set_suspension(client, &name, Value::Null).await,
            AccountVerb::Statement(statement) => statement.run(client).await,
            AccountVerb::Ledger(ledger) => ledger.run(client).await,
            AccountVerb::Traffic { name } => account_details::traffic(client, &name).await,
            AccountVerb::OptOuts(opt_outs) => opt_outs.run(client).await,
        }
    }
}

/// Sets the reason of a suspension; null ends it.
async fn set_suspension(client: &OperatorClient, name: &str, reason: Value) -> CommandResult {
    let fields = EntryFields::default().with("suspended", reason);
    entries::patch(client, Kind::Account, name, fields).await
}

//! `hermod account`: the verbs for accounts of customers that do more than switch a field on or off.

use super::account_details;
use super::entries;
use super::fields::EntryFields;
use super::operator_client::OperatorClient;
use super::opt_outs::OptOutsArgs;
use super::queue;
use super::statement::{LedgerArgs, StatementArgs};
use super::target::ClientCommand;
use crate::failure::CommandResult;
use crate::output;
use clap::builder::NonEmptyStringValueParser;
use clap::{Subcommand, ValueEnum};
use hermod_operator::kind::Kind;
use hermod_operator::queue::{QueueAction, QueueConditions, QueueRequest};
use serde_json::Value;

pub(super) const HELP: &str = "\
Examples:
  hermod account add shop currency=EUR opening_balance=100 verified=true countries=DE,AT senders=Shop
  hermod account list
  hermod account list --json | jq -r '.items[].name'
  hermod account show shop
  hermod account set shop credit_limit=500 countries='*'
  hermod account statement shop --from 2026-11-01 --to 2026-11-30
  hermod account suspend shop --reason 'unpaid invoice' --waiting hold
  hermod account resume shop
  hermod account close shop

A suspended account cannot send, and its new binds are rejected. It can read, pay and ask, and its
live binds still get receipts and MO messages. A closed account has no access by API or SMPP. What waits
for carriers is sent, held or cancelled, as --waiting says. resume releases everything that is held of the
account, also by hermod queue hold; --keep-held leaves it.

Money moves with hermod topup, invoice, payment and adjust. An account that was never used can
be removed. Messages and money refer to any other; close it instead.";

#[derive(Subcommand)]
pub(super) enum AccountVerb {
    /// Suspend an account: it cannot send until it is resumed, and its portal shows the reason
    #[command(after_help = "Examples:\n  hermod account suspend shop --reason 'unpaid invoice'\n  \
                            hermod account suspend shop --reason 'unusual traffic, please call us' --waiting hold")]
    Suspend {
        /// The account
        name: String,
        /// Why, at most 200 characters; the customer reads it in the portal
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        reason: String,
        /// What becomes of its messages that wait for carriers
        #[arg(long, value_enum, default_value = "send")]
        waiting: Waiting,
    },
    /// Close an account: it has no access by API or SMPP, and its portal stays open
    #[command(
        after_help = "Examples:\n  hermod account close shop\n  hermod account close shop --waiting cancel"
    )]
    Close {
        /// The account
        name: String,
        /// What becomes of its messages that wait for carriers
        #[arg(long, value_enum, default_value = "send")]
        waiting: Waiting,
    },
    /// End the suspension of an account: it can send and bind again
    #[command(
        after_help = "Examples:\n  hermod account resume shop\n  hermod account resume shop --keep-held"
    )]
    Resume {
        /// The account
        name: String,
        /// Do not release its messages that are held
        #[arg(long)]
        keep_held: bool,
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

/// What becomes of the messages of an account that wait for carriers.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Waiting {
    /// They are sent
    Send,
    /// They are held until they are released or cancelled
    Hold,
    /// They are cancelled, and their costs are refunded
    Cancel,
}

impl Waiting {
    const fn action(self) -> Option<QueueAction> {
        match self {
            Waiting::Send => None,
            Waiting::Hold => Some(QueueAction::Hold),
            Waiting::Cancel => Some(QueueAction::Cancel),
        }
    }
}

impl ClientCommand for AccountVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            AccountVerb::Suspend { name, reason, waiting } => {
                entries::patch(client, Kind::Account, &name, EntryFields::one("suspended", reason)).await?;
                change_waiting(client, &name, waiting.action(), "suspended").await
            }
            AccountVerb::Close { name, waiting } => {
                entries::patch(client, Kind::Account, &name, EntryFields::one("closed", true)).await?;
                change_waiting(client, &name, waiting.action(), "closed").await
            }
            AccountVerb::Resume { name, keep_held } => {
                entries::patch(client, Kind::Account, &name, EntryFields::one("suspended", Value::Null))
                    .await?;
                let release = (!keep_held).then_some(QueueAction::Release);
                change_waiting(client, &name, release, "resumed").await
            }
            AccountVerb::Statement(statement) => statement.run(client).await,
            AccountVerb::Ledger(ledger) => ledger.run(client).await,
            AccountVerb::Traffic { name } => account_details::traffic(client, &name).await,
            AccountVerb::OptOuts(opt_outs) => opt_outs.run(client).await,
        }
    }
}

/// Changes what waits of an account, and prints how many messages that were.
async fn change_waiting(
    client: &OperatorClient,
    name: &str,
    action: Option<QueueAction>,
    reason: &str,
) -> CommandResult {
    let Some(action) = action else { return Ok(()) };
    let conditions = QueueConditions { account: Some(name.to_owned()), ..QueueConditions::default() };
    let request = QueueRequest {
        action,
        conditions,
        reason: Some(reason.to_owned()),
        dry_run: false,
        after: None,
        limit: None,
    };
    let result = queue::change_all(client, &request).await?;
    if client.json || (action == QueueAction::Release && result.done == 0) {
        return Ok(());
    }
    output::print(&queue::result_text(&request, &result))
}

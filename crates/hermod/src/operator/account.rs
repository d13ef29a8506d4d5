//! `hermod account`: accounts of customers.

use super::account_details;
use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::operator_client::OperatorClient;
use super::opt_outs::OptOutsArgs;
use super::statement::{LedgerArgs, StatementArgs};
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output;
use crate::output::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  hermod account create shop --currency EUR --opening-balance 100 --verified --countries DE,AT \\
      --sender Shop
  hermod account show shop
  hermod account set shop --credit-limit 500 --countries '*'
  hermod account statement shop --from 2026-11-01 --to 2026-11-30
  hermod account close shop

Money moves with hermod topup, invoice, payment and adjust. An account cannot be removed, because
messages and money refer to it; close it instead.";

/// Manage accounts of customers
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct AccountArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: AccountCommand,
}

#[derive(Subcommand)]
enum AccountCommand {
    /// List accounts
    #[command(
        after_help = "Examples:\n  hermod account list\n  hermod account list --json | jq -r '.items[].name'"
    )]
    List,
    /// Show an account and its money
    #[command(after_help = "Example:\n  hermod account show shop")]
    Show {
        /// The account
        name: String,
    },
    /// Create an account
    #[command(
        after_help = "Example:\n  hermod account create shop --currency EUR --opening-balance 100 --verified \\\n      \
                            --countries DE,AT --sender Shop"
    )]
    Create(Create),
    /// Change an account
    #[command(
        after_help = "Examples:\n  hermod account set shop --credit-limit 500\n  hermod account set shop --closed false"
    )]
    Set(Set),
    /// Close an account: its customers can no longer sign in or bind
    #[command(after_help = "Example:\n  hermod account close shop")]
    Close {
        /// The account
        name: String,
    },
    /// Mark an account as verified; an unverified account cannot send
    #[command(after_help = "Example:\n  hermod account verify shop")]
    Verify {
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

#[derive(Args)]
struct Create {
    /// Name of the account
    name: String,
    /// Currency code, such as EUR; cannot be changed later
    #[arg(long, value_name = "CODE")]
    currency: String,
    /// Initial balance
    #[arg(long, value_name = "AMOUNT")]
    opening_balance: Option<String>,
    /// Whether the identity of the customer is verified
    #[arg(long)]
    verified: bool,
    /// Sender id that is approved for the account; repeatable
    #[arg(long = "sender", value_name = "SENDER")]
    senders: Vec<String>,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args)]
struct Set {
    /// Name of the account
    name: String,
    /// Whether the identity of the customer is verified
    #[arg(long, value_name = "BOOL")]
    verified: Option<bool>,
    /// Whether the account is closed
    #[arg(long, value_name = "BOOL")]
    closed: Option<bool>,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args)]
struct Terms {
    /// Credit limit: how far below zero the balance may go
    #[arg(long, value_name = "AMOUNT")]
    credit_limit: Option<String>,
    /// Balance that must remain in the account
    #[arg(long, value_name = "AMOUNT")]
    minimum: Option<String>,
    /// Payment terms that the customer sees
    #[arg(long, value_name = "TERMS", value_parser = ["prepaid", "postpaid"])]
    terms: Option<String>,
    /// Countries it may send to, such as DE,AT, or '*' for all [default: none]
    #[arg(long, value_name = "CODES")]
    countries: Option<String>,
    /// SMPP throughput: standard is 100 messages per second in all, enterprise 10,000 on each bind
    #[arg(long, value_name = "TIER", value_parser = ["standard", "enterprise"])]
    tier: Option<String>,
    /// SMPP messages per second, instead of the rate of the tier
    #[arg(long, value_name = "N")]
    smpp_rate: Option<u32>,
    /// Webhook URL for delivery reports; '' removes it
    #[arg(long, value_name = "URL")]
    dlr_webhook: Option<String>,
    /// Webhook URL for MO messages; '' removes it
    #[arg(long, value_name = "URL")]
    inbound_webhook: Option<String>,
}

impl Terms {
    fn fields(self) -> EntryFields {
        let Terms { credit_limit, minimum, terms, countries, tier, smpp_rate, dlr_webhook, inbound_webhook } =
            self;
        EntryFields::default()
            .with("credit_limit", credit_limit)
            .with("minimum", minimum)
            .with("terms", terms)
            .with("countries", countries.as_deref().map(read_countries))
            .with("tier", tier)
            .with("smpp_rate", smpp_rate)
            .with("dlr_webhook", dlr_webhook)
            .with("inbound_webhook", inbound_webhook)
    }
}

/// A column of the list that is not a field of the account.
const BALANCE: &str = "balance";

/// Parses `*` or a list of country codes.
fn read_countries(text: &str) -> Value {
    if text == "*" {
        return Value::from("*");
    }
    text.split(',').map(str::trim).filter(|code| !code.is_empty()).map(Value::from).collect()
}

const COLUMNS: [Column<Value>; 9] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("balance", Right, |entry| text(&entry[BALANCE])),
    ("currency", Left, |entry| text(&entry["currency"])),
    ("terms", Left, |entry| text(&entry["terms"])),
    ("credit limit", Right, |entry| text(&entry["credit_limit"])),
    ("minimum", Right, |entry| text(&entry["minimum"])),
    ("verified", Left, |entry| text(&entry["verified"])),
    ("countries", Left, |entry| text(&entry["countries"])),
    ("closed", Left, |entry| text(&entry["closed"])),
];

impl AccountArgs {
    pub(crate) fn run(self) -> CommandResult {
        let AccountArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            AccountCommand::List => list(client).await,
            AccountCommand::Show { name } => account_details::show(client, &name).await,
            AccountCommand::Create(create) => create.run(client).await,
            AccountCommand::Set(Set { name, verified, closed, terms }) => {
                let fields = terms.fields().with("verified", verified).with("closed", closed);
                entries::patch(client, Kind::Account, &name, fields).await
            }
            AccountCommand::Close { name } => mark(client, &name, "closed").await,
            AccountCommand::Verify { name } => mark(client, &name, "verified").await,
            AccountCommand::Statement(statement) => statement.run(client).await,
            AccountCommand::Ledger(ledger) => ledger.run(client).await,
            AccountCommand::Traffic { name } => account_details::traffic(client, &name).await,
            AccountCommand::OptOuts(opt_outs) => opt_outs.run(client).await,
        })
    }
}

/// Lists every account with its balance.
async fn list(client: &OperatorClient) -> CommandResult {
    let items = entries::fetch_all(client, Kind::Account, None).await?;
    if client.json {
        return entries::print_items(&items);
    }
    let mut accounts = Vec::new();
    for item in &items {
        let mut entry = Value::Object(item.entry.clone());
        let name = text(&entry["name"]);
        entry[BALANCE] = Value::from(account_details::balance(client, &name).await?);
        accounts.push(entry);
    }
    output::print(&entries::table(Kind::Account, &COLUMNS, &accounts))
}

/// Sets a field to true.
async fn mark(client: &OperatorClient, name: &str, field: &str) -> CommandResult {
    entries::patch(client, Kind::Account, name, EntryFields::default().with(field, Some(true))).await
}

impl Create {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let Create { name, currency, opening_balance, verified, senders, terms } = self;
        let fields = terms
            .fields()
            .with("currency", Some(currency))
            .with("opening_balance", opening_balance)
            .with("verified", verified.then_some(true))
            .with_list("senders", &senders);
        entries::create(client, Kind::Account, &name, fields, None).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_a_star_or_a_list() {
        assert_eq!(read_countries("*").to_string(), r#""*""#);
        assert_eq!(read_countries("DE, AT").to_string(), r#"["DE","AT"]"#);
        assert_eq!(read_countries("").to_string(), "[]");
    }
}

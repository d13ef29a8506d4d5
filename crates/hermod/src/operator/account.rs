//! `hermod account`: customers.

use super::desk::Desk;
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::ledger::{self, Statement};
use super::opt_outs::OptOuts;
use super::place::{Absent, Place};
use super::standing;
use crate::ending::Ended;
use crate::show;
use crate::show::Align::{Left, Right};
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

Money moves with hermod topup, invoice, payment and adjust. An account is never removed, because
messages and money refer to it.";

/// Accounts of customers
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Account {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(
        after_help = "Examples:\n  hermod account list\n  hermod account list --json | jq -r '.items[].name'"
    )]
    List,
    /// Show one with its money
    #[command(after_help = "Example:\n  hermod account show shop")]
    Show { name: String },
    /// Make one
    #[command(
        after_help = "Example:\n  hermod account create shop --currency EUR --opening-balance 100 --verified \\\n      \
                            --countries DE,AT --sender Shop"
    )]
    Create(Create),
    /// Change one
    #[command(
        after_help = "Examples:\n  hermod account set shop --credit-limit 500\n  hermod account set shop --closed false"
    )]
    Set(Set),
    /// Let nobody of it in any more
    #[command(after_help = "Example:\n  hermod account close shop")]
    Close { name: String },
    /// Say that you have checked who this is: nothing can be sent before
    #[command(after_help = "Example:\n  hermod account verify shop")]
    Verify { name: String },
    /// What was charged and paid, day by day
    #[command(after_help = "Examples:\n  hermod account statement shop\n  \
                            hermod account statement shop --from 2026-11-01 --to 2026-11-30")]
    Statement(Statement),
    /// Every change of its money that is not a message's cost, newest first
    #[command(after_help = "Example:\n  hermod account ledger shop --limit 20")]
    Ledger(ledger::Ledger),
    /// What it sent today, and what its traffic controls say to that
    #[command(after_help = "Example:\n  hermod account traffic shop")]
    Traffic { name: String },
    /// Who does not want to hear from it; add and lift
    #[command(
        after_help = "Examples:\n  hermod account opt-outs shop\n  hermod account opt-outs shop --add +4915112345678\n  \
                            hermod account opt-outs shop --lift +4915112345678"
    )]
    OptOuts(OptOuts),
}

#[derive(Args)]
struct Create {
    /// What it is called
    name: String,
    /// Three letters, such as EUR; cannot change later
    #[arg(long, value_name = "CODE")]
    currency: String,
    /// What it begins with
    #[arg(long, value_name = "AMOUNT")]
    opening_balance: Option<String>,
    /// You have checked who this is
    #[arg(long)]
    verified: bool,
    /// A sender it may use; may be given several times
    #[arg(long = "sender", value_name = "SENDER")]
    senders: Vec<String>,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args)]
struct Set {
    /// What it is called
    name: String,
    /// You have checked who this is
    #[arg(long, value_name = "BOOL")]
    verified: Option<bool>,
    /// Let nobody of it in
    #[arg(long, value_name = "BOOL")]
    closed: Option<bool>,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args)]
struct Terms {
    /// How far below zero the balance may go
    #[arg(long, value_name = "AMOUNT")]
    credit_limit: Option<String>,
    /// What must stay in the account
    #[arg(long, value_name = "AMOUNT")]
    minimum: Option<String>,
    /// What the customer is told
    #[arg(long, value_name = "TERMS", value_parser = ["prepaid", "postpaid"])]
    terms: Option<String>,
    /// Where it may send: country codes such as DE,AT, or '*'; nowhere unless they are named
    #[arg(long, value_name = "CODES")]
    countries: Option<String>,
    /// How fast it may send over SMPP: 100 a second in all, or 10,000 on each bind
    #[arg(long, value_name = "TIER", value_parser = ["standard", "enterprise"])]
    tier: Option<String>,
    /// Messages per second over SMPP, instead of what the tier gives
    #[arg(long, value_name = "N")]
    smpp_rate: Option<u32>,
    /// Where delivery reports are posted; '' for nowhere
    #[arg(long, value_name = "URL")]
    dlr_webhook: Option<String>,
    /// Where messages from handsets are posted; '' for nowhere
    #[arg(long, value_name = "URL")]
    inbound_webhook: Option<String>,
}

impl Terms {
    fn fields(self) -> Fields {
        let Terms { credit_limit, minimum, terms, countries, tier, smpp_rate, dlr_webhook, inbound_webhook } =
            self;
        Fields::default()
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

/// Beside the fields of an account in a list.
const BALANCE: &str = "balance";

/// `*`, or a list.
fn read_countries(text: &str) -> Value {
    if text == "*" {
        return Value::from("*");
    }
    text.split(',').map(str::trim).filter(|code| !code.is_empty()).map(Value::from).collect()
}

const COLUMNS: [Column; 9] = [
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

impl Account {
    pub(crate) fn run(self) -> Ended {
        let Account { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List => list(desk).await,
            What::Show { name } => standing::show(desk, &name).await,
            What::Create(create) => create.run(desk).await,
            What::Set(Set { name, verified, closed, terms }) => {
                let fields = terms.fields().with("verified", verified).with("closed", closed);
                entries::patch(desk, Kind::Account, &name, fields).await
            }
            What::Close { name } => mark(desk, &name, "closed").await,
            What::Verify { name } => mark(desk, &name, "verified").await,
            What::Statement(statement) => statement.run(desk).await,
            What::Ledger(ledger) => ledger.run(desk).await,
            What::Traffic { name } => standing::traffic(desk, &name).await,
            What::OptOuts(opt_outs) => opt_outs.run(desk).await,
        })
    }
}

/// Every account with its balance, which the list of the API does not have.
async fn list(desk: &Desk) -> Ended {
    let items = entries::all(desk, Kind::Account, None).await?;
    if desk.json {
        return entries::say_items(&items);
    }
    let mut accounts = Vec::new();
    for item in &items {
        let mut entry = entries::entry_of(item)?;
        let name = text(&entry["name"]);
        entry[BALANCE] = Value::from(standing::balance(desk, &name).await?);
        accounts.push(entry);
    }
    show::say(&entries::table(Kind::Account, &COLUMNS, &accounts))
}

async fn mark(desk: &Desk, name: &str, field: &str) -> Ended {
    entries::patch(desk, Kind::Account, name, Fields::default().with(field, Some(true))).await
}

impl Create {
    async fn run(self, desk: &Desk) -> Ended {
        let Create { name, currency, opening_balance, verified, senders, terms } = self;
        let fields = terms
            .fields()
            .with("currency", Some(currency))
            .with("opening_balance", opening_balance)
            .with("verified", verified.then_some(true))
            .with_list("senders", &senders);
        entries::create(desk, Kind::Account, &name, fields, None).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_all_or_a_list() {
        assert_eq!(read_countries("*").to_string(), r#""*""#);
        assert_eq!(read_countries("DE, AT").to_string(), r#"["DE","AT"]"#);
        assert_eq!(read_countries("").to_string(), "[]");
    }
}

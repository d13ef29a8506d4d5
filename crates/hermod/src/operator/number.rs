//! `hermod number`: numbers that receive MO messages, and the account of each.

use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  hermod number list
  hermod number set +4915799999999 --account shop
  hermod number set 80808 --keyword SHOP --account shop
  hermod number remove 80808 --keyword SHOP

The account that owns a number may also send from it. A number that several accounts share has
keywords: the first word of an MO message selects the account.";

/// Manage numbers that receive MO messages
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct NumberArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: NumberCommand,
}

#[derive(Subcommand)]
enum NumberCommand {
    /// List numbers
    #[command(after_help = "Examples:\n  hermod number list\n  hermod number list --account shop")]
    List {
        /// Only entries of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Assign a number to an account
    #[command(after_help = "Example:\n  hermod number set 80808 --keyword SHOP --account shop")]
    Set {
        #[command(flatten)]
        which: Which,
        /// Account that owns it
        #[arg(long, value_name = "NAME")]
        account: String,
    },
    /// Remove a number
    #[command(after_help = "Example:\n  hermod number remove +4915799999999")]
    Remove {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Args)]
struct Which {
    /// The number: a plus, then the number with its country code, or a short code
    number: String,
    /// First word of the MO messages for this account
    #[arg(long, value_name = "WORD")]
    keyword: Option<String>,
}

impl Which {
    fn name(&self) -> String {
        let keyword = self.keyword.as_ref().map(|keyword| format!("/{keyword}")).unwrap_or_default();
        format!("{}{keyword}", self.number)
    }
}

const COLUMNS: [Column<Value>; 3] = [
    ("number", Left, |entry| text(&entry["number"])),
    ("keyword", Left, |entry| text(&entry["keyword"])),
    ("account", Left, |entry| text(&entry["account"])),
];

impl NumberArgs {
    pub(crate) fn run(self) -> CommandResult {
        let NumberArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            NumberCommand::List { account } => entries::list(client, Kind::Number, account, &COLUMNS).await,
            NumberCommand::Set { which, account } => {
                let fields = EntryFields::default().with("account", Some(account));
                entries::set(client, Kind::Number, &which.name(), fields).await
            }
            NumberCommand::Remove { which } => entries::remove(client, Kind::Number, &which.name()).await,
        })
    }
}

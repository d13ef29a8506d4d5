//! `hermod screen`: screening rules, patterns that hold a message for review.

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
  hermod screen list
  hermod screen set short-links --pattern 'https?://(bit\\.ly|t\\.co)/'
  hermod screen set banks --pattern '^.*bank$' --field sender
  hermod screen remove short-links

A message that matches a pattern is rejected and opens a review case: hermod review list. After
approval, the customer's retry passes.";

/// Manage screening rules, which hold messages for review
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct ScreenArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: ScreenCommand,
}

#[derive(Subcommand)]
enum ScreenCommand {
    /// List screening rules
    #[command(after_help = "Example:\n  hermod screen list")]
    List,
    /// Show all fields of a screening rule
    #[command(after_help = "Example:\n  hermod screen show short-links")]
    Show {
        /// The screening rule
        name: String,
    },
    /// Create or change a screening rule
    #[command(
        after_help = "Example:\n  hermod screen set short-links --pattern 'https?://(bit\\.ly|t\\.co)/'"
    )]
    Set {
        /// Name of the screening rule
        name: String,
        /// Regular expression, case-insensitive
        #[arg(long, value_name = "REGEX")]
        pattern: Option<String>,
        /// Field that is matched
        #[arg(long, value_name = "FIELD", value_parser = ["text", "sender"])]
        field: Option<String>,
        /// Only for this account; '' for all accounts
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Remove a screening rule
    #[command(after_help = "Example:\n  hermod screen remove short-links")]
    Remove {
        /// The screening rule
        name: String,
    },
}

const COLUMNS: [Column<Value>; 4] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("field", Left, |entry| text(&entry["field"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("pattern", Left, |entry| text(&entry["pattern"])),
];

impl ScreenArgs {
    pub(crate) fn run(self) -> CommandResult {
        let ScreenArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            ScreenCommand::Show { name } => entries::show(client, Kind::Screen, &name).await,
            ScreenCommand::List => entries::list(client, Kind::Screen, None, &COLUMNS).await,
            ScreenCommand::Set { name, pattern, field, account } => {
                let fields = EntryFields::default()
                    .with("pattern", pattern)
                    .with("field", field)
                    .with("account", account);
                entries::set(client, Kind::Screen, &name, fields).await
            }
            ScreenCommand::Remove { name } => entries::remove(client, Kind::Screen, &name).await,
        })
    }
}

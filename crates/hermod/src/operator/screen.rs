//! `hermod screen`: patterns that hold a message until somebody has looked at it.

use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;

const EXAMPLES: &str = "\
Examples:
  hermod screen list
  hermod screen set short-links --pattern 'https?://(bit\\.ly|t\\.co)/'
  hermod screen set banks --pattern '^.*bank$' --field sender
  hermod screen remove short-links

A message in which a pattern is found is refused and opens a review case: hermod review list. Once
it is approved, the customer's own retry passes.";

/// Screening rules: what is held until somebody has looked at it
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Screen {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Example:\n  hermod screen list")]
    List,
    /// Show one with every field
    #[command(after_help = "Example:\n  hermod screen show short-links")]
    Show { name: String },
    /// Make one, or change it
    #[command(
        after_help = "Example:\n  hermod screen set short-links --pattern 'https?://(bit\\.ly|t\\.co)/'"
    )]
    Set {
        /// What it is called
        name: String,
        /// A regular expression; case does not matter
        #[arg(long, value_name = "REGEX")]
        pattern: Option<String>,
        /// Where it is looked for
        #[arg(long, value_name = "FIELD", value_parser = ["text", "sender"])]
        field: Option<String>,
        /// For this account only; '' for everyone again
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Take one away
    #[command(after_help = "Example:\n  hermod screen remove short-links")]
    Remove { name: String },
}

const COLUMNS: [Column; 4] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("field", Left, |entry| text(&entry["field"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("pattern", Left, |entry| text(&entry["pattern"])),
];

impl Screen {
    pub(crate) fn run(self) -> Ended {
        let Screen { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::Show { name } => entries::show(desk, Kind::Screen, &name).await,
            What::List => entries::list(desk, Kind::Screen, None, &COLUMNS).await,
            What::Set { name, pattern, field, account } => {
                let fields =
                    Fields::default().with("pattern", pattern).with("field", field).with("account", account);
                entries::set(desk, Kind::Screen, &name, fields).await
            }
            What::Remove { name } => entries::remove(desk, Kind::Screen, &name).await,
        })
    }
}

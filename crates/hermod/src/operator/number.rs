//! `hermod number`: numbers that handsets can write to, and whose they are.

use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;

const EXAMPLES: &str = "\
Examples:
  hermod number list
  hermod number set +4915799999999 --account shop
  hermod number set 80808 --keyword SHOP --account shop
  hermod number remove 80808 --keyword SHOP

Whoever owns a number may also send from it. A number that several accounts share has keywords:
the first word of a message says whom it is for.";

/// Numbers that handsets can write to, and whose they are
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Number {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Examples:\n  hermod number list\n  hermod number list --account shop")]
    List {
        /// Only those of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Give one to an account
    #[command(after_help = "Example:\n  hermod number set 80808 --keyword SHOP --account shop")]
    Set {
        #[command(flatten)]
        which: Which,
        /// Whose it is
        #[arg(long, value_name = "NAME")]
        account: String,
    },
    /// Take one away
    #[command(after_help = "Example:\n  hermod number remove +4915799999999")]
    Remove {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Args)]
struct Which {
    /// + and the number with its country code, or a short code
    number: String,
    /// The first word of the messages that are for this account
    #[arg(long, value_name = "WORD")]
    keyword: Option<String>,
}

impl Which {
    fn name(&self) -> String {
        let keyword = self.keyword.as_ref().map(|keyword| format!("/{keyword}")).unwrap_or_default();
        format!("{}{keyword}", self.number)
    }
}

const COLUMNS: [Column; 3] = [
    ("number", Left, |entry| text(&entry["number"])),
    ("keyword", Left, |entry| text(&entry["keyword"])),
    ("account", Left, |entry| text(&entry["account"])),
];

impl Number {
    pub(crate) fn run(self) -> Ended {
        let Number { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List { account } => entries::list(desk, Kind::Number, account.as_deref(), &COLUMNS).await,
            What::Set { which, account } => {
                let fields = Fields::default().with("account", Some(account));
                entries::set(desk, Kind::Number, &which.name(), fields).await
            }
            What::Remove { which } => entries::remove(desk, Kind::Number, &which.name()).await,
        })
    }
}

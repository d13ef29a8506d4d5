//! `hermod sender`: what may stand as the sender of a message.

use super::desk::Desk;
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  hermod sender list --account shop
  hermod sender approve Shop --account shop
  hermod sender block Bank
  hermod sender remove Shop --account shop

An account sends only from senders that were approved for it. One that is blocked without an
account is blocked for everyone, and so is every name that looks like it. A name that looks like
another account's approved sender (PayPa1, Pay-Pal) is rejected unless you say --look-alike.";

/// Senders: which names and numbers an account may send from
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Sender {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Examples:\n  hermod sender list\n  hermod sender list --account shop")]
    List {
        /// Only those of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Let an account send from it
    #[command(after_help = "Example:\n  hermod sender approve Shop --account shop")]
    Approve {
        sender: String,
        /// Who may
        #[arg(long, value_name = "NAME")]
        account: String,
        /// Approve it although it looks like another account's sender
        #[arg(long)]
        look_alike: bool,
    },
    /// Let an account, or nobody at all, send from it
    #[command(
        after_help = "Examples:\n  hermod sender block Shop --account shop\n  hermod sender block Bank"
    )]
    Block {
        sender: String,
        /// Who may not; without this, everyone
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Forget it: it is neither approved nor blocked
    #[command(
        after_help = "Examples:\n  hermod sender remove Shop --account shop\n  hermod sender remove Bank"
    )]
    Remove {
        sender: String,
        /// Whose; without this, the one for everyone
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
}

const COLUMNS: [Column; 3] = [
    ("sender", Left, |entry| text(&entry["sender"])),
    ("account", Left, |entry| match &entry["account"] {
        Value::String(account) => account.clone(),
        _ => "(everyone)".to_owned(),
    }),
    ("state", Left, |entry| text(&entry["state"])),
];

impl Sender {
    pub(crate) fn run(self) -> Ended {
        let Sender { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List { account } => entries::list(desk, Kind::Sender, account.as_deref(), &COLUMNS).await,
            What::Approve { sender, account, look_alike } => {
                let fields = Fields::default().with("look_alike", look_alike.then_some(true));
                set_state(desk, &sender, Some(&account), "approved", fields).await
            }
            What::Block { sender, account } => {
                set_state(desk, &sender, account.as_deref(), "blocked", Fields::default()).await
            }
            What::Remove { sender, account } => {
                entries::remove(desk, Kind::Sender, &name(&sender, account.as_deref())).await
            }
        })
    }
}

async fn set_state(desk: &Desk, sender: &str, account: Option<&str>, state: &str, fields: Fields) -> Ended {
    entries::set(desk, Kind::Sender, &name(sender, account), fields.with("state", Some(state))).await
}

fn name(sender: &str, account: Option<&str>) -> String {
    format!("{}/{sender}", account.unwrap_or("*"))
}

//! `hermod connection`: a customer's ways in.

use super::desk::Desk;
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;

const EXAMPLES: &str = "\
Examples:
  hermod connection list --account shop
  hermod connection set shop-http --account shop --default-sender Shop --rate 50
  hermod connection set shop-http --allow 192.0.2.0/24 --allow 198.51.100.7
  hermod connection set shop-http --allow ''

An empty text takes a value away. A connection is never removed, because messages refer to it; a
closed one lets nobody in.";

/// Connections: a customer's ways in, with rate and address list
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Connection {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Examples:\n  hermod connection list\n  hermod connection list --account shop")]
    List {
        /// Only those of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Make one, or change it
    #[command(
        after_help = "Examples:\n  hermod connection set shop-http --account shop --default-sender Shop\n  \
                            hermod connection set shop-http --closed true"
    )]
    Set(Set),
}

#[derive(Args)]
struct Set {
    /// What it is called
    name: String,
    /// Whose it is
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Used when a request names no sender
    #[arg(long, value_name = "SENDER")]
    default_sender: Option<String>,
    /// Requests per second, all keys together
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Refuse messages of more parts than this
    #[arg(long, value_name = "N")]
    max_parts: Option<u8>,
    /// An address or network that may call; may be given several times, and replaces the list
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<String>,
    /// Write typographic characters plainly where that saves parts
    #[arg(long, value_name = "BOOL")]
    smart_encoding: Option<bool>,
    /// Let nobody in
    #[arg(long, value_name = "BOOL")]
    closed: Option<bool>,
}

const COLUMNS: [Column; 8] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("default sender", Left, |entry| text(&entry["default_sender"])),
    ("rate", Right, |entry| text(&entry["rate"])),
    ("max parts", Right, |entry| text(&entry["max_parts"])),
    ("allow", Left, |entry| text(&entry["allow"])),
    ("smart", Left, |entry| text(&entry["smart_encoding"])),
    ("closed", Left, |entry| text(&entry["closed"])),
];

impl Connection {
    pub(crate) fn run(self) -> Ended {
        let Connection { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List { account } => {
                entries::list(desk, Kind::Connection, account.as_deref(), &COLUMNS).await
            }
            What::Set(set) => set.run(desk).await,
        })
    }
}

impl Set {
    async fn run(self, desk: &Desk) -> Ended {
        let Set { name, account, default_sender, rate, max_parts, allow, smart_encoding, closed } = self;
        let fields = Fields::default()
            .with("account", account)
            .with("default_sender", default_sender)
            .with("rate", rate)
            .with("max_parts", max_parts)
            .with_list("allow", &allow)
            .with("smart_encoding", smart_encoding)
            .with("closed", closed);
        entries::set(desk, Kind::Connection, &name, fields).await
    }
}

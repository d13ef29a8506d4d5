//! `hermod connection`: a customer's ways in.

use super::desk::Desk;
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::secret_file::first_line;
use crate::show::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod connection list --account shop
  hermod connection set shop-http --account shop --default-sender Shop --rate 50
  hermod connection set shop-http --allow 192.0.2.0/24 --allow 198.51.100.7
  hermod connection set shop-http --allow ''
  hermod connection set shop-smpp --account shop --system-id shop --window 50
  hermod connection set shop-smpp --password-file - --unbind
  hermod connection set shop-smpp --set alphabet=latin1 --set 'bind_types=[\"transceiver\"]'

An empty text takes a value away. A connection is never removed, because messages refer to it; a
closed one lets nobody in. Live binds that a change does not admit any more are unbound at once; a
changed password keeps them unless you say --unbind. Where no password is given for a system_id, one
is made and shown this once.";

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
    /// Show one with every field
    #[command(after_help = "Example:\n  hermod connection show shop-http")]
    Show { name: String },
    /// Make one, or change it
    #[command(
        after_help = "Examples:\n  hermod connection set shop-http --account shop --default-sender Shop\n  \
                            hermod connection set shop-smpp --account shop --system-id shop --password-file secret.txt\n  \
                            hermod connection set shop-http --closed true"
    )]
    Set(Box<Set>),
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
    /// What the customer binds as over SMPP
    #[arg(long, value_name = "ID")]
    system_id: Option<String>,
    /// File with the SMPP password, of 8 characters, in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Binds at a time
    #[arg(long, value_name = "N")]
    max_binds: Option<u32>,
    /// Requests of one bind that may wait for their answers, up to 100
    #[arg(long, value_name = "N")]
    window: Option<u16>,
    /// Refuse binds that are not over TLS
    #[arg(long, value_name = "BOOL")]
    tls_only: Option<bool>,
    /// Unbind its live binds too, so that they have to bind anew
    #[arg(long)]
    unbind: bool,
    /// Any other field; may be given several times
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    others: Vec<String>,
}

const COLUMNS: [Column; 9] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("account", Left, |entry| text(&entry["account"])),
    ("default sender", Left, |entry| text(&entry["default_sender"])),
    ("rate", Right, |entry| text(&entry["rate"])),
    ("max parts", Right, |entry| text(&entry["max_parts"])),
    ("allow", Left, |entry| text(&entry["allow"])),
    ("smart", Left, |entry| text(&entry["smart_encoding"])),
    ("system id", Left, |entry| text(&entry["system_id"])),
    ("closed", Left, |entry| text(&entry["closed"])),
];

impl Connection {
    pub(crate) fn run(self) -> Ended {
        let Connection { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::Show { name } => entries::show(desk, Kind::Connection, &name).await,
            What::List { account } => {
                entries::list(desk, Kind::Connection, account.as_deref(), &COLUMNS).await
            }
            What::Set(set) => set.run(desk).await,
        })
    }
}

impl Set {
    async fn run(self: Box<Set>, desk: &Desk) -> Ended {
        let password = self.password_file.as_deref().map(first_line).transpose()?;
        let fields = Fields::default()
            .with("account", self.account)
            .with("default_sender", self.default_sender)
            .with("rate", self.rate)
            .with("max_parts", self.max_parts)
            .with_list("allow", &self.allow)
            .with("smart_encoding", self.smart_encoding)
            .with("closed", self.closed)
            .with("system_id", self.system_id)
            .with("password", password)
            .with("max_binds", self.max_binds)
            .with("window", self.window)
            .with("tls_only", self.tls_only)
            .with_others(&self.others)?;
        let also = if self.unbind { "?unbind=true" } else { "" };
        entries::set_at(desk, format!("{}{also}", entries::path(Kind::Connection, &self.name)), fields).await
    }
}

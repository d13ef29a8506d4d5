//! `hermod connection`: connections of customers, over HTTP or SMPP.

use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::operator_client::{OperatorClient, with_query};
use super::target::{MissingDir, TargetArgs};
use crate::data_folder::first_line;
use crate::failure::CommandResult;
use crate::output::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use hermod_gateway::views::entries::SaveQuery;
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod connection list --account shop
  hermod connection set shop-http --account shop --default-sender Shop --rate 50
  hermod connection set shop-http --allow 192.0.2.0/24 --allow 198.51.100.7
  hermod connection set shop-http --allow ''
  hermod connection set shop-smpp --account shop --system-id shop --window 50
  hermod connection set shop-smpp --password-file - --unbind
  hermod connection rotate shop-smpp --overlap 24h
  hermod connection set shop-smpp --set alphabet=latin1 --set 'bind_types=[\"transceiver\"]'

An empty text removes a value. A connection cannot be removed, because messages refer to it; a closed
connection rejects all requests and binds. Live binds that the changed connection does not allow are
unbound at once; a changed password keeps them unless --unbind is given. A system_id without a
password gets a generated one, which is printed once.";

/// Manage connections of customers, over HTTP or SMPP
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct ConnectionArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: ConnectionCommand,
}

#[derive(Subcommand)]
enum ConnectionCommand {
    /// List connections
    #[command(after_help = "Examples:\n  hermod connection list\n  hermod connection list --account shop")]
    List {
        /// Only entries of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Show all fields of a connection
    #[command(after_help = "Example:\n  hermod connection show shop-http")]
    Show {
        /// The connection
        name: String,
    },
    /// Create or change a connection
    #[command(
        after_help = "Examples:\n  hermod connection set shop-http --account shop --default-sender Shop\n  \
                            hermod connection set shop-smpp --account shop --system-id shop --password-file secret.txt\n  \
                            hermod connection set shop-http --closed true"
    )]
    Set(Box<Set>),
    /// Replace the SMPP password by a random one, which is printed once; live binds stay
    #[command(
        after_help = "Examples:\n  hermod connection rotate shop-smpp\n  hermod connection rotate shop-smpp --overlap 24h"
    )]
    Rotate {
        /// The connection
        name: String,
        /// How long the old password stays valid, at most 30d [default: it is invalid at once]
        #[arg(long, value_name = "TIME")]
        overlap: Option<String>,
        /// Write the password to this file, readable only by you, instead of printing it
        #[arg(long, value_name = "FILE")]
        secrets_to: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Set {
    /// Name of the connection
    name: String,
    /// Account that owns it
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Sender of requests without one
    #[arg(long, value_name = "SENDER")]
    default_sender: Option<String>,
    /// HTTP requests per second, all keys together
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Largest number of parts of a message
    #[arg(long, value_name = "N")]
    max_parts: Option<u8>,
    /// Address or network on the allow-list; repeatable, replaces the list
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<String>,
    /// Whether to replace typographic characters where that saves parts
    #[arg(long, value_name = "BOOL")]
    smart_encoding: Option<bool>,
    /// Whether the connection is closed
    #[arg(long, value_name = "BOOL")]
    closed: Option<bool>,
    /// system_id of SMPP binds
    #[arg(long, value_name = "ID")]
    system_id: Option<String>,
    /// File with the SMPP password of 8 characters in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Maximum number of binds
    #[arg(long, value_name = "N")]
    max_binds: Option<u32>,
    /// Window of a bind: requests without a response, at most 100
    #[arg(long, value_name = "N")]
    window: Option<u16>,
    /// Whether to reject binds without TLS
    #[arg(long, value_name = "BOOL")]
    tls_only: Option<bool>,
    /// Also unbind all live binds
    #[arg(long)]
    unbind: bool,
    /// Any other field; repeatable
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    others: Vec<String>,
}

const COLUMNS: [Column<Value>; 9] = [
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

impl ConnectionArgs {
    pub(crate) fn run(self) -> CommandResult {
        let ConnectionArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            ConnectionCommand::Show { name } => entries::show(client, Kind::Connection, &name).await,
            ConnectionCommand::List { account } => {
                entries::list(client, Kind::Connection, account, &COLUMNS).await
            }
            ConnectionCommand::Set(set) => set.run(client).await,
            ConnectionCommand::Rotate { name, overlap, secrets_to } => {
                entries::rotate(client, Kind::Connection, &name, overlap, secrets_to.as_deref()).await
            }
        })
    }
}

impl Set {
    async fn run(self: Box<Set>, client: &OperatorClient) -> CommandResult {
        let password = self.password_file.as_deref().map(first_line).transpose()?;
        let fields = EntryFields::default()
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
        let query = SaveQuery { unbind: self.unbind.then_some(true) };
        let path = with_query(&entries::path(Kind::Connection, &self.name), &query);
        entries::set_at(client, path, fields).await
    }
}

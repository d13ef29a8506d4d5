//! `hermod key`: API keys of customers.

use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::target::{MissingDir, TargetArgs};
use crate::failure::{CommandResult, Failure};
use crate::output::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use hermod_gateway::secrets::random_token;
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod key create --connection shop-http
  hermod key list --account shop
  hermod key rotate shop-key-1 --overlap 24h --secrets-to shop-key-1.toml
  hermod key revoke shop-key-1

A secret is printed only when it is generated: only a digest of it is stored. With --overlap the old
secret of a rotated key stays valid for that time, so that the customer can change over without
downtime.";

/// Random characters of a generated key, after the name of the connection.
const KEY_CHARACTERS: usize = 10;

/// Manage API keys of customers
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct KeyArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Subcommand)]
enum KeyCommand {
    /// List API keys, without their secrets
    #[command(after_help = "Examples:\n  hermod key list\n  hermod key list --account shop")]
    List {
        /// Only entries of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Show all fields of an API key
    #[command(after_help = "Example:\n  hermod key show shop-key-1")]
    Show {
        /// The key
        key: String,
    },
    /// Create an API key with a random secret, which is printed once
    #[command(after_help = "Examples:\n  hermod key create --connection shop-http\n  \
                            hermod key create shop-key-2 --connection shop-http --expires-at 2027-12-31")]
    Create {
        /// The key [default: generated from the name of the connection]
        key: Option<String>,
        /// The connection it belongs to
        #[arg(long, value_name = "NAME")]
        connection: String,
        /// Address or network that may use it; repeatable
        #[arg(long, value_name = "NETWORK")]
        allow: Vec<String>,
        /// Day or time at which it expires
        #[arg(long, value_name = "DAY")]
        expires_at: Option<String>,
        /// Where the customer uses it, such as "shop backend"
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
        #[command(flatten)]
        secrets: Secrets,
    },
    /// Replace the secret of a key by a random one, which is printed once
    #[command(
        after_help = "Examples:\n  hermod key rotate shop-key-1\n  hermod key rotate shop-key-1 --overlap 24h"
    )]
    Rotate {
        /// The key
        key: String,
        /// How long the old secret stays valid, at most 30d [default: it is invalid at once]
        #[arg(long, value_name = "TIME")]
        overlap: Option<String>,
        #[command(flatten)]
        secrets: Secrets,
    },
    /// Revoke a key
    #[command(after_help = "Example:\n  hermod key revoke shop-key-1")]
    Revoke {
        /// The key
        key: String,
    },
}

#[derive(Args)]
struct Secrets {
    /// Write the secret to this file, readable only by you, instead of printing it
    #[arg(long, value_name = "FILE")]
    secrets_to: Option<PathBuf>,
}

const COLUMNS: [Column<Value>; 6] = [
    ("key", Left, |entry| text(&entry["key"])),
    ("label", Left, |entry| text(&entry["label"])),
    ("connection", Left, |entry| text(&entry["connection"])),
    ("allow", Left, |entry| text(&entry["allow"])),
    ("expires", Left, |entry| text(&entry["expires_at"])),
    ("revoked", Left, |entry| text(&entry["revoked"])),
];

impl KeyArgs {
    pub(crate) fn run(self) -> CommandResult {
        let KeyArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            KeyCommand::Show { key } => entries::show(client, Kind::Key, &key).await,
            KeyCommand::List { account } => entries::list(client, Kind::Key, account, &COLUMNS).await,
            KeyCommand::Create { key, connection, allow, expires_at, label, secrets } => {
                let key = match key {
                    Some(key) => key,
                    None => {
                        format!("{connection}-{}", random_token(KEY_CHARACTERS).map_err(Failure::failed)?)
                    }
                };
                let fields = EntryFields::default()
                    .with("connection", Some(connection))
                    .with_list("allow", &allow)
                    .with("expires_at", expires_at)
                    .with("label", label);
                entries::create(client, Kind::Key, &key, fields, secrets.secrets_to.as_deref()).await
            }
            KeyCommand::Rotate { key, overlap, secrets } => {
                entries::rotate(client, Kind::Key, &key, overlap, secrets.secrets_to.as_deref()).await
            }
            KeyCommand::Revoke { key } => {
                entries::patch(client, Kind::Key, &key, EntryFields::default().with("revoked", Some(true)))
                    .await
            }
        })
    }
}

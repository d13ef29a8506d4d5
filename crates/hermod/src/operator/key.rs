//! `hermod key`: what customers authenticate with.

use super::changes::SecretsTo;
use super::desk::{Body, Desk};
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::{Ended, Failure};
use crate::show::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use hermod_gateway::secrets::random_token;
use hyper::Method;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hermod key create --connection shop-http
  hermod key list --account shop
  hermod key rotate shop-key-1 --secrets-to shop-key-1.toml
  hermod key revoke shop-key-1

A secret is shown when it is made, and never again: only a digest of it is kept. To change a key
without downtime, create a second one, let the customer move, and revoke the first.";

/// Random characters behind the connection's name in a key that was not named.
const KEY_CHARACTERS: usize = 10;

/// API keys of customers
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Key {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them, without their secrets
    #[command(after_help = "Examples:\n  hermod key list\n  hermod key list --account shop")]
    List {
        /// Only those of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Show one with every field
    #[command(after_help = "Example:\n  hermod key show shop-key-1")]
    Show { key: String },
    /// Make one with a random secret, which is shown once
    #[command(after_help = "Examples:\n  hermod key create --connection shop-http\n  \
                            hermod key create shop-key-2 --connection shop-http --expires-at 2027-12-31")]
    Create {
        /// The key; made up from the connection's name if there is none
        key: Option<String>,
        /// The connection it opens
        #[arg(long, value_name = "NAME")]
        connection: String,
        /// An address or network that may use it; may be given several times
        #[arg(long, value_name = "NETWORK")]
        allow: Vec<String>,
        /// The day or time from which it opens nothing
        #[arg(long, value_name = "DAY")]
        expires_at: Option<String>,
        #[command(flatten)]
        secrets: Secrets,
    },
    /// Give a key a new random secret, which is shown once; the old one opens nothing from then on
    #[command(after_help = "Example:\n  hermod key rotate shop-key-1")]
    Rotate {
        key: String,
        #[command(flatten)]
        secrets: Secrets,
    },
    /// Let a key open nothing any more
    #[command(after_help = "Example:\n  hermod key revoke shop-key-1")]
    Revoke { key: String },
}

#[derive(Args)]
struct Secrets {
    /// Write the new secret to this file, which only you may read, instead of showing it
    #[arg(long, value_name = "FILE")]
    secrets_to: Option<PathBuf>,
}

const COLUMNS: [Column; 5] = [
    ("key", Left, |entry| text(&entry["key"])),
    ("connection", Left, |entry| text(&entry["connection"])),
    ("allow", Left, |entry| text(&entry["allow"])),
    ("expires", Left, |entry| text(&entry["expires_at"])),
    ("revoked", Left, |entry| text(&entry["revoked"])),
];

impl Key {
    pub(crate) fn run(self) -> Ended {
        let Key { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::Show { key } => entries::show(desk, Kind::Key, &key).await,
            What::List { account } => entries::list(desk, Kind::Key, account.as_deref(), &COLUMNS).await,
            What::Create { key, connection, allow, expires_at, secrets } => {
                let key = match key {
                    Some(key) => key,
                    None => {
                        format!("{connection}-{}", random_token(KEY_CHARACTERS).map_err(Failure::failed)?)
                    }
                };
                let fields = Fields::default()
                    .with("connection", Some(connection))
                    .with_list("allow", &allow)
                    .with("expires_at", expires_at);
                entries::create(desk, Kind::Key, &key, fields, secrets.secrets_to.as_deref()).await
            }
            What::Rotate { key, secrets } => rotate(desk, &key, secrets.secrets_to.as_deref()).await,
            What::Revoke { key } => {
                entries::patch(desk, Kind::Key, &key, Fields::default().with("revoked", Some(true))).await
            }
        })
    }
}

async fn rotate(desk: &Desk, key: &str, to: Option<&Path>) -> Ended {
    let to = SecretsTo::prepare(to)?;
    let path = format!("{}/rotate", entries::path(Kind::Key, key));
    entries::change_with_secrets(desk, Method::POST, &path, Body::None, to).await
}

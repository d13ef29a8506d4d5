//! `hermod key`: the verbs for API keys of customers that do more than set a field.

use super::entries;
use super::fields::{AssignmentParser, EntryFields};
use super::operator_client::OperatorClient;
use super::rotate::RotateArgs;
use super::target::ClientCommand;
use crate::failure::{CommandResult, Failure};
use clap::{Args, Subcommand};
use hermod_gateway::secrets::random_token;
use hermod_operator::kind::Kind;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
Examples:
  hermod key create --connection shop-http
  hermod key add shop-key-2 connection=shop-http expires_at=2027-12-31
  hermod key list --account shop
  hermod key rotate shop-key-1 --overlap 24h --secrets-to shop-key-1.toml
  hermod key revoke shop-key-1

A secret is printed only when it is generated: only a digest of it is stored. With --overlap the old
secret of a rotated key stays valid for that time, so that the customer can change over without
downtime.";

/// Random characters of a generated key, after the name of the connection.
const KEY_CHARACTERS: usize = 10;

#[derive(Subcommand)]
pub(super) enum KeyVerb {
    /// Create an API key with a generated name and a random secret, which is printed once
    #[command(after_help = "Examples:\n  hermod key create --connection shop-http\n  \
                            hermod key create --connection shop-http label='shop backend' expires_at=2027-12-31")]
    Create(CreateArgs),
    /// Replace the secret of a key by a random one, which is printed once
    #[command(
        after_help = "Examples:\n  hermod key rotate shop-key-1\n  hermod key rotate shop-key-1 --overlap 24h"
    )]
    Rotate(RotateArgs),
}

#[derive(Args)]
pub(super) struct CreateArgs {
    /// The connection it belongs to; its name is the first part of the key
    #[arg(long, value_name = "NAME")]
    connection: String,
    /// Other fields; hermod key set --help lists them
    #[arg(value_name = "FIELD=VALUE", value_parser = AssignmentParser(Kind::Key), hide_possible_values = true)]
    fields: Vec<String>,
    /// Write the secret to this file, readable only by you, instead of printing it
    #[arg(long, value_name = "FILE")]
    secrets_to: Option<PathBuf>,
}

impl ClientCommand for KeyVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            KeyVerb::Create(create) => create.run(client).await,
            KeyVerb::Rotate(rotate) => rotate.run(client, Kind::Key).await,
        }
    }
}

impl CreateArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let CreateArgs { connection, fields, secrets_to } = self;
        let key = format!("{connection}-{}", random_token(KEY_CHARACTERS).map_err(Failure::failed)?);
        let fields = EntryFields::parse(Kind::Key, &fields)?.with("connection", connection);
        entries::create(client, Kind::Key, &key, fields, secrets_to.as_deref()).await
    }
}

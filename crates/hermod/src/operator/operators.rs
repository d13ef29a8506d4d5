//! `hermod operator`: people and programs that use the operator API, each with a token of its own.

use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::target::{MissingDir, TargetArgs};
use crate::failure::CommandResult;
use crate::output::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod operator add ann
  hermod operator list
  hermod operator revoke ann

Each operator has a token with full access to the operator API, and the audit log says who made a change: operator ann. A
token is printed only when it is generated: only a digest of it is stored. A revoked token is rejected at once. The token in
the data folder stays valid; its changes are by operator.";

/// Manage operators with tokens of their own
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct OperatorArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: OperatorCommand,
}

#[derive(Subcommand)]
enum OperatorCommand {
    /// Add an operator with a random token, which is printed once
    #[command(after_help = "Examples:\n  hermod operator add ann\n  \
                            hermod operator add ci --secrets-to ci.toml")]
    Add {
        /// The name in the audit log
        name: String,
        /// Write the token to this file, readable only by you, instead of printing it
        #[arg(long, value_name = "FILE")]
        secrets_to: Option<PathBuf>,
    },
    /// List operators, without their tokens
    #[command(after_help = "Example:\n  hermod operator list")]
    List,
    /// Remove an operator; the token is rejected at once
    #[command(after_help = "Example:\n  hermod operator revoke ann")]
    Revoke {
        /// The name
        name: String,
    },
}

const COLUMNS: [Column<Value>; 1] = [("name", Left, |entry| text(&entry["name"]))];

impl OperatorArgs {
    pub(crate) fn run(self) -> CommandResult {
        let OperatorArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            OperatorCommand::Add { name, secrets_to } => {
                let fields = EntryFields::default().with("name", Some(name.clone()));
                entries::create(client, Kind::Operator, &name, fields, secrets_to.as_deref()).await
            }
            OperatorCommand::List => entries::list(client, Kind::Operator, None, &COLUMNS).await,
            OperatorCommand::Revoke { name } => entries::remove(client, Kind::Operator, &name).await,
        })
    }
}

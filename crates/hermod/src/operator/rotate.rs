//! `hermod key rotate` and `hermod connection rotate`: replace a secret by a random one.

use super::changes::SecretsTo;
use super::entries;
use super::operator_client::{OperatorClient, RequestBody, with_query};
use crate::failure::CommandResult;
use clap::Args;
use hermod_operator::kind::Kind;
use hermod_operator::rotation::RotateQuery;
use hyper::Method;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct RotateArgs {
    /// Name of the entry
    name: String,
    /// How long the old secret stays valid, at most 30d [default: it is invalid at once]
    #[arg(long, value_name = "TIME")]
    overlap: Option<String>,
    /// Write the secret to this file, readable only by you, instead of printing it
    #[arg(long, value_name = "FILE")]
    secrets_to: Option<PathBuf>,
}

impl RotateArgs {
    pub(super) async fn run(self, client: &OperatorClient, kind: Kind) -> CommandResult {
        let RotateArgs { name, overlap, secrets_to } = self;
        let to = SecretsTo::prepare(secrets_to.as_deref())?;
        let path = with_query(&format!("{}/rotate", entries::path(kind, &name)), &RotateQuery { overlap });
        entries::change_with_secrets(client, Method::POST, &path, RequestBody::None, to).await
    }
}

//! `hermod apply`: applies a provision file to a gateway.

use super::changes::SecretsTo;
use super::entries;
use super::operator_client::{RequestBody, with_query};
use super::target::{MissingDir, TargetArgs};
use crate::failure::{CommandResult, Failure};
use crate::provision_file;
use clap::Args;
use hermod_gateway::config::Source;
use hermod_operator::entry::views::ApplyQuery;
use hermod_operator::setup::file_entries::WantedSetup;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hermod config provision > provision.toml
  hermod apply provision.toml --dry-run
  hermod apply provision.toml
  hermod apply provision.toml --create
  hermod apply - < provision.toml
  hermod apply provision.toml --config /etc/hermod/hermod.toml
  hermod apply provision.toml --secrets-to secrets.toml

Entries are identified by name. New entries are created. Of existing entries, only the fields in the
file are changed. Nothing is removed unless the file says so. A field that was changed by command or
API since the file was last applied is kept, unless the file has a new value for it; --force
overwrites it. The file is applied completely or not at all. A key without a secret gets a random
one, which is printed once.

  + created   ~ changed, field by field   - removed   = unchanged   ! not applied

Exit codes: 0 applied; 1 failed; 2 the file is invalid, and the error says where.";

/// Apply a provision file: carriers, routes, prices, accounts, rules
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApplyArgs {
    /// The provision file (TOML), or - for standard input; `hermod config provision` prints one
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Create the data folder if it does not exist
    #[arg(long, conflicts_with = "dry_run")]
    create: bool,
    /// Also overwrite fields that were changed since the file was last applied
    #[arg(long)]
    force: bool,
    /// Write generated secrets to this file, readable only by you, instead of printing them
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    secrets_to: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArgs,
}

impl ApplyArgs {
    pub(crate) fn run(self) -> CommandResult {
        let ApplyArgs { file, dry_run, create, force, secrets_to, target } = self;
        // Errors in the file are reported with their line before a gateway is opened.
        let source = if file == Path::new("-") { Source::read_stdin() } else { Source::read(&file) };
        let source = source.map_err(Failure::usage)?;
        let wanted = WantedSetup::parse(&source).map_err(Failure::usage)?;
        if let Some(warning) = provision_file::exposure(&file, &wanted) {
            eprintln!("hermod: {warning}");
        }
        let missing = match (dry_run, create) {
            (true, _) => MissingDir::UseTemporary,
            (false, true) => MissingDir::Create,
            (false, false) => MissingDir::Refuse,
        };
        target.run(missing, async move |client| {
            let to = SecretsTo::prepare(secrets_to.as_deref())?;
            let path = with_query("/apply", &ApplyQuery { dry_run, force });
            let body = RequestBody::Toml(source.text.clone());
            entries::change_by_file(client, &path, body, &source.path, to).await
        })
    }
}

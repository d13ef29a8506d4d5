//! `hermod KIND export` and `import`: entries as CSV files.

use super::changes::SecretsTo;
use super::entries;
use super::operator_client::{OperatorClient, RequestBody, with_query};
use crate::failure::CommandResult;
use crate::input_file::read_file;
use clap::Args;
use hermod_operator::entry::views::{EntriesOfAccount, ImportQuery};
use hermod_operator::http::FILE_BYTES_MAX;
use hermod_operator::kind::Kind;
use std::path::PathBuf;

pub(super) const EXPORT_NOTE: &str = "\
A list has commas, a table its values with colons, or both are written as in TOML. A text that a spreadsheet would run as a
formula, or a number with a plus, has an apostrophe in front; import takes it away.";

pub(super) const IMPORT_NOTE: &str = "\
The file is UTF-8 with commas or semicolons, as spreadsheets write it; its first line names the columns. Fields without a column keep
their value. An empty cell removes an optional field, and leaves any other as it is. What is exported is imported without a change.
In a spreadsheet, format prefixes, networks and numbers as text.

Unlike apply, an import sets what the file says, like hermod KIND set for each line: there is no --force. The next hermod apply of a
provision file keeps what was imported, unless that file changed meanwhile.";

#[derive(Args)]
pub(super) struct ImportArgs {
    /// The CSV file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Write generated secrets to this file, readable only by you, instead of printing them
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    secrets_to: Option<PathBuf>,
}

pub(super) async fn export(client: &OperatorClient, kind: Kind, account: Option<String>) -> CommandResult {
    client.print_file(&with_query(&path(kind), &EntriesOfAccount { account })).await
}

impl ImportArgs {
    pub(super) async fn run(self, client: &OperatorClient, kind: Kind) -> CommandResult {
        let ImportArgs { file, dry_run, secrets_to } = self;
        let body = RequestBody::Csv(read_file(&file, FILE_BYTES_MAX)?);
        let to = SecretsTo::prepare(secrets_to.as_deref())?;
        let path = with_query(&path(kind), &ImportQuery { dry_run });
        entries::change_by_file(client, &path, body, &file, to).await
    }
}

fn path(kind: Kind) -> String {
    format!("/{}.csv", kind.path())
}

//! `hermod opt-out export` and `import`: opt-outs as CSV files.

use super::operator_client::{FILE_TIMEOUT, OperatorClient, RequestBody, with_query};
use super::target::ClientCommand;
use crate::failure::{CommandResult, Failure};
use crate::input_file::read_file;
use crate::output;
use clap::Subcommand;
use hermod_operator::csv_table::{CsvPiece, cut};
use hermod_operator::opt_out_file::{
    IMPORT_ROWS_MAX, OptOutsFileQuery, OptOutsImportQuery, OptOutsImportView,
};
use hyper::Method;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hermod opt-out export > opt-outs.csv
  hermod opt-out export --account shop > shop.csv
  hermod opt-out import list.csv --account shop --dry-run
  hermod opt-out import opt-outs.csv

hermod account opt-outs NAME lists, adds and lifts single ones.";
const IMPORT_NOTE: &str = "\
Examples:
  hermod opt-out import list.csv --account shop --dry-run
  hermod opt-out import opt-outs.csv

Columns: number (with or without its plus), account (or --account), since and how; source is ignored, it becomes import. The whole
file is checked before anything is stored. Numbers that have opted out stay as they are, so that an import can be repeated, also
after it was interrupted.";

/// The largest file that is imported.
const FILE_BYTES_MAX: usize = 256 << 20;

/// Export and import opt-outs as CSV files
#[derive(Subcommand)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) enum OptOutVerb {
    /// Print opt-outs with account, number, since, source and how
    #[command(after_help = "Examples:\n  hermod opt-out export > opt-outs.csv\n  \
                            hermod opt-out export --account shop > shop.csv")]
    Export {
        /// Only opt-outs of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Opt out the numbers of a file; nothing is sent to them
    #[command(after_help = IMPORT_NOTE)]
    Import {
        /// The CSV file, or - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The account of rows without one
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Only check the file and count
        #[arg(long)]
        dry_run: bool,
    },
}

impl ClientCommand for OptOutVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            OptOutVerb::Export { account } => {
                client.print_file(&with_query("/opt-outs.csv", &OptOutsFileQuery { account })).await
            }
            OptOutVerb::Import { file, account, dry_run } => {
                import(client, &file, account.as_ref(), dry_run).await
            }
        }
    }
}

/// Checks all pieces of a file before it stores the first.
async fn import(
    client: &OperatorClient,
    file: &Path,
    account: Option<&String>,
    dry_run: bool,
) -> CommandResult {
    let content = read_file(file, FILE_BYTES_MAX)?;
    let pieces = cut(&content, IMPORT_ROWS_MAX);
    let pieces = pieces.map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    let mut sum = send_all(client, file, &pieces, account, true).await?;
    if !dry_run {
        sum = send_all(client, file, &pieces, account, false).await?;
        client.note_write();
    }
    client.print_view(&sum, &sum_text(&sum))
}

async fn send_all(
    client: &OperatorClient,
    file: &Path,
    pieces: &[CsvPiece],
    account: Option<&String>,
    dry_run: bool,
) -> Result<OptOutsImportView, Failure> {
    let all: usize = pieces.iter().map(|piece| piece.rows).sum();
    let mut sum = OptOutsImportView { dry_run, ..OptOutsImportView::default() };
    for CsvPiece { text, lines_before, .. } in pieces {
        let query = OptOutsImportQuery { account: account.cloned(), dry_run, lines_before: *lines_before };
        let path = with_query("/opt-outs.csv", &query);
        let body = RequestBody::Csv(text.clone().into());
        let response = client.call_with_timeout(Method::POST, &path, &body, FILE_TIMEOUT).await;
        let response = client.accepted_file(response.map_err(Failure::failed)?, file)?;
        let view: OptOutsImportView = response.read_as().map_err(Failure::failed)?;
        sum.rows += view.rows;
        sum.created += view.created;
        sum.same += view.same;
        let done = if dry_run { "checked" } else { "stored" };
        output::progress(&format!("{done} {} of {all} rows", sum.rows));
    }
    output::progress_done();
    Ok(sum)
}

fn sum_text(OptOutsImportView { dry_run, rows, created, same }: &OptOutsImportView) -> String {
    match dry_run {
        true => format!(
            "{created} of {rows} numbers would be opted out; {same} are already.\nThis was a dry run: nothing was changed.\n"
        ),
        false => format!("Opted out {created} of {rows} numbers; {same} were already.\n"),
    }
}

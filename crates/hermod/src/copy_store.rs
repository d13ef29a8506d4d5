//! `hermod copy-store`: copies the embedded store of a data folder to PostgreSQL, or back.

use crate::data_folder::{self, DataFolder};
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{DataSection, StoreAddress};
use hermod_gateway::running::{CopyReport, CopyStep, Server, Store};
use hermod_gateway::secrets::{Pepper, StoreContents};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  To PostgreSQL: stop the gateway, write the address of the server into the settings ([data] store), copy, and start:
    hermod copy-store --config hermod.toml
    hermod serve --config hermod.toml

  To PostgreSQL, before the settings are changed:
    hermod copy-store --data-dir hermod-data --to postgres://hermod@db.example/sms

  Back to the embedded store of one node: stop all nodes, copy, remove [data] store and [node] from the settings, and start:
    hermod copy-store --config hermod.toml --to embedded
    hermod serve --config hermod.toml

  Back, after the settings were changed, or into another folder:
    hermod copy-store --data-dir hermod-data --from postgres://hermod@db.example/sms

No gateway may run on either side, and none can start while the copy is made. To PostgreSQL the schema must be empty; it is
created if it does not exist. Back, the data folder must have the pepper of the store (pepper.key) and no embedded store: move
hermod.db, hermod.mark and journal-* out of it. A copy that was stopped or killed continues where it ended if the command is run
again. At the end the number of rows of each table, the balances and an audit of both sides are compared; only then a gateway can
start on the copy.

The source is not changed. Pepper and operator token remain in use. To PostgreSQL, the record stays valid; back, the copy begins a
history of its own, and the record is made again from it. Once the gateway runs on the copy, do not start another one on the old
store: move hermod.db away, or drop the schema.

An address with a password on the command line is visible to other users of the machine: prefer the settings file.";

/// Copy the store of a data folder to PostgreSQL, or back
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CopyStoreArgs {
    /// Store to copy to: postgres://user:password@host:5432/database, or embedded [default: the server of the settings]
    #[arg(long, value_name = "STORE")]
    to: Option<String>,
    /// Server to copy from, to the embedded store [default with --to embedded: the server of the settings]
    #[arg(long, value_name = "ADDRESS")]
    from: Option<String>,
    #[command(flatten)]
    folder: DataFolder,
}

/// The way of a copy. The other side is the data folder.
enum Direction {
    ToServer,
    ToFolder,
}

impl CopyStoreArgs {
    pub(crate) fn run(self) -> CommandResult {
        let CopyStoreArgs { to, from, folder } = self;
        let data = folder.settings()?.data;
        let (direction, server) = sides(to.as_deref(), from.as_deref(), &data.store)?;
        let folder = DataSection { store: StoreAddress::Embedded, ..data };
        let contents = match direction {
            Direction::ToServer if !data_folder::is_data_folder(&folder)? => {
                return Err(data_folder::missing(&folder.folder));
            }
            Direction::ToServer => StoreContents::InUse,
            Direction::ToFolder => StoreContents::OnServer,
        };
        // Both sides belong to this pepper: without it no secret in the store works.
        let pepper = Pepper::load(&folder, contents).map_err(Failure::failed)?.fingerprint();
        let clock = Clock::real();
        let began = clock.moment();
        let so_far = || clock.moment().since(began);
        let on_step = |step: CopyStep<'_>| output::progress(&progress_line(step, so_far()));
        let (report, source, next) = match direction {
            Direction::ToServer => {
                let source = folder.folder.display().to_string();
                (Store::copy_to_server(&folder.folder, &server, pepper, on_step), source, NEXT_ON_SERVER)
            }
            Direction::ToFolder => (
                Store::copy_to_folder(&server, &folder.folder, pepper, on_step),
                server.name(),
                NEXT_IN_FOLDER,
            ),
        };
        output::progress_done();
        output::print(&(report_text(&report.map_err(Failure::failed)?, &source, so_far()) + next))
    }
}

const NEXT_ON_SERVER: &str = "\
Next: write the address into [data] store of the settings, unless it is there, and start the gateway.
Then move hermod.db out of the folder, so that no gateway starts on the old store.
";
const NEXT_IN_FOLDER: &str = "\
Next: remove [data] store and the section [node] from the settings, and start the gateway. It makes the record again.
Then drop the schema on the server, or keep all nodes from starting on it.
";

/// Returns which way to copy, and the server that is the one side.
fn sides(
    to: Option<&str>,
    from: Option<&str>,
    settings: &StoreAddress,
) -> Result<(Direction, Server), Failure> {
    let (direction, address) = match (to.map(StoreAddress::parse), from.map(StoreAddress::parse)) {
        (Some(Some(StoreAddress::Embedded)), None) => (Direction::ToFolder, Some(settings.clone())),
        (None | Some(Some(StoreAddress::Embedded)), Some(from)) => (Direction::ToFolder, from),
        (Some(to), None) => (Direction::ToServer, to),
        (None, None) => (Direction::ToServer, Some(settings.clone())),
        (Some(_), Some(_)) => {
            return Err(Failure::usage(
                "one side of a copy is the embedded store of the data folder: give --to ADDRESS or --from ADDRESS, not both",
            ));
        }
    };
    let server = address.map(|address| address.server()).transpose().map_err(Failure::usage)?;
    let (preposition, option) = match direction {
        Direction::ToServer => ("to", "--to"),
        Direction::ToFolder => ("from", "--from"),
    };
    let server = server.flatten().ok_or_else(|| {
        Failure::usage(format!(
            "no server to copy {preposition}: give its address with {option}, or write it into [data] store of the settings, as \
             postgres://user:password@host:5432/database"
        ))
    })?;
    Ok((direction, server))
}

fn progress_line(step: CopyStep<'_>, so_far: Duration) -> String {
    match step {
        CopyStep::Rows { table, copied, total } => {
            let percent = copied * 100 / total.max(1);
            format!(
                "copy: {copied} of {total} rows ({percent} %), table {table}, {} s so far ",
                so_far.as_secs()
            )
        }
        CopyStep::Comparing => format!("copy: comparing both sides, {} s so far ", so_far.as_secs()),
    }
}

fn report_text(report: &CopyReport, source: &str, took: Duration) -> String {
    let CopyReport { place, tables, rows, copied_before, audit } = report;
    let continued = match copied_before {
        0 => String::new(),
        before => format!(" Continued a copy that had {before} of them."),
    };
    let audited = match audit.violations.len() {
        0 => "no violations".to_owned(),
        several => format!("{several} violations, which the source has too (hermod audit lists them)"),
    };
    format!(
        "Copied {source} to {place}: {rows} rows of {tables} tables in {}.{} s.{continued}\n\
         Rows, balances and the audits of both sides are equal (messages: {}, accounts: {}): {audited}.\n",
        took.as_secs(),
        took.subsec_millis() / 100,
        audit.messages,
        audit.accounts
    )
}

//! `hermod copy-store`: copies the embedded store of a data folder to PostgreSQL.

use crate::data_folder::{self, DataFolder};
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Data, StoreAddress};
use hermod_gateway::running::{CopyReport, CopyStep, Server, Store};
use hermod_gateway::secrets::{Pepper, StoreContents};
use std::path::Path;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  Stop the gateway, write the address of the server into the settings ([data] store), copy, and start:
    hermod copy-store --config hermod.toml
    hermod serve --config hermod.toml

  Copy before the settings are changed:
    hermod copy-store --data-dir hermod-data --to postgres://hermod@db.example/sms

The schema must be empty; it is created if it does not exist. No gateway may run on the data folder or on the schema. A copy
that was stopped or killed continues where it ended if the command is run again. At the end the number of rows of each table,
the balances and an audit of both sides are compared; only then a gateway can start on the copy.

The data folder is not changed. Its record, pepper and operator token remain in use. Once the gateway runs on PostgreSQL, do
not start another one on the old store: move hermod.db away.

An address with a password on the command line is visible to other users of the machine: prefer the settings file.";

/// Copy the store of a data folder to PostgreSQL
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CopyStore {
    /// Address of the server: postgres://user:password@host:5432/database, by default that of the settings
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    #[command(flatten)]
    folder: DataFolder,
}

impl CopyStore {
    pub(crate) fn run(self) -> CommandResult {
        let CopyStore { to, folder } = self;
        let data = folder.settings()?.data;
        let server = target(to.as_deref(), &data)?;
        let source = Data { store: StoreAddress::Embedded, ..data };
        if !data_folder::is_data_folder(&source)? {
            return Err(data_folder::missing(&source.folder));
        }
        // The copy belongs to this pepper: without it no secret in the store works.
        let pepper = Pepper::load(&source, StoreContents::InUse).map_err(Failure::failed)?;
        let clock = Clock::real();
        let began = clock.moment();
        let so_far = || clock.moment().since(began);
        let report = Store::copy_to_server(&source.folder, &server, pepper.fingerprint(), |step| {
            output::progress(&progress_line(step, so_far()));
        });
        output::progress_done();
        output::print(&report_text(&report.map_err(Failure::failed)?, &source.folder, so_far()))
    }
}

/// Returns the server to copy to.
fn target(to: Option<&str>, data: &Data) -> Result<Server, Failure> {
    let address = match to {
        Some(address) => StoreAddress::parse(address),
        None => Some(data.store.clone()),
    };
    let server = address.map(|address| address.server()).transpose().map_err(Failure::usage)?;
    server.flatten().ok_or_else(|| {
        Failure::usage(
            "no server to copy to: give its address with --to, or write it into [data] store of the settings, as \
             postgres://user:password@host:5432/database",
        )
    })
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

fn report_text(report: &CopyReport, folder: &Path, took: Duration) -> String {
    let CopyReport { place, tables, rows, copied_before, audit } = report;
    let continued = match copied_before {
        0 => String::new(),
        before => format!(" Continued a copy that had {before} of them."),
    };
    let audited = match audit.violations.len() {
        0 => "no violations".to_owned(),
        several => format!("{several} violations, which the data folder has too (hermod audit lists them)"),
    };
    format!(
        "Copied {} to {place}: {rows} rows of {tables} tables in {}.{} s.{continued}\n\
         Rows, balances and the audits of both sides are equal (messages: {}, accounts: {}): {audited}.\n\
         Next: write the address into [data] store of the settings, unless it is there, and start the gateway.\n\
         Then move hermod.db out of the folder, so that no gateway starts on the old store.\n",
        folder.display(),
        took.as_secs(),
        took.subsec_millis() / 100,
        audit.messages,
        audit.accounts
    )
}

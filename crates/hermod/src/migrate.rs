//! `hermod migrate`: migrates the schema of a store on PostgreSQL.

use crate::data_folder::DataFolder;
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Args;
use hermod_gateway::running::{MigrationKind, MigrationStep, SchemaStatus, Store};

const EXAMPLES: &str = "\
Examples:
  Show the version of the schema and what is left to migrate:
    hermod migrate --status --config hermod.toml

  Upgrade several gateways on one store: add what the new release needs, then restart them one by one:
    hermod migrate --config hermod.toml

  Afterwards remove what only earlier releases needed:
    hermod migrate --contract --dry-run --config hermod.toml
    hermod migrate --contract --config hermod.toml

A migration is an expand or a contract. An expand only adds, and earlier releases keep working beside it: a starting gateway
applies it by itself, so that this command is needed only to do it earlier. A contract removes what earlier releases use. It
runs by --contract only, and is rejected while a gateway is connected that does not know it.

All migrations of one run are one transaction. There is no way back but a copy of the database: make one before.

The embedded store of a data folder migrates itself at the start of the gateway.";

/// Migrate the schema of a store on PostgreSQL
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MigrateArgs {
    /// Show the version of the schema and what is left to migrate, and change nothing
    #[arg(long, conflicts_with_all = ["contract", "dry_run"])]
    status: bool,
    /// Also remove what only earlier releases need, once no gateway of them runs
    #[arg(long)]
    contract: bool,
    /// Show the migrations that would run, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    folder: DataFolder,
}

impl MigrateArgs {
    pub(crate) fn run(self) -> CommandResult {
        let MigrateArgs { status, contract, dry_run, folder } = self;
        let Some(server) = folder.settings()?.data.store.server().map_err(Failure::failed)? else {
            return output::print(
                "The store is embedded in the data folder: the gateway migrates it at its start. Nothing was done.\n",
            );
        };
        let kinds = if contract { MigrationKind::Contract } else { MigrationKind::Expand };
        let before = Store::schema_status(&server).map_err(Failure::failed)?;
        if status {
            return output::print(&status_text(&before));
        }
        let runnable = before.runnable(kinds);
        let mut text = list("To run:\n", runnable);
        if dry_run {
            text.push_str(if runnable.is_empty() {
                "Nothing to do.\n"
            } else {
                "Nothing was changed (--dry-run).\n"
            });
            text.push_str(&left_over(&before, runnable.len()));
            return output::print(&text);
        }
        output::print(&text)?;
        let applied = Store::migrate_server(&server, kinds).map_err(Failure::failed)?;
        let after = Store::schema_status(&server).map_err(Failure::failed)?;
        let done = match applied.len() {
            0 => "Nothing to do".to_owned(),
            1 => "Ran 1 migration".to_owned(),
            several => format!("Ran {several} migrations"),
        };
        let place = &after.place;
        output::print(&format!("{done}: {place} has version {}.\n{}", after.found, left_over(&after, 0)))
    }
}

fn status_text(status: &SchemaStatus) -> String {
    let SchemaStatus { place, found, known, compatible_from, pending } = status;
    let found = match found {
        0 => "0 (no tables yet)".to_owned(),
        found => found.to_string(),
    };
    let fields = output::fields(&[
        ("schema version", found),
        ("known version", format!("{known} (this release)")),
        ("usable by", format!("releases that know version {compatible_from} or later")),
    ]);
    let pending =
        if pending.is_empty() { "Nothing to migrate.\n".to_owned() } else { list("Pending:\n", pending) };
    format!("{place}\n{fields}{pending}")
}

/// Returns a line for each migration; nothing without one.
fn list(heading: &str, steps: &[MigrationStep]) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let line =
        |MigrationStep { number, kind, what }: &MigrationStep| format!("  {number}  {kind:8}  {what}\n");
    heading.to_owned() + &steps.iter().map(line).collect::<String>()
}

/// Returns what to do about the migrations behind the first ones.
fn left_over(status: &SchemaStatus, first: usize) -> String {
    let left = &status.pending[first..];
    if left.is_empty() {
        return String::new();
    }
    list("Left for hermod migrate --contract, once no gateway of an earlier release runs:\n", left)
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;

//! `hermod journal salvage`: continues a data folder whose journal is damaged.

use crate::data_folder::DataFolder;
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::{Args, Subcommand};
use hermod_gateway::running::{Salvage, Store};

const EXAMPLES: &str = "\
Examples:
  The gateway does not start, because the journal is damaged. See what is left:
    hermod journal salvage --dry-run --data-dir hermod-data

  Continue without the damaged batches:
    hermod journal salvage --data-dir hermod-data";

const SALVAGE_EXAMPLES: &str = "\
Examples:
  hermod journal salvage --dry-run
  hermod journal salvage --config /etc/hermod/hermod.toml

A batch is what the gateway made durable at a time: some messages with their charges, responses of carriers, reports. Batches
before the damage are applied to the database. Those after it were acknowledged and are lost: messages in them are unknown and
not charged, although carriers may have them. Compare with the records of your customers and carriers, or restore a backup
instead.

The files of the journal are moved to a folder salvaged-NUMBER in the data folder. They contain texts of messages: delete them
when they are not needed any more.";

/// Work on the journal of a data folder
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct JournalArgs {
    #[command(subcommand)]
    command: JournalCommand,
}

#[derive(Subcommand)]
enum JournalCommand {
    Salvage(SalvageJournal),
}

/// Keep every intact batch before the damage, and continue without those after it
#[derive(Args)]
#[command(after_help = SALVAGE_EXAMPLES)]
struct SalvageJournal {
    /// Say what would be kept and lost, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    folder: DataFolder,
}

impl JournalArgs {
    pub(crate) fn run(self) -> CommandResult {
        let JournalCommand::Salvage(SalvageJournal { dry_run, folder }) = self.command;
        if folder.settings()?.data.store.server().map_err(Failure::failed)?.is_some() {
            return Err(Failure::usage("the store is on PostgreSQL, which has no journal of Hermod"));
        }
        let salvage = Store::salvage_journal(&folder.existing()?, dry_run).map_err(Failure::failed)?;
        output::print(&described(&salvage))
    }
}

fn described(Salvage { damage, kept, last, lost, moved_to }: &Salvage) -> String {
    if *lost == 0 && damage.is_none() {
        return format!("The journal is intact up to batch {last}. Nothing was done: start the gateway.\n");
    }
    let found = damage.as_ref().map_or_else(String::new, |damage| format!("{damage}.\n"));
    match moved_to {
        None => format!(
            "{found}{kept} batches of the journal would be kept, up to batch {last}; {lost} acknowledged batches after it would be lost. Nothing was changed (--dry-run).\n"
        ),
        Some(folder) => format!(
            "{found}Kept {kept} batches of the journal, up to batch {last}. {lost} acknowledged batches after it are lost.\nThe files of the journal are in {}. Run hermod audit, then start the gateway.\n",
            folder.display()
        ),
    }
}

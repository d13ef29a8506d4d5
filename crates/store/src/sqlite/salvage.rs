//! Continues a data folder whose journal is damaged: keeps every intact batch before the damage, and moves the files of the journal
//! away. The batches after it were acknowledged and are lost.

use crate::data_folder::lock::FolderLock;
use crate::error::StoreError;
use crate::journal::{self, OsFiles};
use crate::sqlite::commit_mark::CommitMark;
use crate::sqlite::history::{self, OldFiles};
use crate::sqlite::recovery::{open_with_reserve, sync_log};
use crate::sqlite::replaying::JournalReplay;
use crate::sqlite::reserve::Reserve;
use crate::sqlite::schema;
use std::path::{Path, PathBuf};

/// What a salvage of a damaged journal keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// What is damaged; none if only the end of the journal is missing, or nothing.
    pub damage: Option<String>,
    /// Batches that are applied to the database.
    pub kept: u64,
    /// The last batch that is kept.
    pub last: u64,
    /// Acknowledged batches after it, which are lost. If there are none and no damage, nothing is done.
    pub lost: u64,
    /// Where the files of the journal are now, if it was done.
    pub moved_to: Option<PathBuf>,
}

/// Applies the intact batches before the damage, and begins a new history. With `is_dry_run`, says what it would do and changes
/// nothing. Does nothing if the journal is intact. On a full disk it uses the reserve. Fails with [`StoreError::InUse`] if a process has the folder open, and if the
/// journal is of another history.
pub(crate) fn salvage_journal(folder: &Path, is_dry_run: bool) -> Result<Salvage, StoreError> {
    // Fails if there is no database, or one of another release. On a full disk the reserve is needed to open it.
    match schema::open_existing(folder).map_err(StoreError::from) {
        Err(error) if !error.is_disk_full() => return Err(error),
        _ => {}
    }
    let lock = FolderLock::take(folder)?;
    let reserve = (!is_dry_run).then(|| Reserve::new(folder));
    let connection = open_with_reserve(folder, reserve.as_ref())?;
    let position = schema::journal_position(&connection)?;
    let recovered = journal::open_before_damage(OsFiles, folder, position)?;
    let last = recovered.last_sequence();
    let acknowledged = CommitMark::read_of(folder, position.history)?.unwrap_or(0);
    let damaged = recovered.damage().map_or(0, |damage| damage.last.max(damage.lost.1));
    let mut salvage = Salvage {
        damage: recovered.damage().map(ToString::to_string),
        kept: last - position.last,
        last,
        lost: acknowledged.max(damaged).saturating_sub(last),
        moved_to: None,
    };
    if (salvage.lost > 0 || salvage.damage.is_some()) && !is_dry_run {
        JournalReplay { folder, connection: &connection, recovered: &recovered, reserve: reserve.as_ref() }
            .run()?;
        sync_log(folder)?;
        let aside = free_folder(folder, last);
        history::renew(folder, &connection, &OldFiles::MoveTo(&aside))?;
        salvage.moved_to = Some(aside);
    }
    drop(lock);
    Ok(salvage)
}

/// Returns a folder for the files of the journal that does not exist.
fn free_folder(folder: &Path, last: u64) -> PathBuf {
    let name = |try_number: u32| match try_number {
        0 => folder.join(format!("salvaged-{last}")),
        later => folder.join(format!("salvaged-{last}-{later}")),
    };
    (0..).map(name).find(|path| !path.exists()).expect("a free name")
}

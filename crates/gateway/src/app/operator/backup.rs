//! Copying the database of a running gateway, for backups and audits.

use crate::app::operator::OperatorRefusal;
use crate::world::World;
use hermod_store::StoreError;
use std::path::{Path, PathBuf};

/// The database in a copy, under the name that every data folder has it.
const DATABASE: &str = "hermod.db";

/// A copy that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    pub folder: PathBuf,
    pub bytes: u64,
}

/// Copies the database into a folder that is made for it and must not exist yet. Sending goes on meanwhile. On any error
/// the folder is removed again.
pub async fn copy_database(world: &World, folder: &str) -> Result<Copied, OperatorRefusal> {
    let folder = PathBuf::from(folder);
    let unfit = |rule: String| OperatorRefusal::InvalidField { field: "folder", rule };
    if !folder.is_absolute() {
        return Err(unfit("must be an absolute path".to_owned()));
    }
    make_private(&folder).map_err(|error| {
        unfit(format!("{}: the gateway cannot make this folder: {error}", folder.display()))
    })?;
    match world.store.copy_to(&folder.join(DATABASE)).await {
        Ok(bytes) => Ok(Copied { folder, bytes }),
        Err(fault) => {
            // Empty by now, so nothing else can be lost with it.
            let _ = std::fs::remove_dir(&folder);
            Err(refusal_of(fault))
        }
    }
}

fn refusal_of(fault: StoreError) -> OperatorRefusal {
    match fault {
        StoreError::NoRoomForCopy { .. } | StoreError::File { .. } | StoreError::Backend(_) => {
            OperatorRefusal::BackupFailed(fault.to_string())
        }
        fault => fault.into(),
    }
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

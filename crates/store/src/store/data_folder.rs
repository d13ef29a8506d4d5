//! What is done with a whole database: audited, copied, or only looked at to see whether a process has it open.

use crate::audit::AuditReport;
use crate::backend::folder;
use crate::error::StoreError;
use crate::shared::CopyRequest;
use crate::store::Store;
use hermod_engine::commands::ReadQueues;
use std::path::Path;
use tokio::sync::oneshot;

impl Store {
    /// Audits the store in a data folder. It reads one snapshot, for as long as that takes: beside a running gateway audit a
    /// copy, or the log grows meanwhile.
    pub fn audit(folder: &Path) -> Result<AuditReport, StoreError> {
        Store::audit_unless(folder, || false)
    }

    /// The same, given up with [`StoreError::ReadTooLong`] once `stop` says so. It is asked several times a second.
    pub fn audit_unless(
        folder: &Path,
        stop: impl FnMut() -> bool + Send + 'static,
    ) -> Result<AuditReport, StoreError> {
        folder::audit(folder, stop)
    }

    /// Whether a process works on this data folder: a gateway, or a command that opened the folder itself.
    pub fn is_in_use(folder: &Path) -> Result<bool, StoreError> {
        folder::is_in_use(folder)
    }

    /// Copies the database into a new file. The copy is durable when this returns and has at least everything that was
    /// committed before the call. Sending goes on meanwhile. Dropping the future ends the copy and removes the file.
    pub async fn copy_to(&self, file: &Path) -> Result<u64, StoreError> {
        let needed = self.inner.backend.database_bytes().await?;
        self.inner.shared.disk.check_room_for(file, needed)?;
        let (reply, answer) = oneshot::channel();
        self.inner.shared.copies.ask(CopyRequest { file: file.to_owned(), reply })?;
        // Wakes the writer.
        self.request(ReadQueues).await?;
        answer.await.map_err(|_| StoreError::Closed)??;
        self.inner.backend.finish_copy(file.to_owned()).await
    }

    /// Copies the database of a folder that no gateway works on. Gives up if one starts meanwhile.
    pub fn backup(folder: &Path, destination: &Path) -> Result<(), StoreError> {
        folder::back_up(folder, destination)
    }
}

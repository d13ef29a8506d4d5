//! Operations on a whole database: audit, copy, and whether a process has it open.

use crate::audit::report::AuditReport;
use crate::backend;
use crate::backend::AuditProof;
use crate::backend::Salvage;
use crate::backend::{Server, run_on_thread};
use crate::data_folder::lock::{self, FolderHolder};
use crate::error::StoreError;
use crate::operations::Store;
use crate::sql::readers;
use crate::writer::shared::CopyRequest;
use hermod_domain::audit::AuditKey;
use hermod_domain::hold::Hold;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::ReadQueues;
use std::path::Path;
use tokio::sync::oneshot;

impl Store {
    /// Audits the database of a data folder in one snapshot. While a gateway runs, audit a copy instead: the snapshot keeps the
    /// gateway's log from being truncated.
    pub fn audit(folder: &Path) -> Result<AuditReport, StoreError> {
        Store::audit_with_stop(folder, AuditProof::default(), || false)
    }

    /// Audits the database of a server in one snapshot, also beside the gateways that use it.
    pub fn audit_server(server: &Server, key: Option<AuditKey>) -> Result<AuditReport, StoreError> {
        run_on_thread(|| backend::audit_server(server, key))
    }

    /// Does the same as [`Store::audit`], checks the audit log with `proof`, and fails with [`StoreError::ReadTooLong`] once `stop` returns true. `stop` is called
    /// several times a second.
    pub fn audit_with_stop(
        folder: &Path,
        proof: AuditProof,
        stop: impl FnMut() -> bool + Send + 'static,
    ) -> Result<AuditReport, StoreError> {
        backend::audit(folder, proof, stop)
    }

    /// Checks that the journal of a running gateway's folder continues its database without a gap, which a copy of the database
    /// cannot show. Returns how many batches only the journal has.
    pub fn check_live_journal(folder: &Path) -> Result<u64, StoreError> {
        backend::check_live_journal(folder)
    }

    /// Whether a process has this data folder open: a gateway, or a command that opened the folder itself.
    pub fn is_in_use(folder: &Path) -> Result<bool, StoreError> {
        lock::is_in_use(folder)
    }

    /// Returns the process that has this data folder open, if there is one and it is known.
    pub fn folder_holder(folder: &Path) -> Result<Option<FolderHolder>, StoreError> {
        lock::holder(folder)
    }

    /// Copies the database into a new file and returns its size in bytes. The copy is durable when this returns, and contains
    /// at least everything that was committed before the call. Operations continue meanwhile. A gateway that starts with the copy
    /// is held; `now` returns the time when the copy is complete. Dropping the future aborts the copy and removes the file.
    /// Fails if there is not enough space, or if another copy is in progress.
    pub async fn copy_to(&self, file: &Path, now: impl Fn() -> Timestamp) -> Result<u64, StoreError> {
        let needed = self.read(readers::database_bytes).await?;
        self.inner.access.shared.disk.check_room_for(file, needed)?;
        let (reply, copied) = oneshot::channel();
        self.inner.access.shared.copies.request(CopyRequest { file: file.to_owned(), reply })?;
        // Any command wakes the writer, which then makes the copy.
        self.request(ReadQueues).await?;
        copied.await.map_err(|_| StoreError::Closed)??;
        self.inner.access.backend.finish_copy(file.to_owned(), Hold::of_backup(now())).await
    }

    /// Continues a data folder whose journal is damaged: keeps every intact batch before the damage, and moves the files of the
    /// journal away. With `is_dry_run`, says what it would do and changes nothing. Fails with [`StoreError::InUse`] if a process
    /// has the folder open.
    pub fn salvage_journal(folder: &Path, is_dry_run: bool) -> Result<Salvage, StoreError> {
        backend::salvage_journal(folder, is_dry_run)
    }

    /// Copies the database of a folder that no process has open. Fails with [`StoreError::InUse`] if one has, or opens it
    /// meanwhile. A gateway that starts with the copy is held.
    pub fn backup(folder: &Path, destination: &Path, now: Timestamp) -> Result<(), StoreError> {
        backend::back_up(folder, destination, &Hold::of_backup(now))
    }
}

//! Operations on the store of a server: its schema, and copies from and to data folders. And the pepper that a store belongs to.

use crate::backend;
use crate::backend::PepperFingerprint;
use crate::backend::copying::{CopyReport, CopyStep};
use crate::backend::{MigrationKind, MigrationStep, SchemaStatus};
use crate::backend::{Server, run_on_thread};
use crate::error::StoreError;
use crate::operations::Store;
use std::path::Path;

impl Store {
    /// Returns the schema version of a server, and what is left to migrate. Changes nothing.
    pub fn schema_status(server: &Server) -> Result<SchemaStatus, StoreError> {
        run_on_thread(|| backend::schema_status(server))
    }

    /// Migrates the schema of a server in one transaction, up to the first migration that `kinds` do not allow. Returns the
    /// applied ones. Fails before a contract if a gateway is connected that does not know it.
    pub fn migrate_server(server: &Server, kinds: MigrationKind) -> Result<Vec<MigrationStep>, StoreError> {
        run_on_thread(|| backend::migrate_server(server, kinds))
    }

    /// Copies the store of a data folder, which no process has open, into an empty schema of a server. Continues a copy that
    /// was stopped. At the end it compares and audits both sides; only then gateways can open the copy.
    pub fn copy_to_server(
        folder: &Path,
        server: &Server,
        pepper: PepperFingerprint,
        mut on_step: impl FnMut(CopyStep<'_>) + Send,
    ) -> Result<CopyReport, StoreError> {
        run_on_thread(|| backend::copying::copy_to_server(folder, server, pepper, &mut on_step))
    }

    /// Copies the store of a server, which no gateway uses, into a data folder without an embedded store. Continues a copy that
    /// was stopped. At the end it compares and audits both sides; only then a gateway can open the copy, which begins a history
    /// of its own. The server is not changed, and no node can join meanwhile.
    pub fn copy_to_folder(
        server: &Server,
        folder: &Path,
        pepper: PepperFingerprint,
        mut on_step: impl FnMut(CopyStep<'_>) + Send,
    ) -> Result<CopyReport, StoreError> {
        run_on_thread(|| backend::copying::copy_to_folder(server, folder, pepper, &mut on_step))
    }

    /// Returns the fingerprint of the pepper that the store of a folder, or of this server, belongs to, also while a gateway uses
    /// it. None if no gateway has claimed it yet.
    pub fn pepper_of(
        folder: &Path,
        server: Option<&Server>,
    ) -> Result<Option<PepperFingerprint>, StoreError> {
        match server {
            Some(server) => run_on_thread(|| backend::pepper_of_server(server)),
            None => backend::pepper_of_folder(folder),
        }
    }

    /// Returns the fingerprint of the pepper that the store belongs to. None if no gateway has claimed it yet.
    pub fn pepper_fingerprint(&self) -> Result<Option<PepperFingerprint>, StoreError> {
        run_on_thread(|| self.inner.access.backend.pepper_fingerprint())
    }

    /// Claims the store for a pepper, if no other gateway has claimed it. Returns false if it belongs to another pepper.
    pub fn claim_pepper(&self, fingerprint: PepperFingerprint) -> Result<bool, StoreError> {
        run_on_thread(|| self.inner.access.backend.claim_pepper(fingerprint))
    }
}

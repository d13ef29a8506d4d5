//! The connections to a store on PostgreSQL for readers, audits and commands, and the lock on its data folder.

use super::membership::{Introduction, Member};
use super::schema::Schema;
use crate::data_folder::lock::{self, FolderLock};
use crate::error::StoreError;
use crate::postgres::schema_status::{MigrationKind, MigrationStep, SchemaStatus};
use crate::postgres::server::Server;
use crate::postgres::{PostgresError, Session};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long the server may take to answer a reader: longer than the statement timeout.
const READ_MAX: Duration = Duration::from_secs(10);
/// A read sees one state of the database, changes nothing, and is stopped after as long as a read of the embedded store. A
/// transaction whose reader is gone without the server's knowledge ends after a minute.
const READER_SETUP: &str = "SET default_transaction_read_only = on; SET jit = off;
     SET default_transaction_isolation = 'repeatable read'; SET statement_timeout = '5s';
     SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = warning;";

const AUDITOR_SETUP: &str = "SET default_transaction_isolation = 'repeatable read'; SET jit = off; SET client_min_messages = warning;";

/// For short statements of commands.
const COMMAND_SETUP: &str = "SET client_min_messages = warning;";

/// Returns a connection for an audit, which takes as long as it needs and makes temporary tables. Fails if the schema has
/// another version than this release knows, and with [`StoreError::UnfinishedCopy`] if it has a part of a store only.
pub(crate) fn auditor(server: &Server) -> Result<Session, StoreError> {
    let session = unchecked_auditor(server)?;
    let schema = Schema::new(&session, server);
    schema.check_current()?;
    schema.check_complete()?;
    Ok(session)
}

/// Like [`auditor`], for the audit at the end of a copy.
pub(crate) fn unchecked_auditor(server: &Server) -> Result<Session, PostgresError> {
    Session::connect(server, AUDITOR_SETUP)
}

/// Returns the version of the schema, and what is left to migrate.
pub(crate) fn schema_status(server: &Server) -> Result<SchemaStatus, StoreError> {
    let session = Session::connect(server, COMMAND_SETUP)?;
    Ok(Schema::new(&session, server).status()?)
}

/// Migrates the schema. Returns the applied migrations.
pub(crate) fn migrate(server: &Server, kinds: MigrationKind) -> Result<Vec<MigrationStep>, StoreError> {
    let session = Session::connect(server, COMMAND_SETUP)?;
    Ok(Schema::new(&session, server).migrate(kinds)?)
}

/// The server of an open store, and the lock on its data folder.
pub(crate) struct PostgresDatabase {
    server: Server,
    /// Held for as long as the store is open: the folder has the record, and commands look whether a gateway runs on it.
    lock: Mutex<Option<FolderLock>>,
}

impl PostgresDatabase {
    /// Locks the folder, creates the tables, and joins as the node of this name. `address`: where other nodes reach it; empty if
    /// they cannot. `embedded`: the file of an embedded store; fails with [`StoreError::NotCopied`] if the folder has it and the
    /// server's store is empty.
    pub(crate) fn open(
        folder: &Path,
        embedded: &str,
        server: &Server,
        name: String,
        address: String,
    ) -> Result<(PostgresDatabase, Member), StoreError> {
        lock::make_folder(folder)?;
        let lock = Mutex::new(Some(FolderLock::take(folder)?));
        let instance = lock::folder_id(folder)?;
        let member = Member::join(server, &Introduction { name, address, instance })?;
        if member.is_new_store()? && folder.join(embedded).exists() {
            member.leave()?;
            return Err(StoreError::NotCopied { folder: folder.to_owned(), place: server.name() });
        }
        Ok((PostgresDatabase { server: server.clone(), lock }, member))
    }

    /// Returns a connection for short statements beside the writer.
    pub(crate) fn beside_writer(&self) -> Result<Session, PostgresError> {
        Session::connect(&self.server, COMMAND_SETUP)
    }

    /// Returns a connection that reads.
    pub(crate) fn reader(&self) -> Result<Session, PostgresError> {
        Ok(Session::connect(&self.server, READER_SETUP)?.answering_within(READ_MAX))
    }

    /// Releases the lock on the folder.
    pub(crate) fn close(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

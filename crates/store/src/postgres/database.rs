//! The readers of a store on PostgreSQL, and the lock on its data folder.

use super::membership::{Introduction, Member};
use super::pepper;
use super::schema::Schema;
use super::writing::{check_no_unfinished_copy, failed};
use crate::error::StoreError;
use crate::schema_status::{MigrationKind, MigrationStep, SchemaStatus};
use crate::server::Server;
use crate::sql::postgres::Session;
use crate::sql::readers::Readers;
use crate::sql::{Connection, Error};
use crate::sqlite::lock::{self, FolderLock};
use crate::sqlite::schema as embedded;
use crate::store_copy::PepperFingerprint;
use hermod_engine::tables::TableError;
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
pub(crate) fn auditor(server: &Server) -> Result<Connection, StoreError> {
    let session = Session::connect(server, AUDITOR_SETUP).map_err(failed)?;
    Schema::new(&session, server).check_current()?;
    let connection = Connection::Postgres(Box::new(session));
    check_no_unfinished_copy(&connection, server)?;
    Ok(connection)
}

/// Like [`auditor`], for the audit at the end of a copy.
pub(crate) fn unchecked_auditor(server: &Server) -> Result<Connection, TableError> {
    Ok(Connection::Postgres(Box::new(Session::connect(server, AUDITOR_SETUP).map_err(Error::from)?)))
}

/// Returns the version of the schema, and what is left to migrate.
pub(crate) fn schema_status(server: &Server) -> Result<SchemaStatus, StoreError> {
    let session = Session::connect(server, COMMAND_SETUP).map_err(failed)?;
    Ok(Schema::new(&session, server).status()?)
}

/// Migrates the schema. Returns the applied migrations.
pub(crate) fn migrate(server: &Server, kinds: MigrationKind) -> Result<Vec<MigrationStep>, StoreError> {
    let session = Session::connect(server, COMMAND_SETUP).map_err(failed)?;
    Ok(Schema::new(&session, server).migrate(kinds)?)
}

fn connect_reader(server: &Server) -> Result<Connection, TableError> {
    let session = Session::connect(server, READER_SETUP).map_err(Error::from)?;
    Ok(Connection::Postgres(Box::new(session.answering_within(READ_MAX))))
}

/// The readers of a store on PostgreSQL.
pub(crate) struct PostgresDatabase {
    readers: Readers,
    server: Server,
    /// Held for as long as the store is open: the folder has the record, and commands look whether a gateway runs on it.
    lock: Mutex<Option<FolderLock>>,
}

impl PostgresDatabase {
    /// Opens the readers, creates the tables, and joins as the node of this name. `address`: where other nodes reach it; empty if
    /// they cannot. Fails with [`StoreError::NotCopied`] if the store is empty and the folder has another one.
    pub(crate) fn open(
        folder: &Path,
        server: &Server,
        name: String,
        address: String,
    ) -> Result<(PostgresDatabase, Member), StoreError> {
        lock::make_folder(folder)?;
        let lock = Mutex::new(Some(FolderLock::take(folder)?));
        let instance = lock::folder_id(folder)?;
        let member = Member::join(server, &Introduction { name, address, instance })?;
        if member.is_new_store()? && folder.join(embedded::FILE_NAME).exists() {
            member.leave()?;
            return Err(StoreError::NotCopied { folder: folder.to_owned(), place: server.name() });
        }
        let readers = Readers::open_with(|| connect_reader(server))?;
        Ok((PostgresDatabase { readers, server: server.clone(), lock }, member))
    }

    /// Returns the fingerprint of the pepper that the store belongs to; none if no gateway has claimed it yet.
    pub(crate) fn pepper(&self) -> Result<Option<PepperFingerprint>, StoreError> {
        let session = Session::connect(&self.server, COMMAND_SETUP).map_err(failed)?;
        Ok(pepper::read(&session).map_err(TableError::from)?)
    }

    /// Claims the store for a pepper. Returns false if it belongs to another one.
    pub(crate) fn claim_pepper(&self, fingerprint: PepperFingerprint) -> Result<bool, StoreError> {
        let session = Session::connect(&self.server, COMMAND_SETUP).map_err(failed)?;
        Ok(pepper::claim(&session, fingerprint).map_err(TableError::from)?)
    }

    /// Returns another connection that reads.
    pub(crate) fn reader(&self) -> Result<Connection, TableError> {
        connect_reader(&self.server)
    }

    /// Runs a read on one of the readers' connections. It sees every batch that was committed before.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.run(read).await
    }

    pub(crate) fn close(&self) {
        self.readers.close();
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

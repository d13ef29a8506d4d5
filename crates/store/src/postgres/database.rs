//! The readers of a store on PostgreSQL, the lock on its data folder, and the fingerprint of the pepper that its secrets depend on.

use super::membership::{Introduction, Member};
use super::schema::Schema;
use super::writing::{check_no_unfinished_copy, failed};
use crate::data_folder::lock::{self, FolderLock};
use crate::error::StoreError;
use crate::postgres::schema_status::{MigrationKind, MigrationStep, SchemaStatus};
use crate::sql::postgres::server::Server;
use crate::sql::postgres::{Session, values};
use crate::sql::readers::Readers;
use crate::sql::{self, Connection, Error};
use crate::sqlite::schema as embedded;
use hermod_engine::tables::TableError;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Tells two peppers apart without revealing anything about them.
pub type PepperFingerprint = [u8; 8];

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
        Ok(read_pepper(&session).map_err(TableError::from)?)
    }

    /// Claims the store for a pepper. Returns false if it belongs to another one.
    pub(crate) fn claim_pepper(&self, fingerprint: PepperFingerprint) -> Result<bool, StoreError> {
        let session = Session::connect(&self.server, COMMAND_SETUP).map_err(failed)?;
        Ok(claim_pepper(&session, fingerprint).map_err(TableError::from)?)
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

/// Returns the fingerprint; none before the first gateway has claimed the store for its pepper.
pub(super) fn read_pepper(session: &Session) -> sql::Result<Option<PepperFingerprint>> {
    let rows = session.query("SELECT fingerprint FROM pepper_fingerprint", &[]).map_err(Error::from)?;
    Ok(rows.first().map(|row| values::get(row, 0)).transpose()?)
}

/// Stores the fingerprint unless there is one. Returns whether the store now has this one: of several nodes that start
/// together on an empty store, the first decides.
pub(super) fn claim_pepper(session: &Session, fingerprint: PepperFingerprint) -> sql::Result<bool> {
    let insert = "INSERT INTO pepper_fingerprint (id, fingerprint) VALUES (1, ?1) ON CONFLICT DO NOTHING";
    session.execute(insert, &[&fingerprint]).map_err(Error::from)?;
    Ok(read_pepper(session)? == Some(fingerprint))
}

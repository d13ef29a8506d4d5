//! The readers of a store on PostgreSQL, and the lock on its data folder.

use super::membership::{Introduction, Member};
use crate::error::StoreError;
use crate::server::Server;
use crate::sql::postgres::Session;
use crate::sql::readers::Readers;
use crate::sql::{Connection, Error};
use crate::sqlite::lock::{self, FolderLock};
use hermod_engine::tables::TableError;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A read sees one state of the database, changes nothing, and is stopped after as long as a read of the embedded store.
const READER_SETUP: &str = "SET default_transaction_read_only = on; SET jit = off;
     SET default_transaction_isolation = 'repeatable read'; SET statement_timeout = '5s';
     SET client_min_messages = warning;";

const AUDITOR_SETUP: &str = "SET default_transaction_isolation = 'repeatable read'; SET jit = off; SET client_min_messages = warning;";

/// Returns a connection for an audit, which takes as long as it needs and makes temporary tables.
pub(crate) fn auditor(server: &Server) -> Result<Connection, TableError> {
    connect(server, AUDITOR_SETUP)
}

fn connect(server: &Server, setup: &str) -> Result<Connection, TableError> {
    Ok(Connection::Postgres(Box::new(Session::connect(server, setup).map_err(Error::from)?)))
}

/// The readers of a store on PostgreSQL.
pub(crate) struct PostgresDatabase {
    readers: Readers,
    server: Server,
    /// Held for as long as the store is open: the folder has the record, and commands look whether a gateway runs on it.
    lock: Mutex<Option<FolderLock>>,
}

impl PostgresDatabase {
    /// Opens the readers, and joins as the node of this name. `address`: where other nodes reach it; empty if they cannot.
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
        let readers = Readers::open_with(|| connect(server, READER_SETUP))?;
        Ok((PostgresDatabase { readers, server: server.clone(), lock }, member))
    }

    /// Returns another connection that reads.
    pub(crate) fn reader(&self) -> Result<Connection, TableError> {
        connect(&self.server, READER_SETUP)
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

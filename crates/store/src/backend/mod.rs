//! The databases that a store can use. `Store` is one struct for all of them: the command queue, the shared state and the
//! table scans are the same. [`Backend::read`] runs a read of `sql` on the one or the other, and what only one of them has stands in
//! [`Place`]. `writing.rs` has the same for the writer's transactions.

pub(crate) mod copying;
pub(crate) mod writing;

use crate::audit;
use crate::audit::report::AuditReport;
use crate::error::StoreError;
pub use crate::postgres::BindSlot;
pub(crate) use crate::postgres::lease::{BootTime, Lease, RENEW_EVERY};
pub use crate::postgres::schema_status::{MigrationKind, MigrationStep, SchemaStatus};
pub use crate::postgres::server::{NodeKey, NodeListener, NodeOptions, NodeRun, Server};
pub(crate) use crate::postgres::server::{SentBy, run_on_thread};
use crate::postgres::{self, PostgresDatabase, WritingSession};
pub(crate) use crate::postgres::{BindSlots, CatalogueLock, LinkSlots, Member, NodeRow, NodesStatus};
pub(crate) use crate::postgres::{migrate as migrate_server, schema_status};
use crate::record::database::source::RecordSource;
pub use crate::sql::account_statement::STATEMENT_ENTRIES_MAX;
pub(crate) use crate::sql::erasure_scopes::ErasureScopes;
pub(crate) use crate::sql::nodes::KeptOutcomes;
pub use crate::sql::pepper::PepperFingerprint;
pub(crate) use crate::sql::read_results;
use crate::sql::read_results::StorePosition;
use crate::sql::readers::Readers;
use crate::sql::{Connection, SqlTables};
use crate::sql::{catalogue, errors, nodes, pepper, reports};
use crate::sqlite::database::Database;
pub(crate) use crate::sqlite::recovery::check_live_journal;
pub use crate::sqlite::salvage::Salvage;
pub(crate) use crate::sqlite::salvage::salvage_journal;
use crate::sqlite::schema;
use crate::sqlite::{copying as sqlite_copying, recovery};
use hermod_domain::audit::AuditKey;
use hermod_domain::hold::Hold;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{CatalogueRow, ReportId};
use hermod_engine::tables::{ReportPage, TableError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use writing::WritingBackend;

/// The file with the sealed end of the audit log.
pub const AUDIT_HEAD_FILE: &str = crate::sqlite::audit_head::FILE_NAME;
pub use crate::sqlite::audit_head::AuditProof;

/// A database as it is read beside the writer. Each read is one short snapshot.
pub(crate) struct Backend {
    readers: Readers,
    place: Place,
}

/// What only one of the databases has.
enum Place {
    /// One file, used by one process at a time.
    Sqlite(Database),
    /// A server, which several processes may use.
    Postgres(Box<PostgresDatabase>),
}

/// Opens the database of a data folder, for readers and for the writer. Creates it if it does not exist. Fails with
/// [`StoreError::InUse`] if another process has it open.
pub(crate) fn open(folder: &Path) -> Result<(Backend, WritingBackend), StoreError> {
    let (database, writing) = Database::open(folder)?;
    let readers = Readers::open_with(|| database.reader())?;
    Ok((Backend { readers, place: Place::Sqlite(database) }, WritingBackend::Sqlite(Box::new(writing))))
}

/// Opens the database of a server for readers, as a node. Creates it if it does not exist.
pub(crate) fn open_server(
    folder: &Path,
    server: &Server,
    name: String,
    address: String,
) -> Result<(Backend, Member), StoreError> {
    let (database, member) = PostgresDatabase::open(folder, schema::FILE_NAME, server, name, address)?;
    let readers = Readers::open_with(|| Ok(database.reader()?.into()))?;
    Ok((Backend { readers, place: Place::Postgres(Box::new(database)) }, member))
}

/// Takes the right to write to the database of a server. Returns none if another node has it.
pub(crate) fn take_writer(
    server: &Server,
    run: NodeRun,
    lease: &Arc<Lease>,
) -> Result<Option<WritingBackend>, StoreError> {
    let taken = WritingSession::take(server, run, lease.clone())?;
    Ok(taken.map(|session| WritingBackend::Postgres(Box::new(session))))
}

/// Audits the database of a folder. Fails with [`StoreError::ReadTooLong`] once `stop` returns true.
pub(crate) fn audit(
    folder: &Path,
    proof: AuditProof,
    stop: impl FnMut() -> bool + Send + 'static,
) -> Result<AuditReport, StoreError> {
    recovery::complete_database(folder)?;
    audit::audit(folder, proof, stop)
}

/// Audits the database of a server.
pub(crate) fn audit_server(server: &Server, key: Option<AuditKey>) -> Result<AuditReport, StoreError> {
    audit::audit_connection(&postgres::auditor(server)?.into(), key)
}

/// Returns the fingerprint of the pepper that the store of a folder belongs to, also while a gateway uses it; none if no gateway
/// has claimed it yet.
pub(crate) fn pepper_of_folder(folder: &Path) -> Result<Option<PepperFingerprint>, StoreError> {
    Ok(pepper::read(&schema::open_existing(folder)?).map_err(TableError::from)?)
}

/// Does the same for the store of a server.
pub(crate) fn pepper_of_server(server: &Server) -> Result<Option<PepperFingerprint>, StoreError> {
    Ok(pepper::read(&postgres::auditor(server)?.into()).map_err(TableError::from)?)
}

/// Copies the database of a folder that no gateway uses into a new file. A gateway that starts with the copy is held.
pub(crate) fn back_up(folder: &Path, destination: &Path, hold: &Hold) -> Result<(), StoreError> {
    recovery::complete_database(folder)?;
    sqlite_copying::back_up(folder, destination, hold)
}

impl Backend {
    /// Reads a snapshot. Every function of `sql` that takes a connection can be the read.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Place::Sqlite(database) = &self.place {
            database.progress().wait_until_visible().await?;
        }
        self.readers.run(read).await
    }

    /// Returns the tables as the record reads them.
    pub(crate) fn record_source(&self, folder: &Path) -> Result<RecordSource, StoreError> {
        Ok(match &self.place {
            Place::Sqlite(database) => RecordSource::open(folder, Some(database.progress().clone()))?,
            Place::Postgres(database) => RecordSource::of(database.reader()?.into()),
        })
    }

    /// Reads at most `limit` reports of a connection after `after` and passes them to `then`, also if the future is
    /// dropped meanwhile.
    pub(crate) async fn report_page<T: Send + 'static>(
        &self,
        of: ConnectionId,
        after: ReportId,
        limit: usize,
        then: impl FnOnce(ReportPage) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read(move |connection| Ok(then(reports::read_page(connection, of, after, limit)?))).await
    }

    /// Returns the id of the store and its last batch, for a process that does not write.
    pub(crate) fn shared_position(&self) -> Result<StorePosition, StoreError> {
        match &self.place {
            Place::Sqlite(_) => Err(StoreError::damaged("the embedded store has one process")),
            Place::Postgres(database) => Ok(nodes::store_position(&database.reader()?.into())?),
        }
    }

    /// Returns when the newest message was accepted, and all entries of the setup.
    pub(crate) fn contents(&self) -> Result<(Option<Timestamp>, Vec<CatalogueRow>), StoreError> {
        match &self.place {
            Place::Sqlite(_) => Err(StoreError::damaged("the embedded store has one process")),
            Place::Postgres(database) => {
                let reader = database.reader()?.into();
                let newest = SqlTables::of(&reader).read()?.newest_message()?.map(MessageId::accepted_at);
                Ok((newest, catalogue::read(&reader)?))
            }
        }
    }

    /// Returns the fingerprint of the pepper that the store belongs to; none if no gateway has claimed it yet.
    pub(crate) fn pepper_fingerprint(&self) -> Result<Option<PepperFingerprint>, StoreError> {
        Ok(pepper::read(&self.beside_writer()?).map_err(TableError::from)?)
    }

    /// Claims the store for a pepper. Returns false if it belongs to another one.
    pub(crate) fn claim_pepper(&self, fingerprint: PepperFingerprint) -> Result<bool, StoreError> {
        Ok(pepper::claim(&self.beside_writer()?, fingerprint).map_err(TableError::from)?)
    }

    /// Returns a connection for short statements, which are not in a batch.
    fn beside_writer(&self) -> Result<Connection, StoreError> {
        Ok(match &self.place {
            Place::Sqlite(database) => database.beside_writer()?,
            Place::Postgres(database) => database.beside_writer()?.into(),
        })
    }

    /// Makes a copy durable that the writer has completed, and holds a gateway that starts with it. Returns its size in bytes.
    pub(crate) async fn finish_copy(&self, file: PathBuf, hold: Hold) -> Result<u64, StoreError> {
        let finish = match self.place {
            Place::Sqlite(_) => sqlite_copying::finish,
            Place::Postgres(_) => return Err(StoreError::NotEmbedded),
        };
        let finished = tokio::task::spawn_blocking(move || finish(&file, Some(&hold))).await;
        Ok(finished.map_err(|_| StoreError::damaged("the task that finished a copy panicked"))??)
    }

    /// Sets how a read makes the writer flush, if it has to see batches that are not in the database yet.
    pub(crate) fn set_wake_writer(&self, wake: impl Fn() + Send + Sync + 'static) {
        match &self.place {
            Place::Sqlite(database) => database.progress().set_wake_writer(wake),
            // A committed batch is in the database.
            Place::Postgres(_) => {}
        }
    }

    /// Makes later reads fail with [`StoreError::Closed`]. Running reads complete.
    pub(crate) fn close(&self) {
        self.readers.close();
        match &self.place {
            Place::Sqlite(database) => database.close(),
            Place::Postgres(database) => database.close(),
        }
    }
}

/// Each backend recognises its own errors. An error of the store that passed through a table comes out unchanged.
impl From<TableError> for StoreError {
    fn from(error: TableError) -> StoreError {
        let error = match errors::from_database(error.into_inner()) {
            Ok(error) => return error,
            Err(error) => error,
        };
        match error.downcast::<StoreError>() {
            Ok(error) => *error,
            Err(error) => StoreError::Damaged(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_error_that_passed_through_a_table_error_is_unchanged() {
        let error = StoreError::from(TableError::from(StoreError::CopyInProgress));
        assert!(matches!(error, StoreError::CopyInProgress), "{error}");
    }
}

//! The writer's connection. A batch is one transaction whose changes are sent together at its end, with a last statement that
//! counts it, and that fails if another node has taken over the writing since.
//!
//! If the connection is lost while a batch is committed, the count tells whether it was.

use super::schema;
use super::upkeep::Upkeep;
use crate::disk::Disk;
use crate::error::StoreError;
use crate::server::Server;
use crate::sql::postgres::{Error as PostgresError, Session, values};
use crate::sql::{Connection, Error};
use crate::sql::{SqlTables, catalogue, webhook_events};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{TableError, Tables};
use rusqlite::ToSql;
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Plans are made once, while tables may be empty, and the statements find their rows by key: without this a plan may read
/// whole tables.
const SETUP: &str =
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
     SET enable_mergejoin = off; SET jit = off; SET synchronous_commit = on;
     SET client_min_messages = warning;";
/// Takes the right to write from every other process, and returns the store's id, the epoch and the number of commits.
const TAKE_OVER: &str = "UPDATE writer SET epoch = epoch + 1 RETURNING store, epoch, commits";
/// The same for the process that has it. No row: another process has taken it.
const TAKE_AGAIN: &str =
    "UPDATE writer SET epoch = epoch + 1 WHERE epoch = ?1 RETURNING store, epoch, commits";
/// Counts a batch. Divides by zero, so that the transaction fails, if another process has the right to write.
const COUNT: &str = "WITH counted AS (UPDATE writer SET commits = ?1 WHERE epoch = ?2 RETURNING 1)
     SELECT 1 / count(*) FROM counted";
const OTHER_WRITERS: &str = "SELECT pg_try_advisory_lock(hashtext('hermod writer ' || current_schema()))";
const LEAVE: &str = "SELECT pg_advisory_unlock_all()";
/// How often to look whether another process has stopped writing.
const ALONE_TRIES: u32 = 20;
const ALONE_PAUSE: Duration = Duration::from_millis(100);
/// Pauses between attempts to reach PostgreSQL again.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The writer's connection.
pub(crate) struct WritingSession {
    connection: Connection,
    server: Server,
    store: [u8; 16],
    epoch: Cell<i64>,
    /// The last batch that changed something.
    sequence: Cell<u64>,
    /// None until it is started.
    upkeep: Option<Upkeep>,
}

/// One batch. Dropping it without [`Batch::commit`] undoes its changes.
#[must_use = "a batch that is dropped is rolled back"]
pub(crate) struct Batch<'c>(&'c WritingSession);

impl WritingSession {
    /// Connects, creates or migrates the tables, and takes the right to write. Fails with [`StoreError::InUse`] if another
    /// process writes.
    pub(crate) fn open(server: &Server) -> Result<WritingSession, StoreError> {
        let session = Session::connect(server, SETUP).map_err(failed)?;
        schema::migrate(&session, &server.schema)?;
        check_alone(&session, server)?;
        let taken = session.query(TAKE_OVER, &[]).map_err(failed)?;
        let (store, epoch, commits) = read_writer(&taken)?.ok_or_else(no_writer)?;
        let connection = Connection::Postgres(Box::new(session));
        Ok(WritingSession {
            connection,
            server: server.clone(),
            store,
            epoch: Cell::new(epoch),
            sequence: Cell::new(commits),
            upkeep: None,
        })
    }

    /// Makes the partitions that are needed now, and looks after them from then on.
    pub(crate) fn start_upkeep(&mut self, disk: Arc<Disk>, now: Timestamp) {
        self.upkeep = Some(Upkeep::new(disk, now));
        self.after_batch();
    }

    /// Returns when to call [`WritingSession::after_batch`] if no batch comes before.
    pub(crate) fn next_upkeep(&self) -> Option<Instant> {
        self.upkeep.as_ref().map(Upkeep::wake_at)
    }

    /// Records that texts or messages were purged.
    pub(crate) fn note_purge(&self) {
        self.upkeep.iter().for_each(Upkeep::note_purge);
    }

    /// Makes and drops partitions if it is time. What fails is tried again later: a message without a partition is stored all
    /// the same.
    pub(crate) fn after_batch(&self) {
        let Some(upkeep) = &self.upkeep else { return };
        match upkeep.run_if_due(self.session(), self.epoch.get()) {
            Ok(()) => {}
            Err(error) if error.is_division_by_zero() => self.exit_fenced(),
            Err(error) if error.is_lock_timeout() => {
                tracing::info!("Partitions are in use; they are made or dropped later");
            }
            Err(error) => {
                tracing::error!(%error, "Partitions could not be made or dropped; this is tried again later");
            }
        }
    }

    /// Lets another process write.
    pub(crate) fn close(self) {
        if let Err(error) = self.session().query(LEAVE, &[]) {
            tracing::debug!(%error, "The server releases the lock when it notices the end of the connection");
        }
    }

    fn session(&self) -> &Session {
        match &self.connection {
            Connection::Postgres(session) => session,
            Connection::Sqlite(_) => unreachable!("made in `open`"),
        }
    }

    pub(crate) fn tables(&self) -> Tables<'_> {
        SqlTables::of(&self.connection)
    }

    pub(crate) fn has_empty_catalogue(&self) -> Result<bool, TableError> {
        catalogue::is_empty(&self.connection)
    }

    pub(crate) fn count_waiting_events(&self) -> Result<u64, TableError> {
        webhook_events::count_waiting(&self.connection)
    }

    /// Returns the store's id and the last batch.
    pub(crate) fn store_position(&self) -> ([u8; 16], u64) {
        (self.store, self.sequence.get())
    }

    pub(crate) fn begin(&self) -> Batch<'_> {
        self.session().begin();
        Batch(self)
    }

    pub(crate) fn roll_back(&self) -> Result<(), StoreError> {
        match self.session().roll_back() {
            Err(error) if !error.is_connection_lost() => return Err(failed(error)),
            // A transaction that was lost with its connection needs no rollback.
            _ => {}
        }
        self.wait_for_server();
        Ok(())
    }

    /// Waits until the server can be reached, because the engine reads the tables after a rollback.
    fn wait_for_server(&self) {
        let mut pause = PAUSE_MIN;
        let mut was_lost = false;
        while let Err(error) = self.session().ensure_connected() {
            if !was_lost {
                tracing::error!(%error, "PostgreSQL cannot be reached; nothing is accepted until it can");
            }
            was_lost = true;
            wait(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
        if was_lost {
            tracing::warn!("Connected to PostgreSQL again");
        }
    }

    fn commit(&self) -> Result<u64, TableError> {
        let session = self.session();
        if !session.has_changes() {
            session.roll_back().map_err(Error::from)?;
            return Ok(self.sequence.get());
        }
        let next = self.sequence.get() + 1;
        let (number, epoch) = (next.cast_signed(), self.epoch.get());
        let values: [&dyn ToSql; 2] = [&number, &epoch];
        match session.commit(Some((COUNT, &values))) {
            Ok(()) => {}
            Err(error) if error.is_division_by_zero() => self.exit_fenced(),
            Err(error) if error.is_connection_lost() => self.find_out(next, error)?,
            Err(error) => return Err(Error::from(error).into()),
        }
        self.sequence.set(next);
        Ok(next)
    }

    /// Finds out whether a batch was committed whose answer was lost. Returns the error if it was not. Raising the epoch waits
    /// for a transaction of the lost connection that has counted, and makes one that has not yet counted fail.
    fn find_out(&self, batch: u64, error: PostgresError) -> Result<(), TableError> {
        tracing::warn!(%error, batch, "The connection to PostgreSQL was lost during a commit; finding out whether it was done");
        let mut pause = PAUSE_MIN;
        loop {
            let epoch = self.epoch.get();
            match self.session().query(TAKE_AGAIN, &[&epoch]) {
                Ok(taken) => {
                    let Some((_, epoch, commits)) = read_writer(&taken)? else { self.exit_fenced() };
                    self.epoch.set(epoch);
                    tracing::warn!(batch, was_committed = commits == batch, "Connected to PostgreSQL again");
                    return if commits == batch { Ok(()) } else { Err(Error::from(error).into()) };
                }
                Err(error) if error.is_connection_lost() => wait(pause),
                Err(error) => {
                    tracing::error!(%error, batch, "PostgreSQL does not say whether a batch was committed; trying again");
                    wait(pause);
                }
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn exit_fenced(&self) -> ! {
        StoreError::InUse(self.server.name().into()).exit_process()
    }
}

impl Batch<'_> {
    /// Commits the batch. It is durable when this returns. Returns the number of the last batch.
    pub(crate) fn commit(self) -> Result<u64, TableError> {
        self.0.commit()
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if self.0.session().is_in_transaction()
            && let Err(error) = self.0.roll_back()
        {
            tracing::error!(%error, "A batch could not be undone");
        }
    }
}

/// Fails with [`StoreError::InUse`] if another process writes. Waits a little, because a server may notice late that the last one
/// has ended.
fn check_alone(session: &Session, server: &Server) -> Result<(), StoreError> {
    for _ in 0..ALONE_TRIES {
        let locked = session.query(OTHER_WRITERS, &[]).map_err(failed)?;
        if locked.first().is_some_and(|row| values::get(row, 0).unwrap_or(false)) {
            return Ok(());
        }
        wait(ALONE_PAUSE);
    }
    Err(StoreError::InUse(server.name().into()))
}

fn failed(error: PostgresError) -> StoreError {
    crate::sql::errors::store_error(error.into())
}

fn no_writer() -> StoreError {
    StoreError::damaged("the table `writer` is empty")
}

/// The store's id, the epoch and the number of commits.
fn read_writer(rows: &[tokio_postgres::Row]) -> Result<Option<([u8; 16], i64, u64)>, StoreError> {
    let read = |row: &tokio_postgres::Row| -> Result<_, rusqlite::Error> {
        Ok((values::get(row, 0)?, values::get(row, 1)?, values::get::<i64>(row, 2)?.cast_unsigned()))
    };
    rows.first().map(read).transpose().map_err(|error| failed(error.into()))
}

#[expect(clippy::disallowed_methods, reason = "no event says that a server can be reached again")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

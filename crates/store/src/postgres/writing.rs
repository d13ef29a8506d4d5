//! The writer's connection. A batch is one transaction whose changes are sent together at its end, with a last statement that
//! counts it, and that fails if another node has taken over the writing since.
//!
//! If the connection is lost while a batch is committed, the count tells whether it was.

use super::upkeep::Upkeep;
use crate::data_folder::disk::Disk;
use crate::error::StoreError;
use crate::postgres::lease::Lease;
use crate::postgres::server::{NodeRun, SentBy, Server};
use crate::postgres::{HasSession, PostgresError, RowKey, Session, values};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::AnyOutcome;
use hermod_engine::tables::TableError;
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
/// Takes the right to write for a node, unless another run has it that still exists. Returns the store's id, the epoch and the
/// number of commits. Can be repeated if the answer was lost.
const TAKE_OVER: &str = "UPDATE writer SET epoch = epoch + 1, node = ?1, node_epoch = ?2
     WHERE (writer.node = ?1 AND writer.node_epoch = ?2) OR NOT EXISTS
         (SELECT 1 FROM node WHERE node.id = writer.node AND node.epoch = writer.node_epoch)
     RETURNING store, epoch, commits";
const PUT_APPLIED: &str = "INSERT INTO applied (node, epoch, number) VALUES (?1, ?2, ?3)
    ON CONFLICT (node) DO UPDATE SET epoch = excluded.epoch, number = excluded.number";
const PUT_OUTCOMES: &str = "INSERT INTO outcome (node, epoch, last, outcomes) VALUES (?1, ?2, ?3, ?4)";
/// Deletes the outcomes of earlier runs of a node, and those that it has.
const DELETE_SETTLED: &str = "DELETE FROM outcome WHERE node = ?1 AND (epoch < ?2 OR last <= ?3)";
/// The same for the process that has it. No row: another process has taken it. Can be repeated too.
const TAKE_AGAIN: &str = "UPDATE writer SET epoch = epoch + 1 WHERE node = ?1 AND node_epoch = ?2
     RETURNING store, epoch, commits";
/// Ends earlier connections of this writer, which the server may not know to be lost: their transactions would hold locks. Not one that
/// is committing: without its wait for a standby, readers would see what only one machine has.
const END_EARLIER: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()
         AND datname = current_database() AND usename = current_user
         AND (state LIKE 'idle%' OR wait_event_type IN ('Client', 'Lock'));";
/// Counts a batch. Divides by zero, so that the transaction fails, if another process has the right to write, or if the server does not
/// have the batch before.
const COUNT: &str = "WITH counted AS (UPDATE writer SET commits = ?1
         WHERE epoch = ?2 AND node = ?3 AND node_epoch = ?4 AND commits = ?1 - 1 RETURNING 1)
     SELECT 1 / count(*) FROM counted";
/// How long the server may take to answer during a batch. A commit can wait for a synchronous standby; whether it was done is found out in
/// any case. Doubled each time that it was not enough, up to the longest.
const ANSWER_MAX: Duration = Duration::from_secs(10);
const ANSWER_LONGEST: Duration = Duration::from_secs(320);
/// The same between batches: what is read at a takeover and after a rollback, and new partitions.
const LONG_ANSWER_MAX: Duration = Duration::from_secs(600);
/// Pauses between attempts to reach PostgreSQL again.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The writer's connection, and the right to write.
pub(crate) struct WritingSession<C> {
    connection: C,
    server: Server,
    run: NodeRun,
    /// How long the server may take to answer during a batch.
    answer_max: Cell<Duration>,
    lease: Arc<Lease>,
    store: [u8; 16],
    epoch: Cell<i64>,
    /// The last batch that changed something.
    sequence: Cell<u64>,
    /// None until it is started.
    upkeep: Option<Upkeep>,
}

/// One batch. Dropping it without [`ServerBatch::commit`] undoes its changes.
#[must_use = "a batch that is dropped is rolled back"]
pub(crate) struct ServerBatch<'c, C: HasSession>(&'c WritingSession<C>);

impl<C: HasSession + From<Session>> WritingSession<C> {
    /// Connects, and takes the right to write for a node. Returns none if another node has it.
    pub(crate) fn take(
        server: &Server,
        run: NodeRun,
        lease: Arc<Lease>,
    ) -> Result<Option<WritingSession<C>>, StoreError> {
        let name = run.application_name(&server.schema);
        let setup = format!("SET application_name = '{name}'; {SETUP} {END_EARLIER}");
        let session = Session::connect(server, &setup)?.answering_within(ANSWER_MAX);
        let (id, epoch) = run.columns();
        let taken = session.query(TAKE_OVER, &[&id, &epoch])?;
        session.limit_answers(LONG_ANSWER_MAX);
        let Some((store, epoch, commits)) = read_writer(&taken)? else { return Ok(None) };
        Ok(Some(WritingSession {
            connection: session.into(),
            server: server.clone(),
            run,
            answer_max: Cell::new(ANSWER_MAX),
            lease,
            store,
            epoch: Cell::new(epoch),
            sequence: Cell::new(commits),
            upkeep: None,
        }))
    }
}

impl<C: HasSession> WritingSession<C> {
    pub(crate) fn connection(&self) -> &C {
        &self.connection
    }

    fn session(&self) -> &Session {
        self.connection.session()
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

    /// Adds to the batch which operation of a node was the last one that was run, and outcomes of its operations. Deletes those
    /// that the node has. A batch without changes needs none of this: its operations can be run again.
    pub(crate) fn note_applied(
        &self,
        last: SentBy,
        outcomes: &[(u64, Option<&AnyOutcome>)],
    ) -> Result<(), TableError> {
        if !self.session().has_changes() {
            return Ok(());
        }
        let ((id, epoch), number) = (last.node.columns(), last.number.cast_signed());
        let change = |table, sql, values: &[&dyn ToSql]| {
            self.session().execute_later(RowKey { table, row: id }, sql, values)
        };
        change("applied", PUT_APPLIED, &[&id, &epoch, &number])?;
        change("outcome", DELETE_SETTLED, &[&id, &epoch, &last.settled.cast_signed()])?;
        if !outcomes.is_empty() {
            let encoded = postcard::to_extend(outcomes, Vec::new())?;
            change("outcome", PUT_OUTCOMES, &[&id, &epoch, &number, &encoded])?;
        }
        Ok(())
    }

    /// Adds to the batch that the setup was changed, which other nodes look for.
    pub(crate) fn note_catalogue(&self) -> Result<(), PostgresError> {
        let key = RowKey { table: "writer", row: 0 };
        let count = "UPDATE writer SET catalogue = catalogue + 1 WHERE shard = ?1";
        self.session().execute_later(key, count, &[&0_i64])
    }

    /// Returns the store's id and the last batch.
    pub(crate) fn store_position(&self) -> ([u8; 16], u64) {
        (self.store, self.sequence.get())
    }

    pub(crate) fn begin(&self) -> ServerBatch<'_, C> {
        if self.session().take_was_silent() {
            self.answer_max.set((self.answer_max.get() * 2).min(ANSWER_LONGEST));
        }
        self.session().limit_answers(self.answer_max.get());
        self.session().begin();
        ServerBatch(self)
    }

    pub(crate) fn roll_back(&self) -> Result<(), StoreError> {
        self.session().limit_answers(self.answer_max.get());
        match self.session().roll_back() {
            Err(error) if !error.is_connection_lost() => return Err(error.into()),
            // A transaction that was lost with its connection needs no rollback.
            _ => {}
        }
        self.wait_for_server();
        self.session().limit_answers(LONG_ANSWER_MAX);
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

    /// Waits until the lease is valid. Without a commit nothing else tells that another node has not taken over.
    fn wait_for_lease(&self) {
        while !self.lease.is_valid() {
            wait(PAUSE_MIN);
        }
    }

    fn commit(&self) -> Result<u64, PostgresError> {
        let session = self.session();
        if !session.has_changes() {
            session.roll_back()?;
            session.limit_answers(LONG_ANSWER_MAX);
            self.wait_for_lease();
            return Ok(self.sequence.get());
        }
        let next = self.sequence.get() + 1;
        let (number, (id, run)) = (next.cast_signed(), self.run.columns());
        let values: [&dyn ToSql; 4] = [&number, &self.epoch.get(), &id, &run];
        match session.commit(Some((COUNT, &values))) {
            Ok(()) => {}
            Err(error) if error.is_division_by_zero() => self.exit_fenced(),
            Err(error) if error.is_connection_lost() => self.find_out(next, error)?,
            Err(error) => return Err(error),
        }
        self.sequence.set(next);
        self.answer_max.set(ANSWER_MAX);
        session.limit_answers(LONG_ANSWER_MAX);
        Ok(next)
    }

    /// Finds out whether a batch was committed whose answer was lost. Returns the error if it was not. Raising the epoch waits
    /// for a transaction of the lost connection that has counted, and makes one that has not yet counted fail.
    fn find_out(&self, batch: u64, error: PostgresError) -> Result<(), PostgresError> {
        tracing::warn!(%error, batch, "The connection to PostgreSQL was lost during a commit; finding out whether it was done");
        // It may have been lost before anything was sent: then the session still has the batch.
        drop(self.session().roll_back());
        let mut pause = PAUSE_MIN;
        let (id, epoch) = self.run.columns();
        loop {
            match self.session().query(TAKE_AGAIN, &[&id, &epoch]) {
                Ok(taken) => {
                    let Some((_, epoch, commits)) = read_writer(&taken)? else { self.exit_fenced() };
                    self.epoch.set(epoch);
                    tracing::warn!(batch, was_committed = commits == batch, "Connected to PostgreSQL again");
                    return if commits == batch { Ok(()) } else { Err(error) };
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

impl<C: HasSession> ServerBatch<'_, C> {
    /// Commits the batch. It is durable when this returns. Returns the number of the last batch.
    pub(crate) fn commit(self) -> Result<u64, PostgresError> {
        self.0.commit()
    }
}

impl<C: HasSession> Drop for ServerBatch<'_, C> {
    fn drop(&mut self) {
        if self.0.session().is_in_transaction()
            && let Err(error) = self.0.roll_back()
        {
            tracing::error!(%error, "A batch could not be undone");
        }
    }
}

/// The store's id, the epoch and the number of commits.
fn read_writer(rows: &[tokio_postgres::Row]) -> Result<Option<([u8; 16], i64, u64)>, PostgresError> {
    let read = |row: &tokio_postgres::Row| -> Result<_, rusqlite::Error> {
        Ok((values::get(row, 0)?, values::get(row, 1)?, values::get::<i64>(row, 2)?.cast_unsigned()))
    };
    Ok(rows.first().map(read).transpose()?)
}

#[expect(clippy::disallowed_methods, reason = "no event says that a server can be reached again")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

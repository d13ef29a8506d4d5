//! The binds of customers as leased slots: a node may accept the third bind of a connection only while it has that slot. A slot
//! belongs to its node until the bind ends or the node is declared dead.
//!
//! What this node holds is known in memory. Rows of this node that are not held are left over: of binds that have ended, or of a
//! claim whose answer was lost. A thread deletes them, and a claim does so first for its own connection.

use crate::error::StoreError;
use crate::postgres::server::{NodeRun, Server};
use crate::postgres::{PostgresError, Session, values};
use hermod_domain::ids::ConnectionId;
use rusqlite::ToSql;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio_postgres::Row;

/// How long the server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Nothing waits for the disk or a standby: a slot that is lost with the server costs one bind too many, until it ends.
const SETUP: &str =
    "SET lock_timeout = '3s'; SET statement_timeout = '5s'; SET synchronous_commit = off; SET jit = off;
     SET client_min_messages = warning;";
/// Takes the first number that no living node has. Another node may take the same one at the same time: then it returns nothing.
const CLAIM: &str = "INSERT INTO bind_slot (connection, number, node, node_epoch)
     SELECT ?1::bigint, place.number, ?3::bigint, ?4::bigint
     FROM generate_series(0::bigint, ?2::bigint - 1) AS place (number)
     WHERE NOT EXISTS (SELECT 1 FROM bind_slot AS taken
         JOIN node ON node.id = taken.node AND node.epoch = taken.node_epoch
         WHERE taken.connection = ?1 AND taken.number = place.number)
     ORDER BY place.number LIMIT 1
     ON CONFLICT (connection, number) DO UPDATE SET node = excluded.node, node_epoch = excluded.node_epoch
     WHERE NOT EXISTS (SELECT 1 FROM node WHERE node.id = bind_slot.node AND node.epoch = bind_slot.node_epoch)
     RETURNING number";
const COUNT: &str = "SELECT count(*) FROM bind_slot AS taken
     JOIN node ON node.id = taken.node AND node.epoch = taken.node_epoch
     WHERE taken.connection = ?1 AND taken.number < ?2";
const DELETE_LEFT_OVER: &str = "DELETE FROM bind_slot WHERE connection = ?1 AND node = ?2 AND node_epoch = ?3
     AND number <> ALL (string_to_array(?4::text, ',')::bigint[]) RETURNING 1";
/// Pause after slots could not be given back.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The slots of this node.
pub(crate) struct BindSlots {
    run: NodeRun,
    server: Server,
    /// Connected at the first use. One statement at a time: what is held does not change between a claim and its effect.
    session: Mutex<Option<Session>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    held: BTreeMap<ConnectionId, BTreeSet<u32>>,
    /// Connections with rows of this node that may be left over.
    left_over: BTreeSet<ConnectionId>,
}

/// One of the binds that a connection may have on all nodes together. Dropping it gives it back.
pub struct BindSlot {
    slots: Arc<BindSlots>,
    connection: ConnectionId,
    number: u32,
}

impl BindSlot {
    /// From 0.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for BindSlot {
    fn drop(&mut self) {
        self.slots.leave(self.connection, self.number);
    }
}

impl BindSlots {
    /// Starts the thread that gives slots back. It ends a moment after the last owner of the slots.
    pub(crate) fn start(server: &Server, run: NodeRun) -> Result<Arc<BindSlots>, StoreError> {
        let slots = Arc::new(BindSlots {
            run,
            server: server.clone(),
            session: Mutex::new(None),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let weak = Arc::downgrade(&slots);
        let thread =
            std::thread::Builder::new().name("hermod-binds".to_owned()).spawn(move || give_back(&weak));
        thread.map_err(|error| StoreError::Nodes(error.to_string()))?;
        Ok(slots)
    }

    /// Takes one of the binds of a connection; none if all are taken. Blocks.
    pub(crate) fn claim(
        self: &Arc<BindSlots>,
        connection: ConnectionId,
        max_binds: u32,
    ) -> Result<Option<BindSlot>, StoreError> {
        let session = self.session()?;
        let connected = session.as_ref().expect("it was connected");
        let claimed = match self.try_claim(connected, connection, max_binds) {
            // An idle connection is found lost when it is used. The slot may have been taken all the same: it is deleted first.
            Err(error) if error.is_connection_lost() => {
                self.state().left_over.insert(connection);
                self.try_claim(connected, connection, max_binds)
            }
            claimed => claimed,
        };
        let number = claimed.inspect_err(|_| {
            // It may have been taken all the same.
            self.state().left_over.insert(connection);
            self.changed.notify_one();
        })?;
        Ok(number.map(|number| {
            self.state().held.entry(connection).or_default().insert(number);
            BindSlot { slots: self.clone(), connection, number }
        }))
    }

    fn try_claim(
        &self,
        session: &Session,
        connection: ConnectionId,
        max_binds: u32,
    ) -> Result<Option<u32>, StoreError> {
        if self.state().left_over.contains(&connection) {
            self.delete_left_over(session, connection)?;
        }
        let (id, epoch) = self.run.columns();
        loop {
            let values: [&dyn ToSql; 4] = [&connection.get(), &max_binds, &id, &epoch];
            if let Some(row) = session.query(CLAIM, &values)?.first() {
                return number(row).map(Some);
            }
            // Each round, another node has taken a number. A claim whose connection was lost may have left a row late.
            let bound = session.query(COUNT, &[&connection.get(), &max_binds])?;
            if number(&bound[0])? >= max_binds && self.delete_left_over(session, connection)? == 0 {
                return Ok(None);
            }
        }
    }

    /// Notes that a bind has ended. Its row is deleted by the thread, or by the next claim.
    fn leave(&self, connection: ConnectionId, number: u32) {
        let mut state = self.state();
        if let Some(numbers) = state.held.get_mut(&connection) {
            numbers.remove(&number);
            if numbers.is_empty() {
                state.held.remove(&connection);
            }
        }
        state.left_over.insert(connection);
        drop(state);
        self.changed.notify_one();
    }

    /// Deletes the rows of this node that it does not hold. Returns how many there were.
    fn delete_left_over(&self, session: &Session, connection: ConnectionId) -> Result<usize, StoreError> {
        let held: Vec<String> = {
            let mut state = self.state();
            state.left_over.remove(&connection);
            state.held.get(&connection).into_iter().flatten().map(u32::to_string).collect()
        };
        let (id, epoch) = self.run.columns();
        let (connection_id, held) = (connection.get(), held.join(","));
        let values: [&dyn ToSql; 4] = [&connection_id, &id, &epoch, &held];
        session.query(DELETE_LEFT_OVER, &values).map(|rows| rows.len()).map_err(|error| {
            self.state().left_over.insert(connection);
            error.into()
        })
    }

    /// Gives one connection's slots back. Returns false if there are none.
    fn give_next_back(&self) -> Result<bool, StoreError> {
        let Some(connection) = self.state().left_over.first().copied() else { return Ok(false) };
        let session = self.session()?;
        self.delete_left_over(session.as_ref().expect("it was connected"), connection)?;
        Ok(true)
    }

    fn session(&self) -> Result<MutexGuard<'_, Option<Session>>, StoreError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if session.is_none() {
            let connected = Session::connect(&self.server, SETUP)?;
            *session = Some(connected.answering_within(ANSWER_MAX));
        }
        Ok(session)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let state = self.state();
        let waited = self.changed.wait_timeout_while(state, RETRY_PAUSE, |state| state.left_over.is_empty());
        drop(waited);
    }
}

/// Gives slots back for as long as they have an owner.
fn give_back(slots: &Weak<BindSlots>) {
    let mut has_failed = false;
    while let Some(slots) = slots.upgrade() {
        match slots.give_next_back() {
            Ok(true) => has_failed = false,
            Ok(false) => slots.wait(),
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    tracing::warn!(%error, "Binds that have ended could not be given back; trying again");
                }
                pause();
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "no event says that the server is back")]
fn pause() {
    std::thread::sleep(RETRY_PAUSE);
}

fn number(row: &Row) -> Result<u32, StoreError> {
    let number: i64 = values::get(row, 0).map_err(PostgresError::from)?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

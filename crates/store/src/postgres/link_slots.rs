//! The links to carriers as leased slots: a node may bind the third link of a carrier only while it has that slot. A slot belongs
//! to its node until the node gives it back or is declared dead. The lock for changes of the setup is here too.

use crate::error::StoreError;
use crate::postgres::Session;
use crate::postgres::server::{NodeRun, Server};
use hermod_domain::ids::CarrierId;
use rusqlite::ToSql;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long the server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);
const SETUP: &str =
    "SET lock_timeout = '3s'; SET statement_timeout = '5s'; SET synchronous_commit = on; SET jit = off;
     SET client_min_messages = warning;";
/// A change of the setup on another node takes at most as long as that node waits for the engine. Nodes that start together wait
/// for each other.
const LOCK_SETUP: &str =
    "SET lock_timeout = '30s'; SET statement_timeout = '35s'; SET client_min_messages = warning;";
const LOCK_ANSWER_MAX: Duration = Duration::from_secs(40);
/// Only one change of the setup at a time, over all nodes.
const LOCK: &str = "SELECT pg_advisory_lock(hashtext('hermod catalogue ' || current_schema()))";
const CLAIM: &str = "INSERT INTO link_slot (carrier, number, node, node_epoch) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (carrier, number) DO UPDATE SET node = excluded.node, node_epoch = excluded.node_epoch
     WHERE (link_slot.node = excluded.node AND link_slot.node_epoch = excluded.node_epoch) OR NOT EXISTS
         (SELECT 1 FROM node WHERE node.id = link_slot.node AND node.epoch = link_slot.node_epoch)
     RETURNING 1";
const RELEASE: &str =
    "DELETE FROM link_slot WHERE carrier = ?1 AND number = ?2 AND node = ?3 AND node_epoch = ?4
     RETURNING 1";

/// The slots of a node.
pub(crate) struct LinkSlots {
    server: Server,
    run: NodeRun,
    /// Connected at the first use.
    session: Mutex<Option<Session>>,
}

/// Held during a change of the setup. Dropping it ends its connection, and with that the lock.
pub(crate) struct CatalogueLock {
    _session: Session,
}

impl LinkSlots {
    pub(crate) fn new(server: &Server, run: NodeRun) -> LinkSlots {
        LinkSlots { server: server.clone(), run, session: Mutex::new(None) }
    }

    /// Takes a slot. Returns whether this node has it now. Blocks.
    pub(crate) fn claim(&self, carrier: CarrierId, number: u8) -> Result<bool, StoreError> {
        self.run(CLAIM, carrier, number)
    }

    /// Gives a slot back. Blocks.
    pub(crate) fn release(&self, carrier: CarrierId, number: u8) -> Result<(), StoreError> {
        self.run(RELEASE, carrier, number).map(|_| ())
    }

    fn run(&self, sql: &str, carrier: CarrierId, number: u8) -> Result<bool, StoreError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if session.is_none() {
            let connected = Session::connect(&self.server, SETUP)?;
            *session = Some(connected.answering_within(ANSWER_MAX));
        }
        let connected = session.as_ref().expect("it was connected");
        let (id, epoch) = self.run.columns();
        let values: [&dyn ToSql; 4] = [&carrier.get(), &number, &id, &epoch];
        Ok(!connected.query(sql, &values)?.is_empty())
    }

    /// Waits for the lock of the setup. Blocks.
    pub(crate) fn lock_catalogue(&self) -> Result<CatalogueLock, StoreError> {
        let session = Session::connect(&self.server, LOCK_SETUP)?;
        let session = session.answering_within(LOCK_ANSWER_MAX);
        session.query(LOCK, &[])?;
        Ok(CatalogueLock { _session: session })
    }
}

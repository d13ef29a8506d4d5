//! The links to carriers and the binds of customers as leased slots: a node may bind the third link of a carrier, or accept the third
//! bind of a connection, only while it has that slot. A slot belongs to its node until the node gives it back or is declared
//! dead. The lock for changes of the setup is here too.

use super::node_run::as_values;
use super::writing::failed;
use crate::error::StoreError;
use crate::node_run::NodeRun;
use crate::server::Server;
use crate::sql::postgres::{Session, values};
use hermod_domain::ids::{CarrierId, ConnectionId};
use rusqlite::ToSql;
use std::sync::{Mutex, PoisonError};
use tokio_postgres::Row;

const SETUP: &str =
    "SET lock_timeout = '3s'; SET statement_timeout = '5s'; SET synchronous_commit = on; SET jit = off;
     SET client_min_messages = warning;";
/// Only one change of the setup at a time, over all nodes.
const LOCK: &str = "SELECT pg_advisory_lock(hashtext('hermod catalogue ' || current_schema()))";
const CLAIM_LINK: &str = "INSERT INTO link_slot (carrier, number, node, node_epoch) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (carrier, number) DO UPDATE SET node = excluded.node, node_epoch = excluded.node_epoch
     WHERE (link_slot.node = excluded.node AND link_slot.node_epoch = excluded.node_epoch) OR NOT EXISTS
         (SELECT 1 FROM node WHERE node.id = link_slot.node AND node.epoch = link_slot.node_epoch)
     RETURNING 1";
const RELEASE_LINK: &str =
    "DELETE FROM link_slot WHERE carrier = ?1 AND number = ?2 AND node = ?3 AND node_epoch = ?4
     RETURNING 1";
/// Takes the first number that no living node has. Another node may take the same one at the same time: then it returns nothing.
const CLAIM_BIND: &str = "INSERT INTO bind_slot (connection, number, node, node_epoch)
     SELECT ?1::bigint, place.number, ?3::bigint, ?4::bigint FROM generate_series(0::bigint, ?2::bigint - 1) AS place (number)
     WHERE NOT EXISTS (SELECT 1 FROM bind_slot AS taken
         JOIN node ON node.id = taken.node AND node.epoch = taken.node_epoch
         WHERE taken.connection = ?1 AND taken.number = place.number)
     ORDER BY place.number LIMIT 1
     ON CONFLICT (connection, number) DO UPDATE SET node = excluded.node, node_epoch = excluded.node_epoch
     WHERE NOT EXISTS (SELECT 1 FROM node WHERE node.id = bind_slot.node AND node.epoch = bind_slot.node_epoch)
     RETURNING number";
const COUNT_BINDS: &str = "SELECT count(*) FROM bind_slot AS taken
     JOIN node ON node.id = taken.node AND node.epoch = taken.node_epoch
     WHERE taken.connection = ?1 AND taken.number < ?2";
const RELEASE_BIND: &str =
    "DELETE FROM bind_slot WHERE connection = ?1 AND number = ?2 AND node = ?3 AND node_epoch = ?4
     RETURNING 1";

/// The slots of a node.
pub(crate) struct LinkSlots {
    server: Server,
    run: NodeRun,
    /// Connected at the first use.
    session: Mutex<Option<Session>>,
    /// Binds that have ended and could not be given back.
    ended: Mutex<Vec<(ConnectionId, u32)>>,
}

/// Held during a change of the setup. Dropping it ends its connection, and with that the lock.
pub(crate) struct CatalogueLock {
    _session: Session,
}

impl LinkSlots {
    pub(crate) fn new(server: &Server, run: NodeRun) -> LinkSlots {
        LinkSlots { server: server.clone(), run, session: Mutex::new(None), ended: Mutex::default() }
    }

    /// Takes a link. Returns whether this node has it now. Blocks.
    pub(crate) fn claim(&self, carrier: CarrierId, number: u8) -> Result<bool, StoreError> {
        let (id, epoch) = as_values(self.run);
        Ok(!self.query(CLAIM_LINK, &[&carrier.get(), &number, &id, &epoch])?.is_empty())
    }

    /// Gives a link back. Blocks.
    pub(crate) fn release(&self, carrier: CarrierId, number: u8) -> Result<(), StoreError> {
        let (id, epoch) = as_values(self.run);
        self.query(RELEASE_LINK, &[&carrier.get(), &number, &id, &epoch]).map(|_| ())
    }

    /// Takes one of the binds of a connection. Returns its number; none if all are taken. Blocks.
    pub(crate) fn claim_bind(
        &self,
        connection: ConnectionId,
        max_binds: u32,
    ) -> Result<Option<u32>, StoreError> {
        let (id, epoch) = as_values(self.run);
        loop {
            let taken = self.query(CLAIM_BIND, &[&connection.get(), &max_binds, &id, &epoch])?;
            if let Some(row) = taken.first() {
                return number(row).map(Some);
            }
            // Each round, another node has taken a number.
            let bound = self.query(COUNT_BINDS, &[&connection.get(), &max_binds])?;
            if number(&bound[0])? >= max_binds {
                return Ok(None);
            }
        }
    }

    /// Gives a bind back, or leaves it for [`LinkSlots::release_ended_binds`]. Blocks.
    pub(crate) fn release_bind(&self, connection: ConnectionId, number: u32) {
        let (id, epoch) = as_values(self.run);
        if let Err(error) = self.query(RELEASE_BIND, &[&connection.get(), &number, &id, &epoch]) {
            tracing::debug!(%error, "A bind could not be given back; trying again");
            self.release_bind_later(connection, number);
        }
    }

    pub(crate) fn release_bind_later(&self, connection: ConnectionId, number: u32) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push((connection, number));
    }

    /// Gives the binds back that could not be given back before. Blocks.
    pub(crate) fn release_ended_binds(&self) {
        let ended = std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner));
        ended.into_iter().for_each(|(connection, number)| self.release_bind(connection, number));
    }

    fn query(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Row>, StoreError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if session.is_none() {
            *session = Some(Session::connect(&self.server, SETUP).map_err(failed)?);
        }
        let connected = session.as_ref().expect("it was connected");
        connected.query(sql, values).map_err(failed)
    }

    /// Waits for the lock of the setup. Blocks.
    pub(crate) fn lock_catalogue(&self) -> Result<CatalogueLock, StoreError> {
        let session = Session::connect(&self.server, SETUP).map_err(failed)?;
        session.query(LOCK, &[]).map_err(failed)?;
        Ok(CatalogueLock { _session: session })
    }
}

fn number(row: &Row) -> Result<u32, StoreError> {
    let number: i64 = values::get(row, 0).map_err(|error: rusqlite::Error| failed(error.into()))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

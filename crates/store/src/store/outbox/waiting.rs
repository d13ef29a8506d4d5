//! How many rows each connection has. Those that had rows at the start are counted when somebody asks: there may be
//! millions, and a start does not wait for that.

use hermod_domain::ids::ConnectionId;
use hermod_engine::batch::ALL_ROWS;
use std::collections::HashMap;

#[derive(Clone, Copy)]
enum Rows {
    Counted(u64),
    /// Only the tables know.
    InTables,
}

/// Connections that have rows, or may have.
#[derive(Default)]
pub(super) struct Waiting(HashMap<ConnectionId, Rows>);

impl Waiting {
    pub(super) fn in_tables(connections: Vec<ConnectionId>) -> Waiting {
        Waiting(connections.into_iter().map(|connection| (connection, Rows::InTables)).collect())
    }

    pub(super) fn more(&mut self, connection: ConnectionId, rows: u64) {
        match self.0.entry(connection).or_insert(Rows::Counted(0)) {
            Rows::Counted(count) => *count += rows,
            Rows::InTables => {}
        }
    }

    pub(super) fn less(&mut self, connection: ConnectionId, rows: u64) {
        let left = match self.0.get_mut(&connection) {
            Some(Rows::Counted(count)) => {
                *count = count.saturating_sub(rows);
                *count
            }
            Some(Rows::InTables) if rows == ALL_ROWS => 0,
            Some(Rows::InTables) | None => return,
        };
        if left == 0 {
            self.0.remove(&connection);
        }
    }

    /// Nothing if only the tables know.
    pub(super) fn of(&self, connection: ConnectionId) -> Option<u64> {
        match self.0.get(&connection) {
            None => Some(0),
            Some(Rows::Counted(count)) => Some(*count),
            Some(Rows::InTables) => None,
        }
    }

    pub(super) fn connections(&self) -> Vec<ConnectionId> {
        self.0.keys().copied().collect()
    }
}

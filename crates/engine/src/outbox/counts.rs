//! How many rows each connection has. Those that had rows at the start are counted when somebody asks: there may be
//! millions, and a start does not wait for that.

use crate::batch::ALL_ROWS;
use crate::maps::HashMap;
use hermod_domain::ids::ConnectionId;

#[derive(Clone, Copy)]
enum Rows {
    Counted(u64),
    /// Only the tables know.
    InTables,
}

/// How many rows each connection has that has some.
#[derive(Default)]
pub struct ReportCounts(HashMap<ConnectionId, Rows>);

impl ReportCounts {
    /// Counts none of these connections yet.
    pub fn in_tables(connections: Vec<ConnectionId>) -> ReportCounts {
        ReportCounts(connections.into_iter().map(|connection| (connection, Rows::InTables)).collect())
    }

    /// Counts rows that were written.
    pub fn add(&mut self, connection: ConnectionId, rows: u64) {
        match self.0.entry(connection).or_insert(Rows::Counted(0)) {
            Rows::Counted(count) => *count += rows,
            Rows::InTables => {}
        }
    }

    /// Counts rows that are gone.
    pub fn subtract(&mut self, connection: ConnectionId, rows: u64) {
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

    /// Returns how many rows a connection has; none if only the tables know.
    pub fn of(&self, connection: ConnectionId) -> Option<u64> {
        match self.0.get(&connection) {
            None => Some(0),
            Some(Rows::Counted(count)) => Some(*count),
            Some(Rows::InTables) => None,
        }
    }

    /// Returns the connections that have rows, or may have.
    pub fn connections(&self) -> Vec<ConnectionId> {
        self.0.keys().copied().collect()
    }
}

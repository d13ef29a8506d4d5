//! The number of stored reports per connection. Connections that had reports at the start are counted only on request:
//! there may be millions of rows, and a start must not wait for that.

use crate::batch::ALL_ROWS;
use crate::maps::HashMap;
use hermod_domain::ids::ConnectionId;

#[derive(Clone, Copy)]
enum Rows {
    Counted(u64),
    /// Not counted: only the tables know.
    InTables,
}

/// The number of reports of each connection that has some.
#[derive(Default)]
pub struct ReportCounts(HashMap<ConnectionId, Rows>);

impl ReportCounts {
    /// Creates counts in which none of these connections is counted yet.
    pub fn in_tables(connections: Vec<ConnectionId>) -> ReportCounts {
        ReportCounts(connections.into_iter().map(|connection| (connection, Rows::InTables)).collect())
    }

    /// Adds rows that were written.
    pub fn add(&mut self, connection: ConnectionId, rows: u64) {
        match self.0.entry(connection).or_insert(Rows::Counted(0)) {
            Rows::Counted(count) => *count += rows,
            Rows::InTables => {}
        }
    }

    /// Subtracts rows that were deleted.
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

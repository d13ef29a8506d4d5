//! The fingerprint of the pepper that the secrets of a store depend on. The first gateway on a store writes it; each later one
//! compares it with its own pepper.

use crate::sql::{Connection, OptionalExtension as _, Result};

/// Tells two peppers apart without revealing anything about them.
pub type PepperFingerprint = [u8; 8];

/// Returns the fingerprint; none before the first gateway has claimed the store for its pepper.
pub(crate) fn read(connection: &Connection) -> Result<Option<PepperFingerprint>> {
    connection.query_row("SELECT fingerprint FROM pepper_fingerprint", [], |row| row.get(0)).optional()
}

/// Stores the fingerprint unless there is one. Returns whether the store now has this one: of several nodes that start
/// together on an empty store, the first decides.
pub(crate) fn claim(connection: &Connection, fingerprint: PepperFingerprint) -> Result<bool> {
    if read(connection)?.is_none() {
        let insert = "INSERT INTO pepper_fingerprint (id, fingerprint) VALUES (1, ?1) ON CONFLICT DO NOTHING";
        connection.execute(insert, [fingerprint])?;
    }
    Ok(read(connection)? == Some(fingerprint))
}

#[cfg(test)]
#[path = "pepper_tests.rs"]
mod tests;

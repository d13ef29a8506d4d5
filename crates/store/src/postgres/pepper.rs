//! SQL for the fingerprint of the pepper: which key the secrets in this store depend on.

use crate::sql::postgres::{Session, values};
use crate::sql::{Error, Result};
use crate::store_copy::PepperFingerprint;

/// Returns the fingerprint; none before the first gateway has claimed the store for its pepper.
pub(super) fn read(session: &Session) -> Result<Option<PepperFingerprint>> {
    let rows = session.query("SELECT fingerprint FROM pepper_fingerprint", &[]).map_err(Error::from)?;
    Ok(rows.first().map(|row| values::get(row, 0)).transpose()?)
}

/// Stores the fingerprint unless there is one. Returns whether the store now has this one: of several nodes that start
/// together on an empty store, the first decides.
pub(super) fn claim(session: &Session, fingerprint: PepperFingerprint) -> Result<bool> {
    let insert = "INSERT INTO pepper_fingerprint (id, fingerprint) VALUES (1, ?1) ON CONFLICT DO NOTHING";
    session.execute(insert, &[&fingerprint]).map_err(Error::from)?;
    Ok(read(session)? == Some(fingerprint))
}

//! Messages from handsets go from the front of each account's: what is left has no gaps, and its numbers go on.

use super::PURGED_PER_STEP_MAX;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

/// An account whose oldest came in before a time: one look for each account.
pub(super) fn account_with_old(
    connection: &Connection,
    before: Timestamp,
) -> Result<Option<AccountId>, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT c.account FROM inbound_counter c
         WHERE (SELECT i.received_at FROM inbound i WHERE i.account = c.account ORDER BY i.id LIMIT 1) < ?1 LIMIT 1",
    )?;
    Ok(statement.query_row([before.as_millis()], |row| row.get(0).map(AccountId::new)).optional()?)
}

impl Batch<'_> {
    /// How many it has dealt with.
    pub(super) fn purge_inbound(&mut self, account: AccountId, before: Timestamp) -> Result<u64, StoreFault> {
        let mut last = None;
        {
            let mut statement = self.connection.prepare_cached(
                "SELECT id, received_at FROM inbound WHERE account = ?1 ORDER BY id LIMIT ?2",
            )?;
            let mut rows = statement.query(params![account.get(), PURGED_PER_STEP_MAX])?;
            while let Some(row) = rows.next()? {
                if row.get::<_, i64>(1)? >= before.as_millis() {
                    break;
                }
                last = Some(row.get::<_, i64>(0)?);
            }
        }
        let Some(last) = last else { return Ok(0) };
        let deleted = self
            .connection
            .prepare_cached("DELETE FROM inbound WHERE account = ?1 AND id <= ?2")?
            .execute(params![account.get(), last])?;
        let done = u64::try_from(deleted).unwrap_or(0);
        self.tally.purged.inbound += done;
        Ok(done)
    }
}

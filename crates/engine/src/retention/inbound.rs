//! Messages from handsets go from the front of each account's: what is left has no gaps, and its numbers go on.

use super::PURGED_PER_STEP_MAX;
use crate::batch::Batch;
use crate::tables::{PurgeChange, TableError};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    /// How many it has dealt with.
    pub fn purge_inbound(&mut self, account: AccountId, before: Timestamp) -> Result<u64, TableError> {
        let first = self.tables.read()?.first_inbound(account, PURGED_PER_STEP_MAX)?;
        let old: Vec<u64> = first
            .into_iter()
            .take_while(|(_, received_at)| *received_at < before)
            .map(|(id, _)| id)
            .collect();
        let Some(last) = old.last().copied() else { return Ok(0) };
        self.tables.write(PurgeChange::DeleteInboundUpTo { account, last });
        let done = u64::try_from(old.len()).unwrap_or(0);
        self.tally.purged.inbound += done;
        Ok(done)
    }
}

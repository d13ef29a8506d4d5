//! Messages from handsets go from the front of each account's: what is left has no gaps, and its numbers go on.

use super::PURGED_PER_STEP_MAX;
use crate::batch::Batch;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    /// How many it has dealt with.
    pub fn purge_inbound(&mut self, account: AccountId, before: Timestamp) -> Result<u64, TableError> {
        let first = self.tables.read()?.first_inbound(account, PURGED_PER_STEP_MAX)?;
        let old = first.iter().take_while(|(_, received_at)| *received_at < before);
        let Some((last, _)) = old.last() else { return Ok(0) };
        let done = self.tables.read()?.delete_inbound_up_to(account, *last)?;
        self.tally.purged.inbound += done;
        Ok(done)
    }
}

//! Messages held for review, and the decisions about them.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_engine::tables::{OnlyRow, ReviewCase, ReviewRows, ReviewState, TableError};

impl ReviewRows for MemoryTables {
    fn last_review(&self) -> Result<u64, TableError> {
        Ok(self.read().review_counter.get(&OnlyRow).map_or(0, |row| row.last))
    }

    fn review(&self, id: u64) -> Result<Option<ReviewCase>, TableError> {
        Ok(self.read().review.get(&(id,)).map(|row| (**row).clone()))
    }

    fn review_by_digest(
        &self,
        account: AccountId,
        digest: &[u8; 16],
    ) -> Result<Option<ReviewCase>, TableError> {
        let rows = self.read();
        let mut found = rows.review.values().filter(|row| row.account == account && row.digest == *digest);
        let first = found.next().map(|row| (**row).clone());
        assert!(found.next().is_none(), "two cases have the digest of {first:?}");
        Ok(first)
    }

    fn count_open_reviews(&self, account: AccountId, limit: u32) -> Result<u32, TableError> {
        let rows = self.read();
        let open =
            rows.review.values().filter(|row| row.account == account && row.state == ReviewState::Open);
        Ok(u32::try_from(open.take(usize::try_from(limit)?).count())?)
    }
}

//! A database of an earlier schema, which does not know the checksum of its last batch.

use crate::world::*;

/// Reverts migrations 24 and 23.
pub(crate) const UNDO_NEWEST: &str = "
    DROP TABLE erasure; DROP TABLE audit_head; DROP INDEX audit_log_posting; ALTER TABLE audit_log DROP COLUMN posting;
    ALTER TABLE audit_log DROP COLUMN posted_balance; ALTER TABLE audit_log DROP COLUMN posted_credit;";

impl World {
    /// Audits a store of an earlier schema, whose audit log is not complete: everything else must be.
    #[track_caller]
    pub(crate) fn assert_migrated_clean(&self) {
        let mut violations = audit(self.path()).violations;
        violations.retain(|violation| !violation.rule.contains("audit log"));
        assert!(violations.is_empty(), "{violations:#?}");
    }
}

/// Reverts migration 22.
pub(super) const UNDO_22: &str = "ALTER TABLE writer DROP COLUMN checksum; ALTER TABLE writer DROP COLUMN is_copy; PRAGMA user_version = 21;";

#[tokio::test]
async fn store_without_a_checksum_of_its_last_batch_opens_and_gets_one() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    world.store.close().await.unwrap();
    world.sqlite().execute_batch(UNDO_NEWEST).unwrap();
    world.sqlite().execute_batch(UNDO_22).unwrap();
    world.reopen();
    world.send(world.sms()).await;
    world.restart().await;
    let query = "SELECT count(*) FROM writer WHERE checksum IS NOT NULL AND is_copy = 0";
    assert_eq!(world.sqlite().query_row(query, [], |row| row.get(0)), Ok(1));
    world.assert_migrated_clean();
}

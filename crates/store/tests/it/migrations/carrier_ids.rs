//! Carrier ids of an earlier schema, in which an id had one part a day.

use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};

/// Reverts migration 21 for one table of carrier ids.
fn undo_21(table: &str) -> String {
    format!(
        "ALTER TABLE {table} RENAME TO newer;
         CREATE TABLE {table} (
             carrier INTEGER NOT NULL, key BLOB NOT NULL, raw BLOB NOT NULL, account INTEGER NOT NULL,
             message INTEGER NOT NULL, part INTEGER NOT NULL, dest INTEGER NOT NULL, at INTEGER NOT NULL,
             PRIMARY KEY (carrier, key, raw)
         ) WITHOUT ROWID, STRICT;
         INSERT INTO {table} SELECT carrier, key, raw, account, message, part, dest, at FROM newer;
         DROP TABLE newer; PRAGMA user_version = 20;"
    )
}

#[tokio::test]
async fn carrier_ids_of_schema_20_are_matched_and_can_be_used_twice() {
    if on_postgres("earlier schemas of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    let message = world.send(world.sms()).await;
    let link = world.link_with_slots(1).await;
    link.accept(&link.take_job().await, "a").await;
    world.flush().await;
    drop(link);
    world.store.close().await.unwrap();
    world.raw().change(super::history::UNDO_22);
    for table in world.raw().tables_with("remote_") {
        world.revert(&undo_21(&table));
    }
    world.reopen();
    let link = world.link_with_slots(1).await;
    let second = world.send(world.sms()).await;
    link.accept(&link.take_job().await, "a").await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.assert_migrated_clean();
}

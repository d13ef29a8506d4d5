//! Messages whose receipts are late: their parts stand apart, and everything happens to them as before.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::receipt::DlrCode;
use hermod_store::{Acceptance, Store};
use std::time::Duration;

const MINUTES: Duration = Duration::from_secs(60);

impl World {
    /// How many rows the table of parts has, and how many that of late ones.
    fn parts_and_late(&self) -> (i64, i64) {
        let count = |table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            self.raw().query_row(&query, [], |row| row.get(0)).expect("a number")
        };
        (count("part"), count("late_part"))
    }

    /// A message that the carrier has, by this id.
    pub(crate) async fn is_submitted(&self, link: &Link, acceptance: Acceptance, id: &str) -> MessageId {
        let message = self.sends(acceptance).await;
        link.accepts(&link.takes_job().await, id).await;
        self.settles().await;
        message
    }
}

#[tokio::test]
async fn late_message_leaves_the_table_of_parts_and_its_receipt_settles_it() {
    let mut world = World::new().await;
    let link = world.link_with_room(5).await;
    let message = world.is_submitted(&link, world.sms(), "a").await;
    let young = {
        world.passes(9 * MINUTES).await;
        world.is_submitted(&link, world.sms(), "b").await
    };
    world.sweeps(world.now).await;
    assert_eq!(world.parts_and_late(), (2, 0));
    world.passes(2 * MINUTES).await;
    world.sweeps(world.now).await;
    assert_eq!(world.parts_and_late(), (1, 1));
    world.books_are_sound();
    link.receipt("a", Verdict::Enroute).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Enroute);
    world.restarts().await;
    let link = world.link().await;
    link.receipt("a", Verdict::Delivered).await;
    link.receipt("b", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.state(young).await, MessageState::Delivered);
    assert_eq!(world.parts_and_late(), (0, 0));
    world.books_are_sound();
}

#[tokio::test]
async fn late_message_is_reported_unknown_when_due_and_later_delivered() {
    let mut world = World::new().await;
    let link = world.link_with_room(5).await;
    let message = world.is_submitted(&link, world.sms(), "a").await;
    world.passes(11 * MINUTES).await;
    world.sweeps(world.now).await;
    assert_eq!(world.parts_and_late(), (0, 1));
    world.passes(VALIDITY + RECEIPT_WAIT - 12 * MINUTES).await;
    assert_eq!(world.sweeps(world.now).await, 0, "not yet due");
    world.restarts().await;
    world.passes(MINUTES).await;
    assert_eq!(world.sweeps(world.now).await, 1);
    assert_eq!(world.sweeps(world.now).await, 0, "it is waited for no more");
    let record = world.store.message(ALICE, message).await.unwrap().unwrap();
    assert_eq!((record.state, record.dlr), (MessageState::Submitted, DlrCode::Unknown));
    assert_eq!(world.parts_and_late(), (0, 1));
    world.books_are_sound();
    let link = world.link().await;
    link.receipt("a", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.parts_and_late(), (0, 0));
    world.books_are_sound();
}

#[tokio::test]
async fn message_with_a_part_that_waits_stays_among_the_parts() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    world.sends(Acceptance { parts: 2, ..world.sms() }).await;
    link.accepts(&link.takes_job().await, "a").await;
    world.passes(11 * MINUTES).await;
    world.sweeps(world.now).await;
    assert_eq!(world.parts_and_late(), (2, 0));
    link.has_room(1).await;
    link.accepts(&link.takes_job().await, "b").await;
    world.settles().await;
    world.sweeps(world.now).await;
    assert_eq!(world.parts_and_late(), (0, 2));
    link.receipt("a", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.parts_and_late(), (0, 2));
    link.receipt("b", Verdict::Undeliverable).await;
    world.settles().await;
    assert_eq!(world.parts_and_late(), (0, 0));
    world.books_are_sound();
}

#[tokio::test]
async fn overdue_parts_of_the_schema_before_are_moved_by_a_sweep() {
    let mut world = World::new().await;
    let link = world.link_with_room(5).await;
    let message = world.is_submitted(&link, world.sms(), "a").await;
    world.passes(VALIDITY + RECEIPT_WAIT).await;
    world.sweeps(world.now).await;
    world.raw().execute_batch(UNDO_14).unwrap();
    world
        .raw()
        .execute_batch(
            "INSERT INTO part SELECT * FROM late_part; DROP VIEW open_part; DROP TABLE late_part;
             PRAGMA user_version = 12",
        )
        .unwrap();
    world.restarts().await;
    assert_eq!(world.parts_and_late(), (1, 0));
    assert_eq!(world.sweeps(world.now).await, 0);
    assert_eq!(world.parts_and_late(), (0, 1));
    let link = world.link().await;
    link.receipt("a", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    world.books_are_sound();
}

#[tokio::test]
async fn late_part_that_makes_no_sense_is_named_by_the_audit_and_set_aside_when_its_receipt_comes() {
    let mut world = World::new().await;
    let link = world.link_with_room(5).await;
    let message = world.is_submitted(&link, world.sms(), "a").await;
    world.passes(11 * MINUTES).await;
    world.sweeps(world.now).await;
    world.raw().execute("UPDATE late_part SET state = 99", []).unwrap();
    let rules = |world: &World| -> Vec<&'static str> {
        Store::audit(world.path()).unwrap().violations.iter().map(|found| found.rule).collect()
    };
    assert!(rules(&world).contains(&"every part is readable"));
    world.restarts().await;
    let link = world.link().await;
    link.receipt("a", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.parts_and_late(), (0, 0));
    assert_eq!(rules(&world), ["no row is set aside"]);
    assert_eq!(world.state(message).await, MessageState::Queued, "as its row was left");
}

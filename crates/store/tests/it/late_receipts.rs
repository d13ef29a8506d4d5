//! Messages with late receipts: their parts move to the table `late_part` and are settled from there.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::receipt::DlrCode;
use hermod_store::Acceptance;
use std::time::Duration;

const MINUTES: Duration = Duration::from_secs(60);

impl World {
    /// Returns the number of rows of `part` and of `late_part`.
    fn parts_and_late(&self) -> (i64, i64) {
        let count = |table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            self.raw().number(&query)
        };
        (count("part"), count("late_part"))
    }

    /// Sends a message that the carrier accepts under `id`.
    pub(crate) async fn send_submitted(&self, link: &Link, acceptance: Acceptance, id: &str) -> MessageId {
        let message = self.send(acceptance).await;
        link.accept(&link.take_job().await, id).await;
        self.flush().await;
        message
    }
}

#[tokio::test]
async fn late_message_moves_out_of_the_part_table_and_its_receipt_settles_it() {
    let mut world = World::new().await;
    let link = world.link_with_slots(5).await;
    let message = world.send_submitted(&link, world.sms(), "a").await;
    let young = {
        world.advance(9 * MINUTES).await;
        world.send_submitted(&link, world.sms(), "b").await
    };
    world.sweep(world.now).await;
    assert_eq!(world.parts_and_late(), (2, 0));
    world.advance(2 * MINUTES).await;
    world.sweep(world.now).await;
    assert_eq!(world.parts_and_late(), (1, 1));
    world.assert_audit_clean();
    link.receipt("a", DeliveryOutcome::Enroute).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Enroute);
    world.restart().await;
    let link = world.link().await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    link.receipt("b", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.state(young).await, MessageState::Delivered);
    assert_eq!(world.parts_and_late(), (0, 0));
    world.assert_audit_clean();
}

#[tokio::test]
async fn late_message_is_reported_unknown_when_due_and_later_delivered() {
    let mut world = World::new().await;
    let link = world.link_with_slots(5).await;
    let message = world.send_submitted(&link, world.sms(), "a").await;
    world.advance(11 * MINUTES).await;
    world.sweep(world.now).await;
    assert_eq!(world.parts_and_late(), (0, 1));
    world.advance(VALIDITY + RECEIPT_WAIT - 12 * MINUTES).await;
    assert_eq!(world.sweep(world.now).await, 0, "not yet due");
    world.restart().await;
    world.advance(MINUTES).await;
    assert_eq!(world.sweep(world.now).await, 1);
    assert_eq!(world.sweep(world.now).await, 0, "the receipt wait is over");
    let record = world.store.messages().find(ALICE, message).await.unwrap().unwrap();
    assert_eq!((record.state, record.dlr), (MessageState::Submitted, DlrCode::Unknown));
    assert_eq!(world.parts_and_late(), (0, 1));
    world.assert_audit_clean();
    let link = world.link().await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.parts_and_late(), (0, 0));
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_with_a_queued_part_stays_in_the_part_table() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    world.send(Acceptance { parts: 2, ..world.sms() }).await;
    link.accept(&link.take_job().await, "a").await;
    world.advance(11 * MINUTES).await;
    world.sweep(world.now).await;
    assert_eq!(world.parts_and_late(), (2, 0));
    link.add_slots(1).await;
    link.accept(&link.take_job().await, "b").await;
    world.flush().await;
    world.sweep(world.now).await;
    assert_eq!(world.parts_and_late(), (0, 2));
    link.receipt("a", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.parts_and_late(), (0, 2));
    link.receipt("b", DeliveryOutcome::Undeliverable).await;
    world.flush().await;
    assert_eq!(world.parts_and_late(), (0, 0));
    world.assert_audit_clean();
}

#[tokio::test]
async fn invalid_late_part_is_reported_by_the_audit_and_set_aside_by_its_receipt() {
    let mut world = World::new().await;
    let link = world.link_with_slots(5).await;
    let message = world.send_submitted(&link, world.sms(), "a").await;
    world.advance(11 * MINUTES).await;
    world.sweep(world.now).await;
    world.raw().change("UPDATE late_part SET state = 99");
    let rules = |world: &World| -> Vec<&'static str> {
        crate::world::audit(world.path()).violations.iter().map(|found| found.rule).collect()
    };
    assert!(rules(&world).contains(&"every part is readable"));
    world.restart().await;
    let link = world.link().await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.parts_and_late(), (0, 0));
    assert_eq!(rules(&world), ["no row is set aside"]);
    assert_eq!(world.state(message).await, MessageState::Queued, "the message keeps its stored state");
}

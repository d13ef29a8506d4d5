//! Parts that a carrier accepted without a usable message id: never resent, and their receipts matched by number.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_store::{Acceptance, ReceiptOutcome, ReceiptRecord, SubmitResponse};

/// Returns a number other than [`recipient`].
fn other_recipient() -> Msisdn {
    Msisdn::from_number(4_915_187_654_321).expect("a number")
}

fn sender(name: &str) -> Sender {
    Sender::parse(name).expect("a sender")
}

/// Sends a message that the carrier accepts without an id.
async fn taken(world: &World, link: &Link, acceptance: Acceptance) -> MessageId {
    link.add_slots(1).await;
    let message = world.send(acceptance).await;
    link.answer(&link.take_job().await, SubmitResponse::AcceptedWithoutId).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    message
}

#[tokio::test]
async fn part_accepted_without_an_id_is_never_resent_and_is_unknown_at_its_deadline() {
    let mut world = World::new().await;
    let link = world.link().await;
    let message = taken(&world, &link, world.sms()).await;
    link.add_slots(5).await;
    world.advance(secs(24 * 3600)).await;
    link.assert_idle().await;
    world.restart().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.now = world.now.plus(VALIDITY).plus(RECEIPT_WAIT);
    world.sweep(world.now).await;
    let record = world.record(message).await;
    assert_eq!((record.state, record.dlr), (MessageState::Submitted, DlrCode::Unknown));
    assert_eq!(crate::world::audit(world.path()).resends, 0);
    assert_eq!(world.timeline(message), ["no_carrier_id", "unknown"]);
    assert!(world.store.receipts().take_unconfirmed().is_empty(), "the carrier accepted the part");
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipt_for_the_number_of_the_only_part_without_an_id_settles_it() {
    let mut world = World::new().await;
    let mut link = world.link().await;
    let message = taken(&world, &link, world.sms()).await;
    world.restart().await;
    link = world.link().await;
    // Receipts for another number or of another carrier do not match.
    let other = world.link_to(OTHER, 0).await;
    other.respond(vec![], vec![about(recipient(), receipt(1, "77", DeliveryOutcome::Delivered))]).await;
    assert_eq!(other.take_fates().await, [ReceiptOutcome::Parked]);
    link.respond(vec![], vec![about(other_recipient(), receipt(1, "76", DeliveryOutcome::Delivered))]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Parked]);
    assert_eq!(world.state(message).await, MessageState::Submitted);

    link.respond(vec![], vec![about(recipient(), receipt(2, "78", DeliveryOutcome::Enroute))]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Applied]);
    assert_eq!(world.state(message).await, MessageState::Enroute);
    // From here on the part has the id of its receipts.
    link.respond(vec![], vec![receipt(3, "78", DeliveryOutcome::Delivered)]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Applied]);
    assert_eq!(world.state(message).await, MessageState::Delivered);

    // A repeated receipt of the first message does not match the next one to the same number.
    let next = taken(&world, &link, world.sms()).await;
    link.respond(vec![], vec![about(recipient(), receipt(4, "78", DeliveryOutcome::Delivered))]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Unchanged]);
    assert_eq!(world.state(next).await, MessageState::Submitted);
    link.respond(vec![], vec![about(recipient(), receipt(5, "79", DeliveryOutcome::Delivered))]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Applied]);
    assert_eq!(world.state(next).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipt_that_fits_several_parts_without_an_id_is_parked_unless_the_sender_decides() {
    let world = World::new().await;
    let link = world.link().await;
    let from = |name: &str| Acceptance { from: sender(name), ..world.sms() };
    let first = taken(&world, &link, from("Bakery")).await;
    let second = taken(&world, &link, from("+4915799999999")).await;
    let by = |name: &str, receipt: ReceiptRecord| ReceiptRecord { sender: Some(sender(name)), ..receipt };
    for name in ["Florist", "80808"] {
        let unclear = by(name, about(recipient(), receipt(1, name, DeliveryOutcome::Delivered)));
        link.respond(vec![], vec![unclear]).await;
        assert_eq!(link.take_fates().await, [ReceiptOutcome::Parked], "{name}");
    }
    link.respond(vec![], vec![about(recipient(), receipt(1, "x", DeliveryOutcome::Delivered))]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Parked]);
    let clear = by("4915799999999", about(recipient(), receipt(2, "y", DeliveryOutcome::Delivered)));
    link.respond(vec![], vec![clear]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Applied]);
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(world.state(first).await, MessageState::Submitted);
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipt_that_overtakes_its_answer_without_an_id_settles_the_part() {
    let world = World::new().await;
    let link = world.link_with_slots(2).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.respond(vec![], vec![about(recipient(), receipt(1, "early", DeliveryOutcome::Delivered))]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Parked]);
    link.answer(&job, SubmitResponse::AcceptedWithoutId).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert!(world.store.receipts().parked(ACME, 10).await.unwrap().is_empty());
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipt_without_an_id_is_matched_by_number_or_dropped() {
    let world = World::new().await;
    let link = world.link().await;
    let nameless =
        |verdict| ReceiptRecord { remote: None, ..about(recipient(), receipt(1, "none", verdict)) };
    link.respond(vec![], vec![nameless(DeliveryOutcome::Delivered)]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Dropped]);
    let message = taken(&world, &link, world.sms()).await;
    for (verdict, state) in [
        (DeliveryOutcome::Enroute, MessageState::Enroute),
        (DeliveryOutcome::Undeliverable, MessageState::Undeliverable),
    ] {
        link.respond(vec![], vec![nameless(verdict)]).await;
        assert_eq!(link.take_fates().await, [ReceiptOutcome::Applied]);
        assert_eq!(world.state(message).await, state);
    }
    link.respond(vec![], vec![nameless(DeliveryOutcome::Delivered)]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Dropped], "the final receipt was applied");
    assert!(world.store.receipts().parked(ACME, 10).await.unwrap().is_empty());
    world.assert_audit_clean();
}

#[tokio::test]
async fn parts_without_an_id_are_deleted_after_the_receipt_wait() {
    let mut world = World::new().await;
    let link = world.link().await;
    taken(&world, &link, world.sms()).await;
    let rows = |world: &World| -> i64 { world.raw().number("SELECT count(*) FROM unnamed") };
    world.now = world.now.plus(secs(8 * 86_400));
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 1);
    world.now = world.now.plus(secs(2 * 86_400));
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 0);
    world.assert_audit_clean();
}

#[tokio::test]
async fn old_part_without_an_id_behind_many_new_ones_is_deleted_by_a_later_call() {
    let mut world = World::new().await;
    let mut link = world.link().await;
    taken(&world, &link, world.sms()).await;
    world.now = world.now.plus(secs(10 * 86_400));
    let young = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO unnamed (carrier, dest, message, part, account, at)
         SELECT carrier, 1000000 + i, message, part, account, ?2 FROM unnamed, n";
    world.raw().change_with(young, &[60_000, world.now.as_millis()]);
    let rows = |world: &World| -> i64 { world.raw().number("SELECT count(*) FROM unnamed") };
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 60_001, "one call does not read all rows");
    link.now = world.now;
    let nameless =
        ReceiptRecord { remote: None, ..about(recipient(), receipt(1, "none", DeliveryOutcome::Delivered)) };
    link.respond(vec![], vec![nameless]).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Dropped], "its receipt wait is over");
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 60_000);
}

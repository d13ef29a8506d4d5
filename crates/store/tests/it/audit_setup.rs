//! The audit compares what was done with the stored setup, and is silent where the setup was changed later.

use crate::mo;
use crate::webhook_queue::{documents, webhooks};
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::receipt::ReportStatus;
use std::sync::Arc;
use std::time::Duration;

const HAS_EVENT: &str = "a message that has ended has its webhook event";
const HAS_ACCOUNT: &str = "an MO message to an owned number has its account";
/// Longer than a change of the setup takes to be in effect.
const IN_EFFECT: Duration = secs(61);

/// Returns the rules that the audit of the open store finds violated.
async fn violated(world: &World) -> Vec<&'static str> {
    // A read waits until everything before it is in the file that the audit opens.
    world.store.webhooks().waiting().await.expect("the store answers");
    audit(world.path()).violations.iter().map(|violation| violation.rule).collect()
}

/// Makes the engine decide by an empty setup, as a fault would.
fn forget_setup(world: &World) {
    world.store.set_catalogue(Arc::default());
}

#[tokio::test]
async fn message_that_ended_without_its_event_is_found_and_one_from_before_the_webhook_is_not() {
    let mut world = World::new().await;
    let setup = documents(Some(webhooks(true, true)), |_| {});
    world.send_with_receipts(world.sms(), "before", &[DeliveryOutcome::Delivered]).await;
    world.store_setup(&setup).await;
    world.advance(secs(1)).await;
    forget_setup(&world);
    world.send_with_receipts(world.sms(), "not in effect yet", &[DeliveryOutcome::Delivered]).await;
    world.assert_audit_clean();
    world.store_setup(&setup).await;
    world.advance(IN_EFFECT).await;
    world.send_with_receipts(world.sms(), "first", &[DeliveryOutcome::Delivered]).await;
    world.advance(secs(1)).await;
    // A message over SMPP without the setting for webhooks has none.
    world.send_with_receipts(world.smpp_message(1), "smpp", &[DeliveryOutcome::Delivered]).await;
    world.assert_audit_clean();
    forget_setup(&world);
    world.send_with_receipts(world.sms(), "without", &[DeliveryOutcome::Delivered]).await;
    assert_eq!(violated(&world).await, [HAS_EVENT]);
    world.store_setup(&setup).await;
    world.advance(secs(1)).await;
    world.send_with_receipts(world.sms(), "last", &[DeliveryOutcome::Delivered]).await;
    assert_eq!(violated(&world).await, [HAS_EVENT], "one message is listed");
    // Events that were purged are not missed.
    world.store.close().await.expect("it closes");
    world.raw().change("DELETE FROM webhook WHERE id = (SELECT last FROM webhook_counter)");
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_that_ended_with_an_intermediate_event_only_is_found() {
    let mut world = World::new().await;
    world.store_setup(&documents(Some(webhooks(true, true)), |_| {})).await;
    world.advance(IN_EFFECT).await;
    world.send_with_receipts(world.sms(), "first", &[DeliveryOutcome::Delivered]).await;
    world.advance(secs(1)).await;
    let link = world.link().await;
    let message = world.send_accepted_as(&link, world.sms(), "second").await;
    link.receipt("second", DeliveryOutcome::Enroute).await;
    world.flush().await;
    assert_eq!(world.due_statuses().await.last(), Some(&(message, ReportStatus::Enroute)));
    world.assert_audit_clean();
    forget_setup(&world);
    link.receipt("second", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(violated(&world).await, [HAS_EVENT]);
}

#[tokio::test]
async fn entries_that_the_audit_log_does_not_list_are_checked_from_the_change_that_has_them() {
    let mut world = World::new().await;
    let hooked = documents(Some(webhooks(true, true)), |_| {});
    world.send_with_receipts(world.sms(), "before", &[DeliveryOutcome::Delivered]).await;
    world.store_setup_unlisted(&hooked).await;
    forget_setup(&world);
    world.send_with_receipts(world.sms(), "not in effect yet", &[DeliveryOutcome::Delivered]).await;
    world.advance(IN_EFFECT).await;
    world.assert_audit_clean();
    world.send_with_receipts(world.sms(), "without", &[DeliveryOutcome::Delivered]).await;
    assert_eq!(violated(&world).await, [HAS_EVENT]);

    let mut world = World::new().await;
    world.receive_mo(mo::text(mo::HANDSET, mo::NUMBER, "before it was owned")).await;
    world.store_setup_unlisted(&mo::documents()).await;
    forget_setup(&world);
    world.advance(IN_EFFECT).await;
    world.assert_audit_clean();
    world.receive_mo(mo::text(mo::HANDSET, mo::NUMBER, "lost")).await;
    assert_eq!(violated(&world).await, [HAS_ACCOUNT]);
}

#[tokio::test]
async fn unassigned_mo_message_to_an_owned_number_is_found() {
    let mut world = World::new().await;
    world.receive_mo(mo::text(mo::HANDSET, mo::NUMBER, "before it was owned")).await;
    world.store_setup(&mo::documents()).await;
    world.advance(IN_EFFECT).await;
    world.receive_mo(mo::text(mo::HANDSET, mo::NUMBER, "owned")).await;
    world.receive_mo(mo::text(mo::HANDSET, mo::FOREIGN, "of no account")).await;
    world.assert_audit_clean();
    forget_setup(&world);
    world.receive_mo(mo::text(mo::HANDSET, mo::NUMBER, "lost")).await;
    assert_eq!(violated(&world).await, [HAS_ACCOUNT]);
    for count in 0..24 {
        world.receive_mo(mo::text(mo::HANDSET, mo::NUMBER, &format!("lost {count}"))).await;
    }
    assert_eq!(violated(&world).await.len(), 21, "20 are listed, and how many more there are");
}

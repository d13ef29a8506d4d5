//! Reports of messages submitted on transmitters go to the webhook when no receiver was bound for a minute.

use super::{
    DELIVERED, DLRS, EXPIRED, assert_no_wakeup, catalogue, many_connections, webhooks, woken_endpoints,
};
use crate::reports::{CONNECTION, origin};
use crate::world::*;
use hermod_domain::catalogue::Connection;
use hermod_domain::ids::ConnectionId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::origin::Origin;
use hermod_domain::receipt::ReportStatus;
use hermod_store::{Acceptance, RECEIVER_AWAY_MAX, REPORT_KEPT, ReportGiveUpReason, ReportOutcome};
use std::sync::Arc;

impl World {
    /// Returns a message of Alice's submitted on a transmitter with this registered_delivery.
    fn transmitted(&self, registered_delivery: u8) -> Acceptance {
        let origin = Origin { on_transmitter: true, ..origin(registered_delivery) };
        Acceptance { origin: Some(Arc::new(origin)), ..self.sms() }
    }

    async fn waiting_reports(&self) -> u64 {
        self.store.reports().waiting(CONNECTION).await.expect("the store answers")
    }
}

#[tokio::test]
async fn every_change_goes_to_the_webhook_after_a_minute_without_a_receiver() {
    let mut world = World::with_webhooks().await;
    let verdicts = [DeliveryOutcome::Enroute, DeliveryOutcome::Delivered];
    world.advance(RECEIVER_AWAY_MAX - secs(1)).await;
    let early = world.send_with_receipts(world.transmitted(1), "a", &verdicts).await;
    // A status that registered_delivery does not ask for is posted at once.
    let at_once = vec![(early, ReportStatus::Enroute)];
    assert_eq!(
        (world.waiting_reports().await, world.due_statuses().await),
        (1, at_once),
        "the minute counts from the start"
    );
    world.advance(secs(1)).await;
    let moved = vec![(early, ReportStatus::Enroute), (early, DELIVERED)];
    assert_eq!((world.waiting_reports().await, world.due_statuses().await), (0, moved));
    // Independent of registered_delivery.
    let late = world.send_with_receipts(world.transmitted(0), "b", &verdicts).await;
    let expect = [
        (early, ReportStatus::Enroute),
        (early, DELIVERED),
        (late, ReportStatus::Enroute),
        (late, DELIVERED),
    ];
    assert_eq!(world.due_statuses().await, expect);
    // A receiver binds: reports go to it, as registered_delivery asks.
    let port = world.store.open_receiver(CONNECTION);
    let told = world.send_with_receipts(world.transmitted(1), "c", &verdicts).await;
    world.send_with_receipts(world.transmitted(0), "d", &verdicts).await;
    assert_eq!(world.take_and_answer_reports(&port, 1).await, [(told, DELIVERED)]);
    world.assert_no_reports(&port).await;
    assert_eq!(world.due_statuses().await, expect);
    // The receiver unbinds: the minute counts from there.
    drop(port);
    world.advance(RECEIVER_AWAY_MAX - secs(1)).await;
    world.send_with_receipts(world.transmitted(1), "e", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.due_events().await.len()), (1, 5));
    world.advance(secs(1)).await;
    assert_eq!((world.waiting_reports().await, world.due_events().await.len()), (0, 6));
    world.assert_audit_clean();
}

#[tokio::test]
async fn unrequested_report_is_posted_at_once_without_a_receiver_and_dropped_with_one() {
    let mut world = World::with_webhooks().await;
    let verdicts = [DeliveryOutcome::Enroute, DeliveryOutcome::Delivered];
    let posted = |message| vec![(message, ReportStatus::Enroute), (message, DELIVERED)];
    // Right after the start.
    let first = world.send_with_receipts(world.transmitted(0), "a", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.due_statuses().await), (0, posted(first)));
    world.settle_as_delivered(&world.due_events().await).await;
    // Submitted on a transceiver, or with a receiver bound: no report and no event.
    world.send_with_receipts(world.smpp_message(0), "b", &verdicts).await;
    let port = world.store.open_receiver(CONNECTION);
    world.send_with_receipts(world.transmitted(0), "c", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.due_statuses().await), (0, vec![]));
    // Right after the receiver unbound.
    drop(port);
    let last = world.send_with_receipts(world.transmitted(0), "d", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.due_statuses().await), (0, posted(last)));
    world.advance(RECEIVER_AWAY_MAX).await;
    assert_eq!(world.due_statuses().await, posted(last), "once");
    world.assert_audit_clean();
}

#[tokio::test]
async fn reports_of_a_hundred_connections_without_receiver_all_move_to_the_webhook() {
    const CONNECTIONS: u32 = 100;
    let mut world = World::new().await;
    let crowd = || many_connections(webhooks(true, true), CONNECTIONS);
    world.store.set_catalogue(crowd());
    for number in 1..=CONNECTIONS {
        let connection = ConnectionId::new(number);
        for base in [world.smpp_message(1), world.transmitted(1)] {
            world.send(Acceptance { connection, validity: secs(1), ..base }).await;
        }
    }
    world.advance(secs(1)).await;
    world.sweep(world.now).await;
    world.advance(RECEIVER_AWAY_MAX).await;
    // New reports arrive and the catalogue changes in every round.
    for round in 0..5 {
        world
            .send_with_receipts(world.smpp_message(1), &format!("id{round}"), &[DeliveryOutcome::Delivered])
            .await;
        world.store.set_catalogue(crowd());
        world.advance(secs(1)).await;
    }
    let figures = world.store.webhooks().figures(ALICE).await.unwrap();
    assert_eq!(figures[0].waiting, u64::from(CONNECTIONS));
    world.assert_audit_clean();
}

#[tokio::test]
async fn damaged_report_does_not_keep_the_others_from_moving() {
    let mut world = World::with_webhooks().await;
    for id in ["a", "b", "c"] {
        world.send_with_receipts(world.transmitted(1), id, &[DeliveryOutcome::Delivered]).await;
    }
    let raw = world.raw();
    raw.change("UPDATE report SET told = 99 WHERE id = (SELECT min(id) FROM report)");
    world.advance(RECEIVER_AWAY_MAX).await;
    assert_eq!((world.waiting_reports().await, world.due_events().await.len()), (1, 2));
}

#[tokio::test]
async fn damaged_report_does_not_keep_the_others_from_being_given_up() {
    let mut world = World::new().await;
    world.send_with_receipts(world.smpp_message(1), "a", &[DeliveryOutcome::Delivered]).await;
    let readable = world.send_with_receipts(world.smpp_message(1), "b", &[DeliveryOutcome::Delivered]).await;
    let raw = world.raw();
    raw.change("UPDATE report SET told = 99 WHERE id = (SELECT min(id) FROM report)");
    world.advance(REPORT_KEPT).await;
    world.sweep(world.now).await;
    let given_up = world.store.reports().given_up(Some(ALICE), None, 9).await.unwrap();
    assert_eq!(given_up.iter().map(|report| report.message).collect::<Vec<_>>(), [readable]);
    assert_eq!(world.waiting_reports().await, 0);
}

#[tokio::test]
async fn report_of_a_message_from_a_transceiver_waits_for_a_bind() {
    let mut world = World::with_webhooks().await;
    world.send_with_receipts(world.smpp_message(1), "a", &[DeliveryOutcome::Delivered]).await;
    world.advance(RECEIVER_AWAY_MAX).await;
    let message = world.send_with_receipts(world.smpp_message(1), "b", &[DeliveryOutcome::Delivered]).await;
    world.advance(RECEIVER_AWAY_MAX).await;
    assert_eq!((world.waiting_reports().await, world.due_events().await.len()), (2, 0));
    let port = world.store.open_receiver(CONNECTION);
    assert_eq!(world.take_and_answer_reports(&port, 2).await[1], (message, DELIVERED));
    world.assert_audit_clean();
}

#[tokio::test]
async fn report_without_a_webhook_waits_for_one_until_it_is_given_up() {
    let mut world = World::new().await;
    world.store.set_catalogue(catalogue(Some(webhooks(false, true)), |_| {}));
    world.advance(RECEIVER_AWAY_MAX).await;
    let held = world.send_with_receipts(world.transmitted(1), "a", &[DeliveryOutcome::Delivered]).await;
    world.advance(REPORT_KEPT - secs(1)).await;
    world.sweep(world.now).await;
    assert_eq!((world.waiting_reports().await, world.due_events().await.len()), (1, 0));
    world.advance(secs(1)).await;
    world.sweep(world.now).await;
    let given_up = world.store.reports().given_up(Some(ALICE), None, 9).await.unwrap();
    assert_eq!((given_up[0].message, given_up[0].reason), (held, ReportGiveUpReason::TooOld));

    let moved = world.send_with_receipts(world.transmitted(1), "b", &[DeliveryOutcome::Delivered]).await;
    world.advance(secs(60)).await;
    assert_eq!(world.waiting_reports().await, 1);
    world.enable_webhooks();
    world.advance(secs(1)).await;
    assert_eq!((world.waiting_reports().await, world.due_statuses().await), (0, vec![(moved, DELIVERED)]));
    assert_eq!(woken_endpoints(&world.store).await, [DLRS]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn backlog_of_reports_moves_in_steps_and_once_each_over_a_kill() {
    const REPORTS: usize = 5_000;
    let mut world = World::with_webhooks().await;
    let mut sending = tokio::task::JoinSet::new();
    for place in 0..REPORTS {
        // Every third message was submitted on a transceiver; its report stays.
        let base = if place % 3 == 0 { world.smpp_message(1) } else { world.transmitted(1) };
        let (store, acceptance) = (world.store.clone(), Acceptance { validity: secs(1), ..base });
        sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
    }
    sending.join_all().await;
    world.advance(secs(1)).await;
    world.sweep(world.now).await;
    let stay = u64::try_from(REPORTS.div_ceil(3)).unwrap();
    let all = u64::try_from(REPORTS).unwrap();
    assert_eq!(world.waiting_reports().await, all);
    assert_no_wakeup(&world.store).await;
    world.advance(RECEIVER_AWAY_MAX).await;
    let left = world.waiting_reports().await;
    assert!(stay < left && left < all, "one tick moves some of them: {left}");
    // After a kill the minute begins again.
    world.kill();
    world.enable_webhooks();
    assert_eq!(world.waiting_reports().await, left);
    world.advance(secs(59)).await;
    assert_eq!(world.waiting_reports().await, left);
    for _ in 0..4 {
        world.advance(secs(1)).await;
    }
    assert_eq!(world.waiting_reports().await, stay);
    let figures = world.store.webhooks().figures(ALICE).await.unwrap();
    assert_eq!(figures[0].waiting, all - stay);
    assert!(world.due_statuses().await.iter().all(|(_, told)| *told == EXPIRED));
    world.assert_audit_clean();
}

#[tokio::test]
async fn report_that_already_has_a_webhook_event_does_not_move_to_the_webhook() {
    let mut world = World::new().await;
    let too = |connection: &mut Connection| connection.webhooks_too = true;
    // One message before `webhooks_too` was set, one after.
    world.enable_webhooks();
    let before = world.send_with_receipts(world.transmitted(1), "a", &[DeliveryOutcome::Delivered]).await;
    world.store.set_catalogue(catalogue(Some(webhooks(true, true)), too));
    let both = world.send_with_receipts(world.transmitted(1), "b", &[DeliveryOutcome::Delivered]).await;
    assert_eq!((world.waiting_reports().await, world.due_statuses().await), (2, vec![(both, DELIVERED)]));
    world.advance(RECEIVER_AWAY_MAX).await;
    assert_eq!(world.waiting_reports().await, 1, "the report of the second message waits for a bind");
    assert_eq!(world.due_statuses().await, [(both, DELIVERED), (before, DELIVERED)]);
    let once = world.send_with_receipts(world.transmitted(1), "c", &[DeliveryOutcome::Delivered]).await;
    assert_eq!((world.waiting_reports().await, world.due_statuses().await[2]), (1, (once, DELIVERED)));
    world.assert_audit_clean();
}

#[tokio::test]
async fn report_taken_by_a_lost_bind_moves_to_the_webhook() {
    let mut world = World::with_webhooks().await;
    let port = world.store.open_receiver(CONNECTION);
    let message = world.send_with_receipts(world.transmitted(1), "a", &[DeliveryOutcome::Delivered]).await;
    let taken = world.take_reports(&port, 1).await;
    world.settle(&port, &[taken[0].id], ReportOutcome::RetryLater).await;
    drop(port);
    world.advance(RECEIVER_AWAY_MAX).await;
    assert_eq!((world.waiting_reports().await, world.due_statuses().await), (0, vec![(message, DELIVERED)]));
    let port = world.store.open_receiver(CONNECTION);
    world.advance(secs(7200)).await;
    world.assert_no_reports(&port).await;
    world.assert_audit_clean();
}

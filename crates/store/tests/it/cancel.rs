//! Cancellation of messages by id or by short name (cancel_sm), and the assignment of short names.

use crate::reports::{CONNECTION, news, origin};
use crate::world::*;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::origin::{Alias, MessageName, Origin};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::sender::Sender;
use hermod_store::{AcceptOutcome, Acceptance, CancelOutcome, ExpectedParties, REPORT_KEPT, SubmitResponse};
use std::sync::Arc;

impl World {
    async fn cancel(&self, message: MessageId) -> CancelOutcome {
        self.cancel_named(ALICE, MessageName::Id(message)).await
    }

    async fn cancel_named(&self, account: AccountId, name: MessageName) -> CancelOutcome {
        let expected = ExpectedParties { from: Some(sms(noon()).from), to: Some(recipient()) };
        self.store.messages().cancel(account, name, expected, self.now).await.expect("the store answers")
    }

    /// Returns a message submitted on an SMPP 3.3 bind, which needs a short name.
    fn short(&self) -> Acceptance {
        Acceptance { origin: Some(Arc::new(Origin { short_id: true, ..origin(1) })), ..self.sms() }
    }

    async fn accept_with_short_name(&self, acceptance: Acceptance) -> (MessageId, String) {
        match self.store.accept(acceptance).await.expect("the store answers") {
            AcceptOutcome::Accepted { message, alias: Some(alias), .. } => (message, alias.to_string()),
            other => panic!("no short name: {other:?}"),
        }
    }

    async fn find(&self, account: AccountId, name: &str) -> Option<MessageId> {
        let name = MessageName::parse(name).expect("a name");
        let found = self.store.messages().find_named(account, name).await.expect("the store answers");
        found.map(|record| record.id)
    }

    async fn counts(&self) -> Option<(u64, u64)> {
        let queues = self.store.messages().queues().await.expect("the store answers");
        queues.first().map(|queue| (queue.waiting, queue.in_flight))
    }
}

#[tokio::test]
async fn queued_message_is_cancelled_refunded_and_reported() {
    let world = World::new().await;
    let port = world.store.open_receiver(CONNECTION);
    // A link is open, so the messages are in memory. The second one shows that the lane continues.
    let link = world.link().await;
    let message = world.send(Acceptance { parts: 2, ..world.smpp_message(1) }).await;
    let next = world.send(world.sms()).await;
    assert_eq!(world.cancel(message).await, CancelOutcome::Cancelled);
    assert_eq!(world.state(message).await, MessageState::Rejected);
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE);
    assert_eq!(world.timeline(message), ["cancelled"]);
    assert_eq!(world.counts().await, Some((1, 0)));
    assert_eq!(
        world.take_and_answer_reports(&port, 1).await,
        [(message, ReportStatus::Final(DlrCode::Rejectd))]
    );
    link.add_slots(5).await;
    assert_eq!(link.take_job().await.message, next);
    world.flush().await;
    link.assert_idle().await;
    assert_eq!(world.cancel(message).await, CancelOutcome::TooLate, "it has ended");
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_in_the_tables_or_waiting_for_a_retry_is_cancelled() {
    let mut world = World::new().await;
    let spilled = world.send(world.sms()).await;
    assert_eq!(world.cancel(spilled).await, CancelOutcome::Cancelled);
    let link = world.link_with_slots(2).await;
    let retried = world.send(world.sms()).await;
    let temporary = SubmitResponse::Temporary { status: 8, after: None };
    link.answer(&link.take_job().await, temporary).await;
    world.flush().await;
    assert_eq!(world.cancel(retried).await, CancelOutcome::Cancelled);
    world.advance(secs(60)).await;
    link.assert_idle().await;
    assert_eq!(world.balance(ALICE).await, 1_000_000_000);
    assert_eq!(world.counts().await, Some((0, 0)));
    world.restart().await;
    let link = world.link_with_slots(2).await;
    world.flush().await;
    link.assert_idle().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_that_may_have_reached_the_carrier_is_not_cancelled() {
    let world = World::new().await;
    let link = world.link_with_slots(3).await;
    let message = world.send(Acceptance { parts: 2, ..world.sms() }).await;
    let jobs = link.take_jobs(2).await;
    assert_eq!(world.cancel(message).await, CancelOutcome::TooLate, "it is being sent");
    link.answer(&jobs[0], SubmitResponse::NotSent).await;
    link.accept(&jobs[1], "id").await;
    world.flush().await;
    assert_eq!(world.cancel(message).await, CancelOutcome::TooLate, "the carrier has one of its parts");
    link.close().await.unwrap();

    let link = world.link_with_slots(1).await;
    let doubted = world.send(world.sms()).await;
    let job = link.take_jobs(1).await.remove(0);
    link.answer(&job, SubmitResponse::NoResponse).await;
    world.flush().await;
    let doubted = if job.message == doubted { doubted } else { job.message };
    assert_eq!(world.cancel(doubted).await, CancelOutcome::TooLate, "it is in doubt");
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 2 * PRICE);
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_of_another_account_or_sender_is_not_cancelled() {
    let world = World::new().await;
    world.pay_in(BOB, 1_000_000).await;
    let message = world.send(world.sms()).await;
    assert_eq!(world.cancel_named(BOB, MessageName::Id(message)).await, CancelOutcome::NotFound);
    let other = world.send(Acceptance { from: Sender::parse("Other").unwrap(), ..world.sms() }).await;
    assert_eq!(world.cancel(other).await, CancelOutcome::NotFound, "the sender is different");
    let alias = MessageName::Alias(Alias::FIRST);
    assert_eq!(world.cancel_named(ALICE, alias).await, CancelOutcome::NotFound);
    let (short, _) = world.accept_with_short_name(world.short()).await;
    assert_eq!(world.cancel_named(BOB, alias).await, CancelOutcome::NotFound);
    assert_eq!(world.cancel_named(ALICE, alias).await, CancelOutcome::Cancelled);
    assert_eq!(world.state(short).await, MessageState::Rejected);
    assert_eq!(world.state(message).await, MessageState::Queued);
    world.assert_audit_clean();
}

#[tokio::test]
async fn short_names_are_assigned_in_order_per_account_and_only_to_3_3_binds() {
    let mut world = World::new().await;
    world.pay_in(BOB, 1_000_000).await;
    let (first, name) = world.accept_with_short_name(world.short()).await;
    assert_eq!(name, "10000000");
    world.send(world.smpp_message(1)).await;
    world.restart().await;
    let (second, name) = world.accept_with_short_name(world.short()).await;
    assert_eq!(name, "10000001");
    let (bobs, name) = world.accept_with_short_name(Acceptance { account: BOB, ..world.short() }).await;
    assert_eq!(name, "10000000");
    for (account, name, expect) in [
        (ALICE, "10000000", Some(first)),
        (ALICE, "10000001", Some(second)),
        (ALICE, "10000002", None),
        (BOB, "10000000", Some(bobs)),
        (BOB, "10000001", None),
        (ALICE, &first.to_string(), Some(first)),
        (BOB, &first.to_string(), None),
    ] {
        assert_eq!(world.find(account, name).await, expect, "{account} {name}");
    }
    // Its report has the short name, after a restart too.
    let link = world.link_with_slots(1).await;
    let job = link.take_job().await;
    link.accept(&job, "id").await;
    world.flush().await;
    world.restart().await;
    world.link().await.receipt("id", DeliveryOutcome::Delivered).await;
    let port = world.store.open_receiver(CONNECTION);
    let report = world.take_reports(&port, 1).await.remove(0);
    assert_eq!(
        (report.message, news(&report).alias.map(|alias| alias.to_string())),
        (first, Some("10000000".to_owned()))
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn short_names_wrap_around_to_the_first_free_one() {
    let mut world = World::new().await;
    let (first, _) = world.accept_with_short_name(world.short()).await;
    let (second, _) = world.accept_with_short_name(world.short()).await;
    let wraps = |world: &World| world.raw().change("UPDATE alias_counter SET last = 4294967294");
    wraps(&world);
    world.restart().await;
    let names = [
        world.accept_with_short_name(world.short()).await.1,
        world.accept_with_short_name(world.short()).await.1,
    ];
    assert_eq!(names, ["FFFFFFFF", "10000002"], "10000000 and 10000001 are in use");
    // The first message ends. It keeps its name for as long as its customer may query it.
    assert_eq!(world.cancel(first).await, CancelOutcome::Cancelled);
    wraps(&world);
    world.restart().await;
    world.advance(REPORT_KEPT).await;
    assert_eq!(world.accept_with_short_name(world.short()).await.1, "10000003");
    wraps(&world);
    world.restart().await;
    world.advance(secs(1)).await;
    let (again, name) = world.accept_with_short_name(world.short()).await;
    assert_eq!(name, "10000000");
    assert_eq!(world.find(ALICE, "10000000").await, Some(again));
    assert_eq!(world.find(ALICE, "10000001").await, Some(second));
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_without_a_free_short_name_is_not_accepted() {
    let mut world = World::new().await;
    let (message, _) = world.accept_with_short_name(world.short()).await;
    let before = world.balance(ALICE).await;
    for number in 1..=64 {
        let insert = "INSERT INTO alias (account, alias, message) VALUES (1, ?1, ?2)";
        world.raw().change_with(insert, &[0x1000_0000 + number, message.as_i64()]);
    }
    let refused = world.store.accept(Acceptance { key: Some(key(1)), ..world.short() }).await.unwrap();
    assert_eq!(refused, AcceptOutcome::NoAliasFree);
    assert_eq!(world.balance(ALICE).await, before);
    assert_eq!(world.store.find_key(key(1)).await.unwrap(), None);
    world.send(world.smpp_message(1)).await;
    world.raw().change_with("DELETE FROM alias WHERE alias > ?1", &[0x1000_0000]);
    assert_eq!(world.accept_with_short_name(world.short()).await.1, "10000001");
    world.restart().await;
    world.assert_audit_clean();
}

//! Taking messages back, by their id or by their short name.

use crate::reporting::{CONNECTION, news, origin};
use crate::world::*;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::origin::{Alias, MessageName, Origin};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::sender::Sender;
use hermod_store::{AcceptOutcome, Acceptance, CancelOutcome, ExpectedParties, REPORT_KEPT, SubmitResponse};
use std::sync::Arc;

impl World {
    async fn cancels(&self, message: MessageId) -> CancelOutcome {
        self.cancels_named(ALICE, MessageName::Id(message)).await
    }

    async fn cancels_named(&self, account: AccountId, name: MessageName) -> CancelOutcome {
        let expected = ExpectedParties { from: Some(sms(noon()).from), to: Some(recipient()) };
        self.store.cancel(account, name, expected, self.now).await.expect("the store answers")
    }

    /// A message that came on a 3.3 bind.
    fn short(&self) -> Acceptance {
        Acceptance { origin: Some(Arc::new(Origin { short_id: true, ..origin(1) })), ..self.sms() }
    }

    async fn gets_short_name(&self, acceptance: Acceptance) -> (MessageId, String) {
        match self.store.accept(acceptance).await.expect("the store answers") {
            AcceptOutcome::Accepted { message, alias: Some(alias), .. } => (message, alias.to_string()),
            other => panic!("no short name: {other:?}"),
        }
    }

    async fn find(&self, account: AccountId, name: &str) -> Option<MessageId> {
        let name = MessageName::parse(name).expect("a name");
        let found = self.store.named(account, name).await.expect("the store answers");
        let record = self.store.message_named(account, name).await.expect("the store answers");
        assert_eq!(record.map(|record| record.id), found);
        found
    }

    async fn counts(&self) -> Option<(u64, u64)> {
        let queues = self.store.queues().await.expect("the store answers");
        queues.first().map(|queue| (queue.waiting, queue.in_flight))
    }
}

#[tokio::test]
async fn a_message_that_waits_is_taken_back_refunded_and_told_of() {
    let world = World::new().await;
    let port = world.store.open_receiver(CONNECTION);
    // In memory, because a link is there; and a second one, so that the lane goes on.
    let link = world.link().await;
    let message = world.sends(Acceptance { parts: 2, ..world.smpp(1) }).await;
    let next = world.sends(world.sms()).await;
    assert_eq!(world.cancels(message).await, CancelOutcome::Cancelled);
    assert_eq!(world.state(message).await, MessageState::Rejected);
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE);
    assert_eq!(world.timeline(message), ["cancelled"]);
    assert_eq!(world.counts().await, Some((1, 0)));
    assert_eq!(world.is_told(&port, 1).await, [(message, ReportStatus::Final(DlrCode::Rejectd))]);
    link.has_room(5).await;
    assert_eq!(link.takes_job().await.message, next);
    world.settles().await;
    link.has_nothing().await;
    assert_eq!(world.cancels(message).await, CancelOutcome::TooLate, "it has ended");
    world.books_are_sound();
}

#[tokio::test]
async fn what_waits_in_the_tables_or_for_a_retry_can_be_taken_back_too() {
    let mut world = World::new().await;
    let spilled = world.sends(world.sms()).await;
    assert_eq!(world.cancels(spilled).await, CancelOutcome::Cancelled);
    let link = world.link_with_room(2).await;
    let retried = world.sends(world.sms()).await;
    let temporary = SubmitResponse::Temporary { status: 8, after: None };
    link.answers(&link.takes_job().await, temporary).await;
    world.settles().await;
    assert_eq!(world.cancels(retried).await, CancelOutcome::Cancelled);
    world.passes(secs(60)).await;
    link.has_nothing().await;
    assert_eq!(world.balance(ALICE).await, 1_000_000_000);
    assert_eq!(world.counts().await, Some((0, 0)));
    world.restarts().await;
    let link = world.link_with_room(2).await;
    world.settles().await;
    link.has_nothing().await;
    world.books_are_sound();
}

#[tokio::test]
async fn what_a_carrier_has_or_may_have_is_not_taken_back() {
    let world = World::new().await;
    let link = world.link_with_room(3).await;
    let message = world.sends(Acceptance { parts: 2, ..world.sms() }).await;
    let jobs = link.takes_jobs(2).await;
    assert_eq!(world.cancels(message).await, CancelOutcome::TooLate, "on its way");
    link.answers(&jobs[0], SubmitResponse::NotSent).await;
    link.accepts(&jobs[1], "id").await;
    world.settles().await;
    assert_eq!(world.cancels(message).await, CancelOutcome::TooLate, "half of it is there");
    link.closes().await.unwrap();

    let link = world.link_with_room(1).await;
    let doubted = world.sends(world.sms()).await;
    let job = link.takes_jobs(1).await.remove(0);
    link.answers(&job, SubmitResponse::NoResponse).await;
    world.settles().await;
    let doubted = if job.message == doubted { doubted } else { job.message };
    assert_eq!(world.cancels(doubted).await, CancelOutcome::TooLate, "it may be there");
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 2 * PRICE);
    world.books_are_sound();
}

#[tokio::test]
async fn nobody_elses_message_is_taken_back() {
    let world = World::new().await;
    world.pays_in(BOB, 1_000_000).await;
    let message = world.sends(world.sms()).await;
    assert_eq!(world.cancels_named(BOB, MessageName::Id(message)).await, CancelOutcome::NotFound);
    let other = world.sends(Acceptance { from: Sender::parse("Other").unwrap(), ..world.sms() }).await;
    assert_eq!(world.cancels(other).await, CancelOutcome::NotFound, "not from there");
    let alias = MessageName::Alias(Alias::FIRST);
    assert_eq!(world.cancels_named(ALICE, alias).await, CancelOutcome::NotFound);
    let (short, _) = world.gets_short_name(world.short()).await;
    assert_eq!(world.cancels_named(BOB, alias).await, CancelOutcome::NotFound);
    assert_eq!(world.cancels_named(ALICE, alias).await, CancelOutcome::Cancelled);
    assert_eq!(world.state(short).await, MessageState::Rejected);
    assert_eq!(world.state(message).await, MessageState::Queued);
    world.books_are_sound();
}

#[tokio::test]
async fn short_names_are_given_in_order_to_each_account_and_only_where_they_are_needed() {
    let mut world = World::new().await;
    world.pays_in(BOB, 1_000_000).await;
    let (first, name) = world.gets_short_name(world.short()).await;
    assert_eq!(name, "10000000");
    world.sends(world.smpp(1)).await;
    world.restarts().await;
    let (second, name) = world.gets_short_name(world.short()).await;
    assert_eq!(name, "10000001");
    let (bobs, name) = world.gets_short_name(Acceptance { account: BOB, ..world.short() }).await;
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
    // What is told of it goes by that name, after a restart too.
    let link = world.link_with_room(1).await;
    let job = link.takes_job().await;
    link.accepts(&job, "id").await;
    world.settles().await;
    world.restarts().await;
    world.link().await.receipt("id", Verdict::Delivered).await;
    let port = world.store.open_receiver(CONNECTION);
    let report = world.takes(&port, 1).await.remove(0);
    assert_eq!(
        (report.message, news(&report).alias.map(|alias| alias.to_string())),
        (first, Some("10000000".to_owned()))
    );
    world.books_are_sound();
}

#[tokio::test]
async fn after_the_last_short_name_comes_the_first_that_is_free_again() {
    let mut world = World::new().await;
    let (first, _) = world.gets_short_name(world.short()).await;
    let (second, _) = world.gets_short_name(world.short()).await;
    let wraps =
        |world: &World| world.raw().execute("UPDATE alias_counter SET last = 4294967294", []).unwrap();
    wraps(&world);
    world.restarts().await;
    let names = [world.gets_short_name(world.short()).await.1, world.gets_short_name(world.short()).await.1];
    assert_eq!(names, ["FFFFFFFF", "10000002"], "two are in use");
    // The first ends. Its name stays its own for as long as its customer may ask.
    assert_eq!(world.cancels(first).await, CancelOutcome::Cancelled);
    wraps(&world);
    world.restarts().await;
    world.passes(REPORT_KEPT).await;
    assert_eq!(world.gets_short_name(world.short()).await.1, "10000003");
    wraps(&world);
    world.restarts().await;
    world.passes(secs(1)).await;
    let (again, name) = world.gets_short_name(world.short()).await;
    assert_eq!(name, "10000000");
    assert_eq!(world.find(ALICE, "10000000").await, Some(again));
    assert_eq!(world.find(ALICE, "10000001").await, Some(second));
    world.books_are_sound();
}

#[tokio::test]
async fn without_a_free_short_name_nothing_is_accepted() {
    let mut world = World::new().await;
    let (message, _) = world.gets_short_name(world.short()).await;
    let before = world.balance(ALICE).await;
    for number in 1..=64 {
        let insert = "INSERT INTO alias (account, alias, message) VALUES (1, ?1, ?2)";
        world.raw().execute(insert, (0x1000_0000 + number, message.as_i64())).unwrap();
    }
    let refused = world.store.accept(Acceptance { key: Some(key(1)), ..world.short() }).await.unwrap();
    assert_eq!(refused, AcceptOutcome::NoAliasFree);
    assert_eq!(world.balance(ALICE).await, before);
    assert_eq!(world.store.find_key(key(1)).await.unwrap(), None);
    world.sends(world.smpp(1)).await;
    world.raw().execute("DELETE FROM alias WHERE alias > ?1", [0x1000_0000]).unwrap();
    assert_eq!(world.gets_short_name(world.short()).await.1, "10000001");
    world.restarts().await;
    world.books_are_sound();
}

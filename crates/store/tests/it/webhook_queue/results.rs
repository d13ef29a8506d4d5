//! Results of webhook posts: retries and event ids survive the process, and no event is settled twice.

use super::{DLRS, MESSAGES, dlr};
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::time::Timestamp;
use hermod_store::{
    Acceptance, AfterAttempt, AttemptOutcome, Endpoint, EventId, GiveUpReason, RESPONSE_KEPT_BYTES_MAX,
    SettledAttempt, WEBHOOK_ATTEMPTS_KEPT, WEBHOOKS_KEPT, WebhookAttempt, WebhookEvent, WebhookFilter,
    WebhookState,
};
use std::time::Duration;
use tokio::task::JoinSet;

pub(crate) fn attempt(at: Timestamp, outcome: AttemptOutcome) -> WebhookAttempt {
    WebhookAttempt { at, took: Duration::from_millis(12), outcome, response: b"so be it".to_vec() }
}

/// Returns the result of one post: the HTTP status and what follows from it.
pub(crate) fn settled(
    event: &WebhookEvent,
    status: u16,
    next: AfterAttempt,
    now: Timestamp,
) -> SettledAttempt {
    let attempt = Some(attempt(now, AttemptOutcome::Status(status)));
    SettledAttempt { endpoint: event.endpoint(), event: event.id, failures: event.failures, attempt, next }
}

impl World {
    pub(crate) async fn settle_events(&self, settled: Vec<SettledAttempt>) {
        self.store.webhooks().settle(settled, self.now).await.expect("the store writes");
    }

    /// Settles the events as delivered.
    pub(crate) async fn settle_as_delivered(&self, events: &[WebhookEvent]) {
        let done = events.iter().map(|event| settled(event, 204, AfterAttempt::Delivered, self.now));
        self.settle_events(done.collect()).await;
    }

    /// Settles the events as failed.
    pub(crate) async fn settle_as_failed(&self, events: &[WebhookEvent]) {
        let next = AfterAttempt::GiveUp(GiveUpReason::AttemptsUsedUp);
        self.settle_events(events.iter().map(|event| settled(event, 500, next, self.now)).collect()).await;
    }

    pub(crate) async fn state_of(&self, event: EventId) -> Option<WebhookState> {
        let found = self.store.webhooks().find(ALICE, event).await.expect("the store answers");
        found.map(|record| record.state)
    }
}

#[tokio::test]
async fn delivered_event_is_not_due_again_after_a_kill() {
    let mut world = World::with_webhooks().await;
    world.send_with_receipts(world.sms(), "a", &[DeliveryOutcome::Delivered]).await;
    world.send_with_receipts(world.sms(), "b", &[DeliveryOutcome::Delivered]).await;
    let due = world.due_events().await;
    world.settle_as_delivered(&due[..1]).await;
    assert_eq!(world.due_events().await, due[1..]);
    assert_eq!(world.state_of(due[0].id).await, Some(WebhookState::Delivered));
    world.kill();
    assert_eq!(world.due_events().await, due[1..]);
    world.settle_as_delivered(&due[1..]).await;
    assert_eq!(world.store.webhooks().waiting().await.unwrap(), []);
    world.assert_audit_clean();
}

#[tokio::test]
async fn retry_is_due_at_its_time_over_kills_and_restarts() {
    let mut world = World::with_webhooks().await;
    world.send_with_receipts(world.sms(), "a", &[DeliveryOutcome::Delivered]).await;
    let event = world.due_events().await.remove(0);
    let at = world.now.plus(secs(50));
    world.settle_events(vec![settled(&event, 503, AfterAttempt::RetryAt(at), world.now)]).await;
    let page = world.page(DLRS).await;
    assert_eq!((page.events.len(), page.next_due), (0, Some(at)));
    world.kill();
    assert_eq!(world.store.webhooks().waiting().await.unwrap(), [(DLRS, at)]);
    world.advance(secs(49)).await;
    assert_eq!(world.due_events().await, []);
    world.restart().await;
    world.advance(secs(1)).await;
    let again = world.due_events().await.remove(0);
    assert_eq!((again.id, &again.content), (event.id, &event.content), "the same id and body");
    assert_eq!((again.failures, again.attempts, again.due_at), (1, 1, at));
    // New events are due beside it.
    world.enable_webhooks();
    world.send_with_receipts(world.sms(), "b", &[DeliveryOutcome::Delivered]).await;
    assert!(world.due_events().await[1].id > event.id);
    world.assert_audit_clean();
}

#[tokio::test]
async fn due_events_are_taken_in_pages_in_order() {
    let world = World::with_webhooks().await;
    for place in 0..5 {
        world.send_with_receipts(world.sms(), &format!("id{place}"), &[DeliveryOutcome::Delivered]).await;
    }
    let all = world.due_events().await;
    assert!(all.is_sorted_by_key(|event| (event.due_at, event.id)));
    let (mut taken, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.webhooks().take(DLRS, after, world.now, 2).await.unwrap();
        let last = page.events.last().map(|event| (event.due_at, event.id));
        taken.extend(page.events);
        assert_eq!(page.next_due, (taken.len() < 5).then_some(world.now));
        if page.next_due.is_none() {
            break;
        }
        after = last;
    }
    assert_eq!(taken, all);
    assert_eq!(
        world.store.webhooks().take(DLRS, None, world.now.minus(secs(1)), 2).await.unwrap().events,
        []
    );
    let bobs = Endpoint { account: BOB, ..DLRS };
    assert_eq!(world.store.webhooks().take(bobs, None, world.now, 9).await.unwrap().events, []);
}

#[tokio::test]
async fn failed_event_has_its_reason_and_settling_it_again_changes_nothing() {
    let world = World::with_webhooks().await;
    for id in ["a", "b"] {
        world.send_with_receipts(world.sms(), id, &[DeliveryOutcome::Delivered]).await;
    }
    let due = world.due_events().await;
    let (used_up, no_address) = (GiveUpReason::AttemptsUsedUp, GiveUpReason::NoAddress);
    let nowhere =
        SettledAttempt { attempt: None, ..settled(&due[1], 0, AfterAttempt::GiveUp(no_address), world.now) };
    world.settle_events(vec![settled(&due[0], 500, AfterAttempt::GiveUp(used_up), world.now), nowhere]).await;
    let states = [WebhookState::Failed(used_up), WebhookState::Failed(no_address)];
    for (event, state) in due.iter().zip(states) {
        assert_eq!(world.state_of(event.id).await, Some(state));
    }
    // Settling again with the same or another result: the first one stays.
    world.settle_as_delivered(&due).await;
    let later = AfterAttempt::RetryAt(world.now);
    let unknown =
        SettledAttempt { event: EventId(99), ..settled(&due[0], 200, AfterAttempt::Delivered, world.now) };
    world.settle_events(vec![settled(&due[0], 500, later, world.now), unknown]).await;
    assert_eq!(world.due_events().await, []);
    let records = world.store.webhooks().list(ALICE, WebhookFilter::default(), None, 9).await.unwrap();
    let shown: Vec<_> = records.iter().map(|record| (record.state, record.attempts)).collect();
    assert_eq!(shown, [(states[1], 1), (states[0], 3)], "each attempt is recorded");
    assert_eq!(world.store.webhooks().attempts(ALICE, due[0].id).await.unwrap().unwrap().len(), 3);
    world.assert_audit_clean();
}

#[tokio::test]
async fn concurrent_results_end_each_event_once() {
    let world = World::with_webhooks().await;
    for _ in 0..40 {
        world.send(Acceptance { validity: secs(60), ..world.sms() }).await;
    }
    world.sweep(world.now.plus(secs(60))).await;
    let due = world.store.webhooks().take(DLRS, None, world.now.plus(secs(60)), 100).await.unwrap().events;
    assert_eq!(due.len(), 40);
    let mut settling = JoinSet::new();
    for event in due.iter().chain(&due) {
        let (store, now) = (world.store.clone(), world.now);
        let done = vec![settled(event, 200, AfterAttempt::Delivered, now)];
        settling.spawn(async move { store.webhooks().settle(done, now).await });
    }
    assert!(settling.join_all().await.iter().all(Result::is_ok));
    assert_eq!(world.store.webhooks().waiting().await.unwrap(), []);
    for event in &due {
        assert_eq!(world.state_of(event.id).await, Some(WebhookState::Delivered));
        assert_eq!(world.store.webhooks().attempts(ALICE, event.id).await.unwrap().unwrap().len(), 2);
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn attempts_are_stored_up_to_their_limits() {
    let world = World::with_webhooks().await;
    world.send_with_receipts(world.sms(), "a", &[DeliveryOutcome::Delivered]).await;
    let event = world.due_events().await.remove(0);
    let retry = |attempt| SettledAttempt {
        attempt: Some(attempt),
        ..settled(&event, 0, AfterAttempt::RetryAt(world.now), world.now)
    };
    let refused = attempt(world.now, AttemptOutcome::Status(404));
    let failed = attempt(world.now, AttemptOutcome::Failed("the connection was refused".to_owned()));
    world.settle_events(vec![retry(refused.clone()), retry(failed.clone())]).await;
    let kept = world.store.webhooks().attempts(ALICE, event.id).await.unwrap();
    assert_eq!(kept, Some(vec![refused, failed]));
    let long = WebhookAttempt {
        response: vec![b'x'; RESPONSE_KEPT_BYTES_MAX + 1],
        ..attempt(world.now, AttemptOutcome::Failed("y".repeat(1_000)))
    };
    for _ in 0..WEBHOOK_ATTEMPTS_KEPT {
        world.settle_events(vec![retry(long.clone())]).await;
    }
    let kept = world.store.webhooks().attempts(ALICE, event.id).await.unwrap().unwrap();
    assert_eq!(
        kept.len(),
        usize::try_from(WEBHOOK_ATTEMPTS_KEPT).unwrap(),
        "the oldest attempts were deleted"
    );
    assert_eq!(kept[0].response.len(), RESPONSE_KEPT_BYTES_MAX);
    assert_eq!(kept[0].outcome, AttemptOutcome::Failed("y".repeat(300)));
    assert_eq!(world.due_events().await[0].attempts, WEBHOOK_ATTEMPTS_KEPT + 2);
    assert_eq!(
        world.store.webhooks().attempts(BOB, event.id).await.unwrap(),
        None,
        "another account cannot read them"
    );
    assert_eq!(world.store.webhooks().attempts(ALICE, EventId(99)).await.unwrap(), None);
    world.assert_audit_clean();
}

#[tokio::test]
async fn event_whose_message_was_deleted_fails_and_holds_up_no_other() {
    let world = World::with_webhooks().await;
    for id in ["a", "b"] {
        world.send_with_receipts(world.sms(), id, &[DeliveryOutcome::Delivered]).await;
        world.receive_inbound("hi").await;
    }
    let (due, received) = (world.due_events().await, world.page(MESSAGES).await.events);
    let raw = world.raw();
    raw.change_with("DELETE FROM message WHERE id = ?1", &[dlr(&due[0]).message.as_i64()]);
    raw.change("DELETE FROM inbound WHERE id = 1");
    assert_eq!(world.due_events().await, due[1..]);
    assert_eq!(world.page(MESSAGES).await.events, received[1..]);
    world.flush().await;
    for gone in [due[0].id, received[0].id] {
        assert_eq!(world.state_of(gone).await, Some(WebhookState::Failed(GiveUpReason::NothingToTell)));
    }
    assert_eq!(world.state_of(due[1].id).await, Some(WebhookState::Waiting));
}

#[tokio::test]
async fn invalid_event_fails_and_an_unreadable_table_is_an_error() {
    let world = World::with_webhooks().await;
    for id in ["a", "b"] {
        world.send_with_receipts(world.sms(), id, &[DeliveryOutcome::Delivered]).await;
    }
    world.receive_inbound("hi").await;
    let (due, received) = (world.due_events().await, world.page(MESSAGES).await.events);
    let raw = world.raw();
    raw.change_with("UPDATE webhook SET failures = -1 WHERE id = ?1", &[due[0].id.0.cast_signed()]);
    assert_eq!(world.due_events().await, due[1..]);
    world.flush().await;
    assert_eq!(world.state_of(due[0].id).await, Some(WebhookState::Failed(GiveUpReason::NothingToTell)));
    raw.change("ALTER TABLE inbound RENAME TO elsewhere");
    let fault =
        world.store.webhooks().take(MESSAGES, None, world.now, 9).await.expect_err("nothing can be read");
    let missing = ["no such table", "relation \"inbound\" does not exist"];
    assert!(missing.iter().any(|text| fault.to_string().contains(text)), "{fault}");
    world.flush().await;
    raw.change("ALTER TABLE elsewhere RENAME TO inbound");
    assert_eq!(world.page(MESSAGES).await.events, received);
}

#[tokio::test]
async fn event_behind_many_unusable_ones_is_found() {
    let mut world = World::with_webhooks().await;
    world.expire_messages(1_101).await;
    let raw = world.raw();
    let forget = "DELETE FROM message WHERE id IN (SELECT message FROM webhook ORDER BY id LIMIT ?1)";
    // Fewer than one read skips.
    raw.change_with(forget, &[400]);
    let page = world.store.webhooks().take(DLRS, None, world.now, 2).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.id.0).collect::<Vec<_>>(), [401, 402]);
    assert_eq!(page.next_due, Some(world.now));
    world.flush().await;
    assert_eq!(world.store.webhooks().figures(ALICE).await.unwrap()[0].failed, 400);
    // More than one read skips: the next read is due a second later.
    raw.change_with(forget, &[700]);
    for given_up in [900, 1_100] {
        let page = world.store.webhooks().take(DLRS, None, world.now, 2).await.unwrap();
        world.flush().await;
        assert_eq!(world.store.webhooks().figures(ALICE).await.unwrap()[0].failed, given_up);
        if given_up == 900 {
            assert_eq!((page.events.len(), page.next_due), (0, Some(world.now.plus(secs(1)))));
        } else {
            assert_eq!((page.events[0].id.0, page.next_due), (1_101, None));
        }
    }
}

#[tokio::test]
async fn event_ids_are_not_reused_after_purge_and_restart() {
    let mut world = World::with_webhooks().await;
    world.send_with_receipts(world.sms(), "a", &[DeliveryOutcome::Delivered]).await;
    let first = world.due_events().await;
    world.settle_as_delivered(&first).await;
    // The event is deleted, and there is no other.
    world.advance(WEBHOOKS_KEPT + secs(1)).await;
    world.purge_all().await;
    assert_eq!(world.state_of(first[0].id).await, None);
    world.restart().await;
    world.enable_webhooks();
    world.send_with_receipts(world.sms(), "b", &[DeliveryOutcome::Delivered]).await;
    assert!(world.due_events().await[0].id > first[0].id);
}

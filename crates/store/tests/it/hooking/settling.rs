//! What came of posting: due times and numbers outlive the process, and nothing is settled twice.

use super::{DLRS, MESSAGES, dlr};
use crate::world::*;
use hermod_domain::lifecycle::Verdict;
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

/// An answer to an event, and what follows from it.
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
    pub(crate) async fn settles_all(&self, settled: Vec<SettledAttempt>) {
        self.store.settle_webhooks(settled, self.now).await.expect("the store writes");
    }

    /// The receiver has taken these.
    pub(crate) async fn has_posted(&self, events: &[WebhookEvent]) {
        let done = events.iter().map(|event| settled(event, 204, AfterAttempt::Delivered, self.now));
        self.settles_all(done.collect()).await;
    }

    /// These will never be taken.
    pub(crate) async fn gives_up(&self, events: &[WebhookEvent]) {
        let next = AfterAttempt::GiveUp(GiveUpReason::AttemptsUsedUp);
        self.settles_all(events.iter().map(|event| settled(event, 500, next, self.now)).collect()).await;
    }

    pub(crate) async fn state_of(&self, event: EventId) -> Option<WebhookState> {
        let found = self.store.webhook_event(ALICE, event).await.expect("the store answers");
        found.map(|record| record.state)
    }
}

#[tokio::test]
async fn what_was_posted_is_not_due_any_more_and_never_again() {
    let mut world = World::with_webhooks().await;
    world.goes(world.sms(), "a", &[Verdict::Delivered]).await;
    world.goes(world.sms(), "b", &[Verdict::Delivered]).await;
    let due = world.due().await;
    world.has_posted(&due[..1]).await;
    assert_eq!(world.due().await, due[1..]);
    assert_eq!(world.state_of(due[0].id).await, Some(WebhookState::Delivered));
    world.is_killed();
    assert_eq!(world.due().await, due[1..]);
    world.has_posted(&due[1..]).await;
    assert_eq!(world.store.webhooks_waiting().await.unwrap(), []);
    world.books_are_sound();
}

#[tokio::test]
async fn a_retry_is_due_at_its_time_whatever_happens_to_the_process() {
    let mut world = World::with_webhooks().await;
    world.goes(world.sms(), "a", &[Verdict::Delivered]).await;
    let event = world.due().await.remove(0);
    let at = world.now.plus(secs(50));
    world.settles_all(vec![settled(&event, 503, AfterAttempt::RetryAt(at), world.now)]).await;
    let page = world.page(DLRS).await;
    assert_eq!((page.events.len(), page.next_due), (0, Some(at)));
    world.is_killed();
    assert_eq!(world.store.webhooks_waiting().await.unwrap(), [(DLRS, at)]);
    world.passes(secs(49)).await;
    assert_eq!(world.due().await, []);
    world.restarts().await;
    world.passes(secs(1)).await;
    let again = world.due().await.remove(0);
    assert_eq!((again.id, &again.content), (event.id, &event.content), "the same id and body");
    assert_eq!((again.failures, again.attempts, again.due_at), (1, 1, at));
    // New events stand beside it.
    world.tells_alice();
    world.goes(world.sms(), "b", &[Verdict::Delivered]).await;
    assert!(world.due().await[1].id > event.id);
    world.books_are_sound();
}

#[tokio::test]
async fn due_events_come_in_pages_in_order() {
    let world = World::with_webhooks().await;
    for place in 0..5 {
        world.goes(world.sms(), &format!("id{place}"), &[Verdict::Delivered]).await;
    }
    let all = world.due().await;
    assert!(all.is_sorted_by_key(|event| (event.due_at, event.id)));
    let (mut taken, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.take_webhooks(DLRS, after, world.now, 2).await.unwrap();
        let last = page.events.last().map(|event| (event.due_at, event.id));
        taken.extend(page.events);
        assert_eq!(page.next_due, (taken.len() < 5).then_some(world.now));
        if page.next_due.is_none() {
            break;
        }
        after = last;
    }
    assert_eq!(taken, all);
    assert_eq!(world.store.take_webhooks(DLRS, None, world.now.minus(secs(1)), 2).await.unwrap().events, []);
    let bobs = Endpoint { account: BOB, ..DLRS };
    assert_eq!(world.store.take_webhooks(bobs, None, world.now, 9).await.unwrap().events, []);
}

#[tokio::test]
async fn what_is_given_up_says_why_and_settling_twice_changes_nothing() {
    let world = World::with_webhooks().await;
    for id in ["a", "b"] {
        world.goes(world.sms(), id, &[Verdict::Delivered]).await;
    }
    let due = world.due().await;
    let (used_up, no_address) = (GiveUpReason::AttemptsUsedUp, GiveUpReason::NoAddress);
    let nowhere =
        SettledAttempt { attempt: None, ..settled(&due[1], 0, AfterAttempt::GiveUp(no_address), world.now) };
    world.settles_all(vec![settled(&due[0], 500, AfterAttempt::GiveUp(used_up), world.now), nowhere]).await;
    let states = [WebhookState::Failed(used_up), WebhookState::Failed(no_address)];
    for (event, state) in due.iter().zip(states) {
        assert_eq!(world.state_of(event.id).await, Some(state));
    }
    // The same once more, and other ends: whichever was first stays.
    world.has_posted(&due).await;
    let later = AfterAttempt::RetryAt(world.now);
    let unknown =
        SettledAttempt { event: EventId(99), ..settled(&due[0], 200, AfterAttempt::Delivered, world.now) };
    world.settles_all(vec![settled(&due[0], 500, later, world.now), unknown]).await;
    assert_eq!(world.due().await, []);
    let records = world.store.webhook_events(ALICE, WebhookFilter::default(), None, 9).await.unwrap();
    let shown: Vec<_> = records.iter().map(|record| (record.state, record.attempts)).collect();
    assert_eq!(shown, [(states[1], 1), (states[0], 3)], "each attempt is recorded");
    assert_eq!(world.store.webhook_attempts(ALICE, due[0].id).await.unwrap().unwrap().len(), 3);
    world.books_are_sound();
}

#[tokio::test]
async fn many_settle_at_once_and_each_event_ends_once() {
    let world = World::with_webhooks().await;
    for _ in 0..40 {
        world.sends(Acceptance { validity: secs(60), ..world.sms() }).await;
    }
    world.sweeps(world.now.plus(secs(60))).await;
    let due = world.store.take_webhooks(DLRS, None, world.now.plus(secs(60)), 100).await.unwrap().events;
    assert_eq!(due.len(), 40);
    let mut settling = JoinSet::new();
    for event in due.iter().chain(&due) {
        let (store, now) = (world.store.clone(), world.now);
        let done = vec![settled(event, 200, AfterAttempt::Delivered, now)];
        settling.spawn(async move { store.settle_webhooks(done, now).await });
    }
    assert!(settling.join_all().await.iter().all(Result::is_ok));
    assert_eq!(world.store.webhooks_waiting().await.unwrap(), []);
    for event in &due {
        assert_eq!(world.state_of(event.id).await, Some(WebhookState::Delivered));
        assert_eq!(world.store.webhook_attempts(ALICE, event.id).await.unwrap().unwrap().len(), 2);
    }
    world.books_are_sound();
}

#[tokio::test]
async fn attempts_are_kept_as_they_were_up_to_their_limits() {
    let world = World::with_webhooks().await;
    world.goes(world.sms(), "a", &[Verdict::Delivered]).await;
    let event = world.due().await.remove(0);
    let retry = |attempt| SettledAttempt {
        attempt: Some(attempt),
        ..settled(&event, 0, AfterAttempt::RetryAt(world.now), world.now)
    };
    let refused = attempt(world.now, AttemptOutcome::Status(404));
    let failed = attempt(world.now, AttemptOutcome::Failed("the connection was refused".to_owned()));
    world.settles_all(vec![retry(refused.clone()), retry(failed.clone())]).await;
    let kept = world.store.webhook_attempts(ALICE, event.id).await.unwrap();
    assert_eq!(kept, Some(vec![refused, failed]));
    let long = WebhookAttempt {
        response: vec![b'x'; RESPONSE_KEPT_BYTES_MAX + 1],
        ..attempt(world.now, AttemptOutcome::Failed("y".repeat(1_000)))
    };
    for _ in 0..WEBHOOK_ATTEMPTS_KEPT {
        world.settles_all(vec![retry(long.clone())]).await;
    }
    let kept = world.store.webhook_attempts(ALICE, event.id).await.unwrap().unwrap();
    assert_eq!(kept.len(), usize::try_from(WEBHOOK_ATTEMPTS_KEPT).unwrap(), "the oldest have gone");
    assert_eq!(kept[0].response.len(), RESPONSE_KEPT_BYTES_MAX);
    assert_eq!(kept[0].outcome, AttemptOutcome::Failed("y".repeat(300)));
    assert_eq!(world.due().await[0].attempts, WEBHOOK_ATTEMPTS_KEPT + 2);
    assert_eq!(world.store.webhook_attempts(BOB, event.id).await.unwrap(), None, "nobody else's");
    assert_eq!(world.store.webhook_attempts(ALICE, EventId(99)).await.unwrap(), None);
    world.books_are_sound();
}

#[tokio::test]
async fn an_event_whose_message_is_gone_is_given_up_and_keeps_nobody_waiting() {
    let world = World::with_webhooks().await;
    for id in ["a", "b"] {
        world.goes(world.sms(), id, &[Verdict::Delivered]).await;
        world.receives("hi").await;
    }
    let (due, received) = (world.due().await, world.page(MESSAGES).await.events);
    let raw = world.raw();
    raw.execute("DELETE FROM message WHERE id = ?1", [dlr(&due[0]).message.as_i64()]).unwrap();
    raw.execute("DELETE FROM inbound WHERE id = 1", []).unwrap();
    assert_eq!(world.due().await, due[1..]);
    assert_eq!(world.page(MESSAGES).await.events, received[1..]);
    world.settles().await;
    for gone in [due[0].id, received[0].id] {
        assert_eq!(world.state_of(gone).await, Some(WebhookState::Failed(GiveUpReason::NothingToTell)));
    }
    assert_eq!(world.state_of(due[1].id).await, Some(WebhookState::Waiting));
}

#[tokio::test]
async fn what_makes_no_sense_is_given_up_and_what_cannot_be_read_now_is_not() {
    let world = World::with_webhooks().await;
    for id in ["a", "b"] {
        world.goes(world.sms(), id, &[Verdict::Delivered]).await;
    }
    world.receives("hi").await;
    let (due, received) = (world.due().await, world.page(MESSAGES).await.events);
    let raw = world.raw();
    raw.execute("UPDATE webhook SET failures = -1 WHERE id = ?1", [due[0].id.0.cast_signed()]).unwrap();
    assert_eq!(world.due().await, due[1..]);
    world.settles().await;
    assert_eq!(world.state_of(due[0].id).await, Some(WebhookState::Failed(GiveUpReason::NothingToTell)));
    raw.execute_batch("ALTER TABLE inbound RENAME TO elsewhere").unwrap();
    let fault =
        world.store.take_webhooks(MESSAGES, None, world.now, 9).await.expect_err("nothing can be read");
    assert!(fault.to_string().contains("no such table"), "{fault}");
    world.settles().await;
    raw.execute_batch("ALTER TABLE elsewhere RENAME TO inbound").unwrap();
    assert_eq!(world.page(MESSAGES).await.events, received);
}

#[tokio::test]
async fn what_can_be_told_is_found_behind_what_cannot() {
    let mut world = World::with_webhooks().await;
    world.expires(1_101).await;
    let raw = world.raw();
    let forget = "DELETE FROM message WHERE id IN (SELECT message FROM webhook ORDER BY id LIMIT ?1)";
    // Fewer than one read passes over.
    raw.execute(forget, [400]).unwrap();
    let page = world.store.take_webhooks(DLRS, None, world.now, 2).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.id.0).collect::<Vec<_>>(), [401, 402]);
    assert_eq!(page.next_due, Some(world.now));
    world.settles().await;
    assert_eq!(world.store.webhook_figures(ALICE).await.unwrap()[0].failed, 400);
    // More: it takes a while, and nobody asks in vain again and again.
    raw.execute(forget, [700]).unwrap();
    for given_up in [900, 1_100] {
        let page = world.store.take_webhooks(DLRS, None, world.now, 2).await.unwrap();
        world.settles().await;
        assert_eq!(world.store.webhook_figures(ALICE).await.unwrap()[0].failed, given_up);
        if given_up == 900 {
            assert_eq!((page.events.len(), page.next_due), (0, Some(world.now.plus(secs(1)))));
        } else {
            assert_eq!((page.events[0].id.0, page.next_due), (1_101, None));
        }
    }
}

#[tokio::test]
async fn numbers_are_never_given_again() {
    let mut world = World::with_webhooks().await;
    world.goes(world.sms(), "a", &[Verdict::Delivered]).await;
    let first = world.due().await;
    world.has_posted(&first).await;
    // Long forgotten, and nothing else came.
    world.passes(WEBHOOKS_KEPT + secs(1)).await;
    world.purges().await;
    assert_eq!(world.state_of(first[0].id).await, None);
    world.restarts().await;
    world.tells_alice();
    world.goes(world.sms(), "b", &[Verdict::Delivered]).await;
    assert!(world.due().await[0].id > first[0].id);
}

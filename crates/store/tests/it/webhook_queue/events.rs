//! Webhook events: listing, replay and deletion.

use super::results::settled;
use super::{DLRS, EXPIRED, MESSAGES, assert_no_wakeup, woken_endpoints};
use crate::retention::KEEP;
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::webhook::WebhookKind;
use hermod_store::{
    Acceptance, AfterAttempt, Endpoint, EventId, FAILED_PASSED_OVER_MAX, GiveUpReason, ReplayProgress,
    WEBHOOKS_COUNTED_MAX, WEBHOOKS_KEPT, WebhookFigures, WebhookFilter, WebhookRecord, WebhookReplay,
    WebhookState, WebhookStatus,
};

impl World {
    async fn list(&self, kind: Option<WebhookKind>, status: Option<WebhookStatus>) -> Vec<u64> {
        let filter = WebhookFilter { kind, status };
        let listed = self.store.webhooks().list(ALICE, filter, None, 100).await.expect("the store answers");
        listed.iter().map(|record| record.id.0).collect()
    }

    /// Lets `count` messages expire in the queue.
    pub(crate) async fn expire_messages(&mut self, count: usize) {
        for _ in 0..count {
            self.send(Acceptance { validity: secs(1), ..self.sms() }).await;
        }
        self.advance(secs(1)).await;
        self.sweep(self.now).await;
    }
}

#[tokio::test]
async fn events_are_listed_newest_first_by_kind_and_state() {
    let mut world = World::with_webhooks().await;
    // 1, 3, 5: delivery reports; 2, 4, 6: MO messages.
    for _ in 0..3 {
        world.expire_messages(1).await;
        world.receive_inbound("hi").await;
    }
    let (dlrs, messages) = (world.due_events().await, world.page(MESSAGES).await.events);
    world.settle_as_delivered(&[dlrs[0].clone(), messages[0].clone()]).await;
    world.settle_as_failed(&[dlrs[1].clone(), messages[2].clone()]).await;
    let (dlr, inbound) = (Some(WebhookKind::Dlr), Some(WebhookKind::Inbound));
    let [waiting, delivered, failed] =
        [WebhookStatus::Waiting, WebhookStatus::Delivered, WebhookStatus::Failed].map(Some);
    for (kind, status, expect) in [
        (None, None, &[6, 5, 4, 3, 2, 1][..]),
        (dlr, None, &[5, 3, 1]),
        (inbound, None, &[6, 4, 2]),
        (None, waiting, &[5, 4]),
        (None, delivered, &[2, 1]),
        (None, failed, &[6, 3]),
        (dlr, failed, &[3]),
        (inbound, delivered, &[2]),
    ] {
        assert_eq!(world.list(kind, status).await, expect, "{kind:?} {status:?}");
    }
    let page =
        world.store.webhooks().list(ALICE, WebhookFilter::default(), Some(EventId(5)), 2).await.unwrap();
    assert_eq!(page.iter().map(|record| record.id.0).collect::<Vec<_>>(), [4, 3]);
    assert!(page.iter().all(|record| record.state.status() != WebhookStatus::Delivered));
    assert_eq!(world.store.webhooks().list(BOB, WebhookFilter::default(), None, 9).await.unwrap(), []);
    let record = world.store.webhooks().find(ALICE, dlrs[1].id).await.unwrap();
    let expect = WebhookRecord {
        id: dlrs[1].id,
        account: ALICE,
        kind: WebhookKind::Dlr,
        message: super::dlr(&dlrs[1]).message,
        status: Some(EXPIRED),
        state: WebhookState::Failed(GiveUpReason::AttemptsUsedUp),
        attempts: 1,
        at: dlrs[1].due_at,
        due_at: None,
        ended_at: Some(world.now),
    };
    assert_eq!(record, Some(expect));
    assert_eq!(world.store.webhooks().find(BOB, dlrs[1].id).await.unwrap(), None);
    let figures = [
        WebhookFigures { kind: WebhookKind::Dlr, waiting: 1, oldest: Some(dlrs[2].due_at), failed: 1 },
        WebhookFigures {
            kind: WebhookKind::Inbound,
            waiting: 1,
            oldest: Some(messages[1].due_at),
            failed: 1,
        },
    ];
    assert_eq!(world.store.webhooks().figures(ALICE).await.unwrap(), figures);
    world.assert_audit_clean();
}

#[tokio::test]
async fn figures_and_list_of_very_many_events_stop_at_their_limit() {
    let mut world = World::with_webhooks().await;
    world.expire_messages(2).await;
    let due = world.due_events().await;
    world.settle_as_delivered(&due[..1]).await;
    let many = |table, columns, values, from, to| {
        let rows = format!(
            "WITH RECURSIVE n (id) AS (VALUES ({from}) UNION ALL SELECT id + 1 FROM n WHERE id < {to})
             INSERT INTO {table} (account, kind, id, attempts, message, at, told, err, form, connection, {columns})
             SELECT 1, 1, id, 1, 1, 1, 2, 0, 1, 1, {values} FROM n"
        );
        world.raw().change(&rows);
    };
    many("webhook", "due_at, failures", "1, 0", 1_000_000, 1_000_000 + WEBHOOKS_COUNTED_MAX);
    let first_failed = 10;
    many("webhook_past", "state, ended_at", "2, 1", first_failed, first_failed + FAILED_PASSED_OVER_MAX + 9);
    let figures = world.store.webhooks().figures(ALICE).await.unwrap();
    let most = u64::from(WEBHOOKS_COUNTED_MAX);
    assert_eq!((figures[0].waiting, figures[0].failed), (most, most), "the figures stop at the limit");
    let delivered = WebhookFilter { kind: None, status: Some(WebhookStatus::Delivered) };
    let listed = world.store.webhooks().list(ALICE, delivered, None, 5).await.unwrap();
    assert_eq!(listed, [], "the list stops before it finds one");
    let below = Some(EventId(u64::from(first_failed) + 5));
    let listed = world.store.webhooks().list(ALICE, delivered, below, 5).await.unwrap();
    assert_eq!(listed.iter().map(|record| record.id).collect::<Vec<_>>(), [due[0].id]);
}

#[tokio::test]
async fn replay_has_the_same_event_id_and_body_and_a_new_retry_schedule() {
    let mut world = World::with_webhooks().await;
    world.send_with_receipts(world.sms(), "a", &[DeliveryOutcome::Delivered]).await;
    let event = world.due_events().await.remove(0);
    woken_endpoints(&world.store).await;
    // A waiting event, a failed one and a delivered one.
    let in_an_hour = AfterAttempt::RetryAt(world.now.plus(secs(3600)));
    for (round, next) in [in_an_hour, AfterAttempt::GiveUp(GiveUpReason::NoAddress), AfterAttempt::Delivered]
        .into_iter()
        .enumerate()
    {
        world.settle_events(vec![settled(&event, 500, next, world.now)]).await;
        assert_eq!(world.due_events().await, []);
        assert_no_wakeup(&world.store).await;
        world.advance(secs(5)).await;
        let replayed = world.store.webhooks().replay(ALICE, event.id, world.now).await.unwrap();
        assert_eq!(replayed, WebhookReplay::Again);
        assert_eq!(woken_endpoints(&world.store).await, [DLRS]);
        let due = world.due_events().await.remove(0);
        assert_eq!((due.id, &due.content, due.due_at), (event.id, &event.content, world.now));
        assert_eq!((due.failures, due.attempts), (0, u32::try_from(round).unwrap() + 1));
        world.kill();
        assert_eq!(world.due_events().await, [due], "the replay survives a kill");
    }
    assert_eq!(world.store.webhooks().attempts(ALICE, event.id).await.unwrap().unwrap().len(), 3);
    for (account, id) in [(BOB, event.id), (ALICE, EventId(99))] {
        let told = world.store.webhooks().replay(account, id, world.now).await.unwrap();
        assert_eq!(told, WebhookReplay::Unknown);
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn attempt_that_ends_after_a_replay_does_not_undo_it() {
    let mut world = World::with_webhooks().await;
    world.send_with_receipts(world.sms(), "a", &[DeliveryOutcome::Delivered]).await;
    let id = world.due_events().await[0].id;
    let in_an_hour = |world: &World| AfterAttempt::RetryAt(world.now.plus(secs(3600)));
    let give_up = AfterAttempt::GiveUp(GiveUpReason::AttemptsUsedUp);
    let mut attempts = 0;
    for late in [in_an_hour(&world), give_up, AfterAttempt::Delivered] {
        world
            .settle_events(vec![settled(&world.due_events().await[0], 500, in_an_hour(&world), world.now)])
            .await;
        world.advance(secs(3600)).await;
        let taken = world.due_events().await.remove(0);
        assert_eq!(taken.failures, 1);
        world.store.webhooks().replay(ALICE, id, world.now).await.unwrap();
        woken_endpoints(&world.store).await;
        world.advance(secs(1)).await;
        world.settle_events(vec![settled(&taken, 500, late, world.now)]).await;
        attempts += 2;
        if late == AfterAttempt::Delivered {
            assert_eq!(world.state_of(id).await, Some(WebhookState::Delivered));
            break;
        }
        assert_eq!(
            woken_endpoints(&world.store).await,
            [DLRS],
            "the endpoint is woken because the event is due"
        );
        let due = world.due_events().await.remove(0);
        assert_eq!((due.id, due.failures, due.attempts), (id, 0, attempts));
    }
    assert_eq!(world.store.webhooks().attempts(ALICE, id).await.unwrap().unwrap().len(), 6);
    world.assert_audit_clean();
}

#[tokio::test]
async fn all_events_that_failed_since_a_time_are_replayed_in_steps() {
    let mut world = World::with_webhooks().await;
    world.expire_messages(7).await;
    world.receive_inbound("hi").await;
    let due = world.due_events().await;
    let received = world.page(MESSAGES).await.events;
    world.settle_as_failed(&due[..2]).await;
    world.advance(secs(60)).await;
    let since = world.now;
    world.settle_as_failed(&[&due[2..5], &received].concat()).await;
    world.settle_as_delivered(&due[5..6]).await;
    let mut steps = Vec::new();
    let mut after = None;
    loop {
        let step = world.store.webhooks().replay_failed(DLRS, since, after, 2, world.now).await.unwrap();
        steps.push(step.replayed);
        after = step.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(steps, [0, 2, 1], "each step reads two events");
    let ids = |events: &[hermod_store::WebhookEvent]| events.iter().map(|event| event.id).collect::<Vec<_>>();
    let mut again = ids(&world.due_events().await);
    again.sort_unstable();
    assert_eq!(again, ids(&[&due[2..5], &due[6..]].concat()), "the replayed events and the one that waited");
    assert_eq!(
        world.list(None, Some(WebhookStatus::Failed)).await.len(),
        3,
        "events that are older or of another kind stay failed"
    );
    let all =
        world.store.webhooks().replay_failed(DLRS, world.now.minus(secs(3600)), None, 100, world.now).await;
    assert_eq!(all.unwrap(), ReplayProgress { replayed: 2, next: None });
    let bobs = Endpoint { account: BOB, ..DLRS };
    let none = world.store.webhooks().replay_failed(bobs, since, None, 100, world.now).await;
    assert_eq!(none.unwrap(), ReplayProgress { replayed: 0, next: None });
    world.assert_audit_clean();
}

#[tokio::test]
async fn waiting_events_that_are_due_later_are_retried_at_once() {
    let mut world = World::with_webhooks().await;
    world.expire_messages(4).await;
    world.receive_inbound("hi").await;
    let due = world.due_events().await;
    world.settle_as_failed(&due[..1]).await;
    world.settle_as_delivered(&due[1..2]).await;
    let retry_at = world.now.plus(secs(3_600));
    world.settle_events(vec![settled(&due[2], 500, AfterAttempt::RetryAt(retry_at), world.now)]).await;
    assert_eq!(world.due_events().await.len(), 1, "one was never posted");
    let bobs = Endpoint { account: BOB, ..DLRS };
    assert_eq!(world.store.webhooks().retry_waiting(bobs, world.now).await.unwrap(), 0);
    assert_eq!(world.store.webhooks().retry_waiting(DLRS, world.now).await.unwrap(), 1);
    let mut again: Vec<_> = world.due_events().await.iter().map(|event| (event.id, event.failures)).collect();
    again.sort_unstable();
    assert_eq!(again, [(due[2].id, 0), (due[3].id, 0)], "with a new retry schedule");
    assert_eq!(world.store.webhooks().retry_waiting(DLRS, world.now).await.unwrap(), 0, "all are due");
    world.assert_audit_clean();
}

#[tokio::test]
async fn events_that_ended_long_ago_are_deleted_and_waiting_ones_are_kept() {
    let mut world = World::with_webhooks().await;
    // More than one purge step deletes.
    world.expire_messages(600).await;
    world.receive_inbound("hi").await;
    let due = world.due_events().await;
    assert_eq!(due.len(), 500);
    world.settle_as_delivered(&due).await;
    let rest = world.due_events().await;
    world.settle_as_failed(&rest[..98]).await;
    world.settle_as_delivered(&world.page(MESSAGES).await.events).await;
    let late = settled(&rest[98], 500, AfterAttempt::RetryAt(world.now), world.now);
    world.settle_events(vec![late]).await;
    world.advance(WEBHOOKS_KEPT - secs(1)).await;
    world.purge_all().await;
    assert_eq!(world.list(None, None).await.len(), 100);
    // A replayed event is kept from its last end on.
    world.store.webhooks().replay(ALICE, due[7].id, world.now).await.unwrap();
    world.settle_as_delivered(&due[7..8]).await;
    world.advance(secs(1)).await;
    world.purge_all().await;
    let left: Vec<_> = [&rest[99], &rest[98], &due[7]].map(|event| event.id.0).into();
    assert_eq!(world.list(None, None).await, left);
    let raw = world.raw();
    let attempts: i64 = raw.number("SELECT count(*) FROM webhook_attempt");
    assert_eq!(attempts, 3, "attempts are deleted with their events");
    world.advance(WEBHOOKS_KEPT).await;
    world.purge_all().await;
    assert_eq!(world.list(None, None).await, left[..2]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn old_event_behind_many_endpoints_with_new_ones_is_deleted_by_a_later_call() {
    let world = World::with_webhooks().await;
    let events = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
         INSERT INTO webhook_past (account, kind, id, state, ended_at, attempts, message, at)
         SELECT ?1 + i, 1, ?1 + i, 1, ?3, 1, 1, ?3 FROM n";
    world.raw().change_with(events, &[1_000, 6_000, world.now.as_millis()]);
    world.raw().change_with(events, &[10_000, 1, 1]);
    let rows = || -> i64 { world.raw().number("SELECT count(*) FROM webhook_past") };
    world.store.purge(KEEP, world.now).await.unwrap();
    assert_eq!(rows(), 6_001, "one call does not read all endpoints");
    world.store.purge(KEEP, world.now).await.unwrap();
    assert_eq!(rows(), 6_000);
}

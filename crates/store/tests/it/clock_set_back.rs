//! Restart with the right time after the clock was ahead: retries and expiries stay within their schedules.

use crate::webhook_queue::results::settled;
use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::{Acceptance, AfterAttempt, SubmitResponse};
use std::time::Duration;

const AHEAD: Duration = Duration::from_secs(2 * 86_400);
/// The longest wait of the schedule after temporary errors.
const RETRY_MAX: Duration = Duration::from_secs(660);

impl World {
    /// Restarts with the clock set back.
    async fn restart_with_clock_set_back(&mut self, to: hermod_domain::time::Timestamp) {
        self.store.close().await.expect("the store closes");
        self.now = to;
        self.reopen();
    }
}

#[tokio::test]
async fn retries_and_resends_of_a_clock_ahead_are_due_within_their_schedules_after_a_restart() {
    let mut world = World::new().await;
    let right = world.now;
    world.now = right.plus(AHEAD);
    let link = world.link_with_slots(2).await;
    let deferred = world.send(world.sms()).await;
    let in_doubt = world.send(world.sms()).await;
    let jobs = link.take_jobs(2).await;
    link.answer(&jobs[0], SubmitResponse::Temporary { status: 0x14, after: None }).await;
    link.answer(&jobs[1], SubmitResponse::NoResponse).await;
    world.flush().await;
    world.restart_with_clock_set_back(right).await;

    let link = world.link_with_slots(2).await;
    world.advance(IN_DOUBT_WAIT).await;
    assert_eq!(link.take_job().await.message, in_doubt);
    world.advance(RETRY_MAX).await;
    assert_eq!(link.take_job().await.message, deferred);
    for job in &jobs {
        link.accept(job, &job.message.to_string()).await;
        link.receipt(&job.message.to_string(), DeliveryOutcome::Delivered).await;
    }
    world.flush().await;
    assert_eq!(world.state(deferred).await, MessageState::Delivered);
    let next = world.send(world.sms()).await;
    assert!(next > deferred && next > in_doubt, "ids rise after the clock was set back");
    world.assert_audit_clean();
}

#[tokio::test]
async fn validity_that_began_with_a_clock_ahead_ends_within_72_hours_of_the_restart() {
    let mut world = World::new().await;
    let right = world.now;
    world.now = right.plus(AHEAD);
    let message = world.send(world.sms()).await;
    world.restart_with_clock_set_back(right).await;
    world.advance(VALIDITY).await;
    world.store.sweep(world.now).await.expect("a sweep");
    assert_eq!(world.state(message).await, MessageState::Expired);
    world.assert_audit_clean();
}

#[tokio::test]
async fn webhook_events_of_a_clock_ahead_are_due_by_their_failure_count_after_a_restart() {
    let mut world = World::with_webhooks().await;
    let right = world.now;
    world.now = right.plus(AHEAD);
    world
        .send_with_receipts(Acceptance { key: None, ..world.sms() }, "new", &[DeliveryOutcome::Delivered])
        .await;
    world.send_with_receipts(world.sms(), "failed", &[DeliveryOutcome::Delivered]).await;
    let due = world.due_events().await;
    let again = AfterAttempt::RetryAt(world.now.plus(Duration::from_secs(50)));
    world.settle_events(vec![settled(&due[1], 500, again, world.now)]).await;
    world.restart_with_clock_set_back(right).await;
    assert_eq!(world.due_events().await, [], "before the restart they are due in two days");

    let waits = vec![Duration::from_secs(55), Duration::from_secs(330)];
    assert_eq!(world.store.webhooks().limit_waits(waits.clone(), world.now).await.unwrap(), 2);
    world.now = world.now.plus(Duration::from_secs(5));
    assert_eq!(world.due_events().await.iter().map(|event| event.id).collect::<Vec<_>>(), [due[0].id]);
    world.now = world.now.plus(Duration::from_secs(50));
    assert_eq!(world.due_events().await.len(), 2);
    assert_eq!(
        world.store.webhooks().limit_waits(waits, world.now).await.unwrap(),
        0,
        "after the restart no event is due far in the future"
    );
    world.assert_audit_clean();
}

//! A gateway that ran with its clock ahead and is started again with the right time: what was to be done soon is done soon.

use crate::hooking::settling::settled;
use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_store::{Acceptance, AfterAttempt, SubmitResponse};
use std::time::Duration;

const AHEAD: Duration = Duration::from_secs(2 * 86_400);
/// The longest wait of the schedule after temporary errors.
const RETRY_MAX: Duration = Duration::from_secs(660);

impl World {
    /// The process ends, the clock is set right, and it starts again.
    async fn restarts_with_the_clock_set_back(&mut self, to: hermod_domain::time::Timestamp) {
        self.store.close().await.expect("the store closes");
        self.now = to;
        self.opens();
    }
}

#[tokio::test]
async fn retries_and_doubts_of_a_clock_ahead_are_due_within_their_schedules_after_a_restart() {
    let mut world = World::new().await;
    let right = world.now;
    world.now = right.plus(AHEAD);
    let link = world.link_with_room(2).await;
    let deferred = world.sends(world.sms()).await;
    let in_doubt = world.sends(world.sms()).await;
    let jobs = link.takes_jobs(2).await;
    link.answers(&jobs[0], SubmitResponse::Temporary { status: 0x14, after: None }).await;
    link.answers(&jobs[1], SubmitResponse::NoResponse).await;
    world.settles().await;
    world.restarts_with_the_clock_set_back(right).await;

    let link = world.link_with_room(2).await;
    world.passes(IN_DOUBT_WAIT).await;
    assert_eq!(link.takes_job().await.message, in_doubt);
    world.passes(RETRY_MAX).await;
    assert_eq!(link.takes_job().await.message, deferred);
    for job in &jobs {
        link.accepts(job, &job.message.to_string()).await;
        link.receipt(&job.message.to_string(), Verdict::Delivered).await;
    }
    world.settles().await;
    assert_eq!(world.state(deferred).await, MessageState::Delivered);
    let next = world.sends(world.sms()).await;
    assert!(next > deferred && next > in_doubt, "ids rise whatever the clock says");
    world.books_are_sound();
}

#[tokio::test]
async fn validity_that_began_with_a_clock_ahead_ends_within_72_hours_of_the_restart() {
    let mut world = World::new().await;
    let right = world.now;
    world.now = right.plus(AHEAD);
    let message = world.sends(world.sms()).await;
    world.restarts_with_the_clock_set_back(right).await;
    world.passes(VALIDITY).await;
    world.store.sweep(world.now).await.expect("a sweep");
    assert_eq!(world.state(message).await, MessageState::Expired);
    world.books_are_sound();
}

#[tokio::test]
async fn webhook_events_of_a_clock_ahead_are_due_as_their_failures_say_after_a_restart() {
    let mut world = World::with_webhooks().await;
    let right = world.now;
    world.now = right.plus(AHEAD);
    world.goes(Acceptance { key: None, ..world.sms() }, "new", &[Verdict::Delivered]).await;
    world.goes(world.sms(), "failed", &[Verdict::Delivered]).await;
    let due = world.due().await;
    let again = AfterAttempt::RetryAt(world.now.plus(Duration::from_secs(50)));
    world.settles_all(vec![settled(&due[1], 500, again, world.now)]).await;
    world.restarts_with_the_clock_set_back(right).await;
    assert_eq!(world.due().await, [], "left alone they are due in two days");

    let waits = vec![Duration::from_secs(55), Duration::from_secs(330)];
    assert_eq!(world.store.limit_webhook_waits(waits.clone(), world.now).await.unwrap(), 2);
    world.now = world.now.plus(Duration::from_secs(5));
    assert_eq!(world.due().await.iter().map(|event| event.id).collect::<Vec<_>>(), [due[0].id]);
    world.now = world.now.plus(Duration::from_secs(50));
    assert_eq!(world.due().await.len(), 2);
    assert_eq!(
        world.store.limit_webhook_waits(waits, world.now).await.unwrap(),
        0,
        "nothing is far away now"
    );
    world.books_are_sound();
}

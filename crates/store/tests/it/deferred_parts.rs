//! Deferred parts: any number of them wait for their due time without taking memory that other parts need.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_store::{Acceptance, DEFERRED_IN_MEMORY_MAX, Job, Store, SubmitResponse};
use std::time::Duration;
use tokio::task::JoinSet;

/// Tasks that send at the same time.
const SENDERS: usize = 50;
/// Seconds between the due times of deferred parts. All steps are shorter than the longest wait that a start keeps.
const STEP_S: u64 = 5;

/// Sends `count` messages of Alice's. The returned ids are not in order.
async fn send_as_alice(world: &World, count: usize) -> Vec<MessageId> {
    world.pay_in(ALICE, 1_000_000_000_000).await;
    let mut sending = JoinSet::new();
    for _ in 0..SENDERS {
        let (store, acceptance): (Store, _) = (world.store.clone(), world.sms());
        sending.spawn(async move {
            let mut sent = Vec::new();
            for _ in 0..count / SENDERS {
                match store.accept(acceptance.clone()).await.expect("the store answers") {
                    hermod_store::AcceptOutcome::Accepted { message, .. } => sent.push(message),
                    other => panic!("{other:?}"),
                }
            }
            sent
        });
    }
    sending.join_all().await.into_iter().flatten().collect()
}

/// Takes `count` parts and answers each with a temporary error and the wait that `wait` returns.
async fn defer_parts(link: &Link, count: usize, wait: impl Fn(&Job) -> Duration) {
    link.add_slots(u32::try_from(count).expect("a count")).await;
    let mut taken = 0;
    while taken < count {
        let jobs = link.take_handout().await.jobs;
        taken += jobs.len();
        let later = |job: &Job| answer(job, SubmitResponse::Temporary { status: 8, after: Some(wait(job)) });
        link.respond(jobs.iter().map(later).collect(), Vec::new()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_is_sent_at_once_while_another_account_has_more_deferred_parts_than_memory_holds() {
    let world = World::new().await;
    world.pay_in(BOB, 1_000_000).await;
    let count = (DEFERRED_IN_MEMORY_MAX + 2_000) / SENDERS * SENDERS;
    send_as_alice(&world, count).await;
    let link = world.link().await;
    defer_parts(&link, count, |_| secs(3_600)).await;
    world.flush().await;
    let queue = world.store.messages().queues().await.unwrap().remove(0);
    assert_eq!(queue.deferred, count, "the tables count them");

    let bobs = world.send(Acceptance { account: BOB, ..world.sms() }).await;
    link.add_slots(1).await;
    assert_eq!(link.take_job().await.message, bobs);
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retry_takes_turns_with_the_many_retries_of_another_account() {
    let mut world = World::new().await;
    world.pay_in(BOB, 1_000_000).await;
    let count = 5_000;
    send_as_alice(&world, count).await;
    let link = world.link().await;
    defer_parts(&link, count, |_| secs(60)).await;
    let bobs = world.send(Acceptance { account: BOB, ..world.sms() }).await;
    defer_parts(&link, 1, |_| secs(61)).await;
    // All are due, Alice's first. At most a thousand are released at a time.
    world.advance(secs(120)).await;
    link.add_slots(40).await;
    let jobs = link.take_jobs(40).await;
    assert!(jobs.iter().any(|job| job.message == bobs), "Bob's retry is among the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_deferred_parts_than_memory_holds_are_sent_at_their_due_times_after_a_restart_and_a_rollback() {
    let (count, waits) = (DEFERRED_IN_MEMORY_MAX * 3 / 2, 50);
    let mut world = World::new().await;
    let mut link = world.link().await;
    let mut sent = send_as_alice(&world, count).await;
    sent.sort_unstable();
    // Each message gets its due time by its mixed position among all messages.
    let wait_of = |message: MessageId| {
        let place = sent.binary_search(&message).unwrap();
        u64::try_from(place * 7_919 % waits).unwrap() + 1
    };
    defer_parts(&link, count, |job| secs(STEP_S * wait_of(job.message))).await;

    let mut taken = 0;
    for wait in 1..=u64::try_from(waits).unwrap() {
        match wait {
            // More than memory holds are still deferred at either.
            5 => {
                world.restart().await;
                link = world.link().await;
            }
            10 => roll_back(&world).await,
            _ => {}
        }
        world.advance(secs(STEP_S)).await;
        link.now = world.now;
        link.add_slots(u32::try_from(count).unwrap()).await;
        let jobs = link.take_jobs(count / waits).await;
        assert!(jobs.iter().all(|job| wait_of(job.message) == wait), "at second {}", wait * STEP_S);
        assert!(jobs.is_sorted_by_key(|job| job.message));
        taken += jobs.len();
        let accepted = |job: &Job| answer(job, SubmitResponse::Accepted(remote(&job.message.to_string())));
        link.respond(jobs.iter().map(accepted).collect(), Vec::new()).await;
        world.flush().await;
        link.assert_idle().await;
    }
    assert_eq!(taken, count);
    assert_eq!(world.store.messages().queues().await.unwrap().remove(0).deferred, 0);
    world.assert_audit_clean();
}

/// Makes a batch fail, so that the writer reloads its state from the tables.
async fn roll_back(world: &World) {
    world.raw().poison("poison", "INSERT ON message", "true");
    world.store.accept(world.sms()).await.expect_err("a batch that fails");
    world.raw().cure("poison");
}

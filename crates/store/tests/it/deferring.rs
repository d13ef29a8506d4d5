//! Waiting for a later time: any number of parts, none of which holds a place that others need.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_store::{Acceptance, DEFERRED_IN_MEMORY_MAX, Job, Store, SubmitResponse};
use std::time::Duration;
use tokio::task::JoinSet;

/// Customers that send at the same time.
const SENDERS: usize = 50;
/// Seconds between the times of deferred parts. A hundred steps are shorter than the longest wait that a start lets stand.
const STEP_S: u64 = 5;

/// Alice sends so many messages; they are not in order.
async fn alice_sends(world: &World, count: usize) -> Vec<MessageId> {
    world.pays_in(ALICE, 1_000_000_000_000).await;
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

/// The carrier takes so many parts and answers "later" to each, with the wait that `wait` names.
async fn are_deferred(link: &Link, count: usize, wait: impl Fn(&Job) -> Duration) {
    link.has_room(u32::try_from(count).expect("a count")).await;
    let mut taken = 0;
    while taken < count {
        let jobs = link.takes().await.jobs;
        taken += jobs.len();
        let later = |job: &Job| answer(job, SubmitResponse::Temporary { status: 8, after: Some(wait(job)) });
        link.says(jobs.iter().map(later).collect(), Vec::new()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_goes_out_at_once_while_another_account_has_more_deferred_parts_than_memory_holds() {
    let world = World::new().await;
    world.pays_in(BOB, 1_000_000).await;
    let count = (DEFERRED_IN_MEMORY_MAX + 2_000) / SENDERS * SENDERS;
    alice_sends(&world, count).await;
    let link = world.link().await;
    are_deferred(&link, count, |_| secs(3_600)).await;
    world.settles().await;
    let queue = world.store.queues().await.unwrap().remove(0);
    assert_eq!(queue.deferred, count, "counted in the tables");

    let bobs = world.sends(Acceptance { account: BOB, ..world.sms() }).await;
    link.has_room(1).await;
    assert_eq!(link.takes_job().await.message, bobs);
    world.books_are_sound();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_takes_turns_with_the_many_retries_of_another_account() {
    let mut world = World::new().await;
    world.pays_in(BOB, 1_000_000).await;
    let count = 5_000;
    alice_sends(&world, count).await;
    let link = world.link().await;
    are_deferred(&link, count, |_| secs(60)).await;
    let bobs = world.sends(Acceptance { account: BOB, ..world.sms() }).await;
    are_deferred(&link, 1, |_| secs(61)).await;
    // All of them have been due for long, Alice's first. No more than a thousand are released at a time.
    world.passes(secs(120)).await;
    link.has_room(40).await;
    let jobs = link.takes_jobs(40).await;
    assert!(jobs.iter().any(|job| job.message == bobs), "Bob's retry is among the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_thousand_deferred_parts_come_out_at_their_times_after_a_restart_and_a_rollback() {
    let (count, waits) = (50_000, 100);
    let mut world = World::new().await;
    let mut link = world.link().await;
    let mut sent = alice_sends(&world, count).await;
    sent.sort_unstable();
    // The time of a message goes by its place among all of them, mixed.
    let wait_of = |message: MessageId| {
        let place = sent.binary_search(&message).unwrap();
        u64::try_from(place * 7_919 % waits).unwrap() + 1
    };
    are_deferred(&link, count, |job| secs(STEP_S * wait_of(job.message))).await;

    let mut taken = 0;
    for wait in 1..=u64::try_from(waits).unwrap() {
        match wait {
            30 => {
                world.restarts().await;
                link = world.link().await;
            }
            60 => rolls_back(&world).await,
            _ => {}
        }
        world.passes(secs(STEP_S)).await;
        link.now = world.now;
        link.has_room(u32::try_from(count).unwrap()).await;
        let jobs = link.takes_jobs(count / waits).await;
        assert!(jobs.iter().all(|job| wait_of(job.message) == wait), "at second {}", wait * STEP_S);
        assert!(jobs.is_sorted_by_key(|job| job.message));
        taken += jobs.len();
        let accepted = |job: &Job| answer(job, SubmitResponse::Accepted(remote(&job.message.to_string())));
        link.says(jobs.iter().map(accepted).collect(), Vec::new()).await;
        world.settles().await;
        link.has_nothing().await;
    }
    assert_eq!(taken, count);
    assert_eq!(world.store.queues().await.unwrap().remove(0).deferred, 0);
    world.books_are_sound();
}

/// A batch fails, and the writer goes back to what the tables say.
async fn rolls_back(world: &World) {
    let poison = "CREATE TRIGGER poison BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'poisoned'); END";
    world.raw().execute_batch(poison).expect("a trigger");
    world.store.accept(world.sms()).await.expect_err("a batch that fails");
    world.raw().execute_batch("DROP TRIGGER poison").expect("no trigger");
}

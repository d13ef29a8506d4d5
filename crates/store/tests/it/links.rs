//! Several links to one carrier: each message on one of them, whole and in order; and links that only listen.

use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_store::{Acceptance, LinkKind, SubmitResponse};

#[tokio::test]
async fn a_link_that_only_receives_settles_messages_and_never_takes_one() {
    let world = World::new().await;
    let listening = world.link_of(ACME, LinkKind::ReceivesOnly).await;
    listening.has_room(10).await;
    let message = world.sends(world.sms()).await;
    world.settles().await;
    listening.has_nothing().await;

    let sending = world.link_with_room(1).await;
    sending.accepts(&sending.takes_job().await, "pair").await;
    listening.receipt("pair", Verdict::Delivered).await;
    assert_eq!(listening.takes_recorded().await, [1], "answered where it came from");
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert!(listening.closes().await.unwrap().is_empty());
    world.books_are_sound();
}

#[tokio::test]
async fn a_carrier_can_have_waits_of_its_own_after_a_temporary_error() {
    let cases = [(Some(secs(40)), 39_999, 1), (Some(secs(0)), 999, 1), (None, 4_400, 1_200)];
    for (after, too_early, then) in cases {
        let mut world = World::new().await;
        let link = world.link_with_room(1).await;
        let message = world.sends(world.sms()).await;
        let status = 0x64;
        link.answers(&link.takes_job().await, SubmitResponse::Temporary { status, after }).await;
        link.has_room(1).await;
        world.settles().await;
        world.passes(std::time::Duration::from_millis(too_early)).await;
        link.has_nothing().await;
        world.passes(std::time::Duration::from_millis(then)).await;
        assert_eq!(link.takes_job().await.message, message, "{after:?}");
    }
}

#[tokio::test]
async fn a_message_of_twenty_four_parts_leaves_over_one_link_while_the_other_goes_on() {
    const PARTS: u8 = 24;
    let mut world = World::new().await;
    let (one, two) = (world.link().await, world.link().await);
    let long = world.sends(Acceptance { parts: PARTS, ..world.sms() }).await;
    let mut short = Vec::new();
    for _ in 0..3 {
        short.push(world.sends(world.sms()).await);
    }
    one.has_room(10).await;
    let mut jobs = one.takes_jobs(10).await;
    two.has_room(10).await;
    let others: Vec<_> = two.takes_jobs(3).await.iter().map(|job| job.message).collect();
    assert_eq!(others, short, "nothing of the long one, although the link has room");

    // Its window is full of the long message; "slow down" to one part of it changes nothing about that.
    one.answers(&jobs.remove(4), SubmitResponse::Throttled).await;
    world.settles().await;
    two.has_nothing().await;
    one.has_room(8).await;
    jobs.extend(one.takes_jobs(8).await);
    short.push(world.sends(world.sms()).await);
    assert_eq!(two.takes_job().await.message, short[3]);
    one.has_room(20).await;
    jobs.extend(one.takes_jobs(7).await);
    let order: Vec<u8> = jobs.iter().map(|job| job.part.get()).collect();
    assert!(jobs.iter().all(|job| job.message == long));
    assert_eq!(order, [&[1, 2, 3, 4, 6, 7, 8, 9, 10, 5][..], &(11..=PARTS).collect::<Vec<_>>()].concat());
    for job in &jobs {
        one.accepts(job, &format!("part {}", job.part)).await;
    }
    world.settles().await;
    assert_eq!(world.state(long).await, MessageState::Submitted);
    world.restarts().await;
    world.books_are_sound();
}

#[tokio::test]
async fn the_rest_of_a_long_message_leaves_over_the_other_link_when_its_own_is_lost() {
    let world = World::new().await;
    let (one, two) = (world.link_with_room(2).await, world.link().await);
    let long = world.sends(Acceptance { parts: 5, ..world.sms() }).await;
    let jobs = one.takes_jobs(2).await;
    two.has_room(10).await;
    world.settles().await;
    two.has_nothing().await;
    one.closes().await.unwrap();
    one.says(
        vec![
            answer(&jobs[0], SubmitResponse::Accepted(remote("p1"))),
            answer(&jobs[1], SubmitResponse::NotSent),
        ],
        vec![],
    )
    .await;
    let rest: Vec<_> = two.takes_jobs(4).await.iter().map(|job| (job.message, job.part.get())).collect();
    let expected: Vec<_> = [3, 4, 5, 2].map(|part| (long, part)).to_vec();
    assert_eq!(rest, expected, "what comes back from the lost link is sent when it is back");
    world.books_are_sound();
}

//! Several links to one carrier: a message is sent on one of them in order; receive-only links.

use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::{Acceptance, LinkKind, SubmitResponse};

#[tokio::test]
async fn receive_only_link_settles_messages_and_gets_no_job() {
    let world = World::new().await;
    let listening = world.link_of(ACME, LinkKind::ReceivesOnly).await;
    listening.add_slots(10).await;
    let message = world.send(world.sms()).await;
    world.flush().await;
    listening.assert_idle().await;

    let sending = world.link_with_slots(1).await;
    sending.accept(&sending.take_job().await, "pair").await;
    listening.receipt("pair", DeliveryOutcome::Delivered).await;
    assert_eq!(listening.take_recorded().await, [1], "the receipt is answered on its own link");
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert!(listening.close().await.unwrap().is_empty());
    world.assert_audit_clean();
}

#[tokio::test]
async fn temporary_error_with_a_carrier_specific_wait_is_retried_after_it() {
    let cases = [(Some(secs(40)), 39_999, 1), (Some(secs(0)), 999, 1), (None, 4_400, 1_200)];
    for (after, too_early, then) in cases {
        let mut world = World::new().await;
        let link = world.link_with_slots(1).await;
        let message = world.send(world.sms()).await;
        let status = 0x64;
        link.answer(&link.take_job().await, SubmitResponse::Temporary { status, after }).await;
        link.add_slots(1).await;
        world.flush().await;
        world.advance(std::time::Duration::from_millis(too_early)).await;
        link.assert_idle().await;
        world.advance(std::time::Duration::from_millis(then)).await;
        assert_eq!(link.take_job().await.message, message, "{after:?}");
    }
}

#[tokio::test]
async fn message_of_24_parts_is_sent_over_one_link_while_the_other_link_sends_others() {
    const PARTS: u8 = 24;
    let mut world = World::new().await;
    let (one, two) = (world.link().await, world.link().await);
    let long = world.send(Acceptance { parts: PARTS, ..world.sms() }).await;
    let mut short = Vec::new();
    for _ in 0..3 {
        short.push(world.send(world.sms()).await);
    }
    one.add_slots(10).await;
    let mut jobs = one.take_jobs(10).await;
    two.add_slots(10).await;
    let others: Vec<_> = two.take_jobs(3).await.iter().map(|job| job.message).collect();
    assert_eq!(others, short, "the link gets no part of the long message, although it has room");

    // Its window is full of parts of the long message; throttling one of them does not change that.
    one.answer(&jobs.remove(4), SubmitResponse::Throttled).await;
    world.flush().await;
    two.assert_idle().await;
    one.add_slots(8).await;
    jobs.extend(one.take_jobs(8).await);
    short.push(world.send(world.sms()).await);
    assert_eq!(two.take_job().await.message, short[3]);
    one.add_slots(20).await;
    jobs.extend(one.take_jobs(7).await);
    let order: Vec<u8> = jobs.iter().map(|job| job.part.get()).collect();
    assert!(jobs.iter().all(|job| job.message == long));
    assert_eq!(order, [&[1, 2, 3, 4, 6, 7, 8, 9, 10, 5][..], &(11..=PARTS).collect::<Vec<_>>()].concat());
    for job in &jobs {
        one.accept(job, &format!("part {}", job.part)).await;
    }
    world.flush().await;
    assert_eq!(world.state(long).await, MessageState::Submitted);
    world.restart().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn remaining_parts_of_a_long_message_move_to_the_other_link_when_theirs_is_lost() {
    let world = World::new().await;
    let (one, two) = (world.link_with_slots(2).await, world.link().await);
    let long = world.send(Acceptance { parts: 5, ..world.sms() }).await;
    let jobs = one.take_jobs(2).await;
    two.add_slots(10).await;
    world.flush().await;
    two.assert_idle().await;
    one.close().await.unwrap();
    one.respond(
        vec![
            answer(&jobs[0], SubmitResponse::Accepted(remote("p1"))),
            answer(&jobs[1], SubmitResponse::NotSent),
        ],
        vec![],
    )
    .await;
    let rest: Vec<_> = two.take_jobs(4).await.iter().map(|job| (job.message, job.part.get())).collect();
    let expected: Vec<_> = [3, 4, 5, 2].map(|part| (long, part)).to_vec();
    assert_eq!(rest, expected, "the part returned by the lost link is sent last");
    world.assert_audit_clean();
}

//! Moving queued messages to another carrier: in pages, once, in order, and over restarts.

mod random_traffic;

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::{Acceptance, CarrierQueue, Job, Move, SubmitResponse, WaitingMessage};

const PAID_IN: i64 = 1_000_000_000;

fn to_other(waiting: &WaitingMessage) -> Move {
    Move { message: waiting.message, account: waiting.account, from: ACME, to: split(OTHER) }
}

fn messages(jobs: &[Job]) -> Vec<MessageId> {
    jobs.iter().map(|job| job.message).collect()
}

impl World {
    /// Returns all messages that wait for ACME, read in small pages.
    async fn waiting(&self) -> Vec<WaitingMessage> {
        let mut found: Vec<WaitingMessage> = Vec::new();
        loop {
            let after = found.last().map(WaitingMessage::position);
            let page = self.store.messages().waiting(ACME, after, 3).await.expect("the store answers");
            assert!(page.len() <= 3);
            if page.is_empty() {
                return found;
            }
            found.extend(page);
        }
    }

    async fn move_all(&self) -> usize {
        let moves = self.waiting().await.iter().map(to_other).collect();
        self.store.messages().reroute(moves, self.now).await.expect("the store answers")
    }

    async fn queue(&self, of: &Link) -> CarrierQueue {
        let queues = self.store.messages().queues().await.expect("the store answers");
        queues.into_iter().find(|queue| queue.carrier == of.carrier).expect("a queue")
    }
}

#[tokio::test]
async fn movable_messages_are_those_that_no_carrier_may_have() {
    let mut world = World::new().await;
    world.pay_in(BOB, PAID_IN).await;
    let mut link = world.link_with_slots(6).await;
    for parts in [1, 1, 1, 1, 2] {
        world.send(Acceptance { parts, ..world.sms() }).await;
    }
    let [taken, sending, deferred, doubted, half, rest] = &link.take_jobs(6).await[..] else {
        panic!("six parts")
    };
    assert_eq!((half.message, rest.part.get()), (rest.message, 2));
    let trouble = SubmitResponse::Temporary { status: 8, after: Some(secs(300)) };
    let said = [
        answer(taken, SubmitResponse::Accepted(remote("taken"))),
        answer(deferred, trouble),
        answer(doubted, SubmitResponse::NoResponse),
        answer(half, SubmitResponse::Accepted(remote("half"))),
        answer(rest, SubmitResponse::Throttled),
    ];
    link.respond(said.to_vec(), Vec::new()).await;
    let queued = world.send(world.sms()).await;
    let bobs = world.send(Acceptance { account: BOB, parts: 3, ..world.sms() }).await;
    let waiting = world.waiting().await;
    let expected = [(deferred.message, ALICE, 1), (queued, ALICE, 1), (bobs, BOB, 3)];
    let listed: Vec<_> = waiting.iter().map(|found| (found.message, found.account, found.parts)).collect();
    assert_eq!(listed, expected);
    assert_eq!(
        (waiting[1].to, waiting[1].from, waiting[1].expires_at),
        (taken.to, taken.from, taken.expires_at)
    );

    world.advance(IN_DOUBT_WAIT).await;
    link.now = world.now;
    assert_eq!(world.waiting().await.len(), 4, "the in-doubt wait is over");
    assert_eq!(world.store.messages().waiting(OTHER, None, 10).await.unwrap(), []);

    // Moves that change nothing: a message that is sent, submitted, moved, of another account, or at another carrier.
    let sent = Move { message: sending.message, account: ALICE, from: ACME, to: split(OTHER) };
    let moves = vec![
        sent,
        Move { message: taken.message, ..sent },
        Move { message: half.message, ..sent },
        Move { message: queued, account: BOB, ..sent },
        Move { message: queued, from: OTHER, to: split(ACME), ..sent },
        Move { message: queued, to: split(ACME), ..sent },
        Move { message: queued, ..sent },
        Move { message: queued, ..sent },
    ];
    assert_eq!(world.store.messages().reroute(moves, world.now).await.unwrap(), 1);
    assert_eq!(world.record(queued).await.carrier, OTHER);
    assert_eq!(world.timeline(queued), ["moved"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn moved_messages_are_ordered_by_their_acceptance_time() {
    // Into lanes in memory, and into lanes on disk because their carrier has no link.
    for linked in [true, false] {
        let world = World::new().await;
        let open = if linked { Some(world.link_to(OTHER, 0).await) } else { None };
        let mut sent = Vec::new();
        for carrier in [ACME, OTHER, ACME, ACME, OTHER] {
            sent.push(world.send(Acceptance { carrier, ..world.sms() }).await);
        }
        assert_eq!(world.move_all().await, 3);
        let other = open.unwrap_or(world.link_to(OTHER, 0).await);
        other.add_slots(9).await;
        assert_eq!(messages(&other.take_jobs(5).await), sent);
        // The old carrier opens a link and gets no job.
        let link = world.link_with_slots(9).await;
        world.flush().await;
        link.assert_idle().await;
        other.assert_idle().await;
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn message_in_the_lane_of_the_old_carrier_is_sent_only_over_the_new_one() {
    let world = World::new().await;
    // A link without free slots: its lane is in memory.
    let link = world.link_with_slots(1).await;
    let first = world.send(Acceptance { parts: 3, ..world.sms() }).await;
    let mut sent = Vec::new();
    for parts in [1, 4, 1] {
        sent.push(world.send(Acceptance { parts, ..world.sms() }).await);
    }
    assert_eq!(world.move_all().await, 3, "the message that is being sent does not move");
    let last = world.send(world.sms()).await;
    let other = world.link_to(OTHER, 20).await;
    let jobs = other.take_jobs(6).await;
    let parts: Vec<_> = jobs.iter().map(|job| (job.message, job.part.get())).collect();
    assert_eq!(parts[..2], [(sent[0], 1), (sent[1], 1)]);
    assert_eq!(parts[4..], [(sent[1], 4), (sent[2], 1)]);
    link.add_slots(20).await;
    assert_eq!(messages(&link.take_jobs(4).await)[1..], [first, first, last]);
    world.flush().await;
    link.assert_idle().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn move_of_messages_is_all_or_nothing_and_survives_a_kill() {
    let mut world = World::new().await;
    let link = world.link_with_slots(0).await;
    let mut sent = Vec::new();
    for parts in [1, 3, 2] {
        sent.push(world.send(Acceptance { parts, ..world.sms() }).await);
    }
    // The database rejects the last of three: none has moved, and each is sent once by its old carrier.
    world.raw().poison("poison", "UPDATE OF carrier ON message", &format!("NEW.id = {}", sent[2]));
    let moves: Vec<Move> = world.waiting().await.iter().map(to_other).collect();
    let fault = world.store.messages().reroute(moves.clone(), world.now).await.expect_err("it was refused");
    assert!(fault.to_string().contains("poisoned"), "{fault}");
    assert_eq!(world.queue(&link).await.waiting, 6);
    link.add_slots(1).await;
    assert_eq!(messages(&link.take_jobs(1).await), sent[..1]);
    world.raw().cure("poison");

    assert_eq!(world.store.messages().reroute(moves, world.now).await.unwrap(), 2);
    world.kill();
    assert_eq!(world.record(sent[1]).await.carrier, OTHER);
    let (link, other) = (world.link_with_slots(9).await, world.link_to(OTHER, 9).await);
    let jobs = other.take_jobs(5).await;
    assert_eq!(messages(&jobs), [sent[1], sent[1], sent[1], sent[2], sent[2]]);
    world.flush().await;
    link.assert_idle().await;
    world.assert_audit_clean();

    // After a kill while the new carrier is sending, the parts are in doubt there and the old carrier gets no job.
    world.kill();
    world.advance(IN_DOUBT_WAIT).await;
    let (link, other) = (world.link_with_slots(9).await, world.link_to(OTHER, 9).await);
    for job in other.take_jobs(5).await {
        other.accept(&job, &format!("{}.{}", job.message, job.part)).await;
        other.receipt(&format!("{}.{}", job.message, job.part), DeliveryOutcome::Delivered).await;
    }
    assert_eq!(messages(&link.take_jobs(1).await), sent[..1]);
    world.flush().await;
    for message in &sent[1..] {
        assert_eq!(world.state(*message).await, MessageState::Delivered);
    }
    assert_eq!(world.balance(ALICE).await, PAID_IN - 3 * PRICE, "charged once each");
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_can_move_back_to_its_first_carrier() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let trouble = SubmitResponse::Temporary { status: 8, after: Some(secs(50)) };
    link.answer(&link.take_job().await, trouble).await;
    world.flush().await;
    let there = Move { message, account: ALICE, from: ACME, to: split(OTHER) };
    let back = Move { from: OTHER, to: split(ACME), ..there };
    assert_eq!(world.store.messages().reroute(vec![there, back], world.now).await.unwrap(), 2);
    link.add_slots(5).await;
    let job = link.take_job().await;
    assert_eq!(job.message, message);
    // Its former retry time passes while it is being sent, and while it waits for the next retry.
    world.advance(secs(40)).await;
    link.now = world.now;
    link.answer(&job, SubmitResponse::Temporary { status: 8, after: Some(secs(50)) }).await;
    world.advance(secs(20)).await;
    link.assert_idle().await;
    world.advance(secs(31)).await;
    assert_eq!(link.take_job().await.message, message);
    world.flush().await;
    link.assert_idle().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn queue_counts_match_before_and_after_restart_and_move() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(3).await;
    let start = world.now;
    for parts in [1, 1, 1, 2] {
        world.send(Acceptance { parts, ..world.sms() }).await;
        world.now = world.now.plus(secs(1));
    }
    let jobs = link.take_jobs(3).await;
    let queue = world.queue(&link).await;
    assert_eq!((queue.waiting, queue.in_flight, queue.deferred), (2, 3, 0));
    assert_eq!(queue.oldest, Some(start.plus(secs(3))));
    link.now = world.now;
    link.accept(&jobs[0], "one").await;
    link.answer(&jobs[1], SubmitResponse::Temporary { status: 8, after: None }).await;
    link.answer(&jobs[2], refused(11)).await;
    let queue = world.queue(&link).await;
    assert_eq!((queue.waiting, queue.in_flight, queue.deferred), (3, 0, 1));
    assert_eq!(queue.oldest, Some(start.plus(secs(1))), "the one that waits for a retry");
    assert_eq!(queue.oldest_for_slot, Some(start.plus(secs(3))));

    // The same counts after a restart, when no part is in memory; and for the new carrier after a move.
    world.restart().await;
    assert_eq!(world.store.messages().queues().await.unwrap(), [queue]);
    assert_eq!(world.move_all().await, 2);
    let mut queues = world.store.messages().queues().await.unwrap();
    queues.sort_by_key(|queue| queue.carrier);
    assert_eq!([queues[0].waiting, queues[1].waiting], [0, 3]);
    assert_eq!([queues[0].oldest, queues[1].oldest], [None, Some(start.plus(secs(1)))]);
}

//! Long messages in one message_payload: one submit_sm and one receipt, charged by their parts.

use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::money::Money;
use hermod_store::{Acceptance, CustomerTlvs, LinkKind, Move, ResponseRecord, SubmitResponse, TargetCarrier};

fn whole(world: &World) -> Acceptance {
    Acceptance { parts: 3, whole: true, cost: Money::from_micros(3 * PRICE), ..world.sms() }
}

#[tokio::test]
async fn whole_message_is_one_submit_and_settled_by_one_receipt() {
    let world = World::new().await;
    let link = world.link_with_slots(5).await;
    let message = world.send(whole(&world)).await;
    let job = link.take_job().await;
    assert_eq!((job.part.get(), job.parts, job.whole, job.submits()), (1, 3, true, 1));
    world.flush().await;
    link.assert_idle().await;
    link.accept(&job, "a").await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.assert_audit_clean();
    link.receipt("a", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let seen = world.record(message).await;
    assert_eq!(
        (seen.state, seen.parts, seen.cost),
        (MessageState::Delivered, 3, Money::from_micros(3 * PRICE))
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn whole_message_and_its_tlvs_survive_a_restart() {
    let mut world = World::new().await;
    let tlvs = Some(CustomerTlvs([0x02, 0x04, 0, 2, 7, 7].into()));
    let message = world.send(Acceptance { tlvs: tlvs.clone(), ..whole(&world) }).await;
    let split = world.send(Acceptance { parts: 2, tlvs: tlvs.clone(), ..world.sms() }).await;
    world.restart().await;
    let link = world.link_with_slots(5).await;
    let jobs = link.take_jobs(3).await;
    let shape: Vec<_> = jobs.iter().map(|job| (job.message, job.part.get(), job.whole)).collect();
    assert_eq!(shape, [(message, 1, true), (split, 1, false), (split, 2, false)]);
    assert!(jobs.iter().all(|job| job.tlvs == tlvs));
    assert!(!format!("{:?}", jobs[0]).contains("[2, 4"), "debug output does not contain the TLVs");
    link.answer(&jobs[0], SubmitResponse::Throttled).await;
    link.add_slots(1).await;
    assert_eq!(link.take_job().await.message, message);
    world.assert_audit_clean();
}

#[tokio::test]
async fn expired_whole_message_is_refunded_once() {
    let mut world = World::new().await;
    let before = world.balance(ALICE).await;
    let message = world.send(whole(&world)).await;
    assert_eq!(world.balance(ALICE).await, before - 3 * PRICE);
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweep(world.now).await, 1);
    assert_eq!(world.state(message).await, MessageState::Expired);
    assert_eq!(world.balance(ALICE).await, before);
    world.assert_audit_clean();
}

#[tokio::test]
async fn moved_message_is_split_or_joined_as_its_new_carrier_requires() {
    let mut world = World::new().await;
    let to_whole = TargetCarrier { carrier: OTHER, whole: true, cost: None };
    for restart in [false, true] {
        let joined = world.send(Acceptance { parts: 3, ..world.sms() }).await;
        let there = Move { message: joined, account: ALICE, from: ACME, to: to_whole };
        assert_eq!(world.store.messages().reroute(vec![there], world.now).await.unwrap(), 1);
        world.assert_audit_clean();
        if restart {
            world.restart().await;
        }
        let other = world.link_of(OTHER, LinkKind::Sends).await;
        other.add_slots(5).await;
        let job = other.take_job().await;
        assert_eq!((job.part.get(), job.parts, job.whole), (1, 3, true));
        // Two temporary errors move it back in parts.
        let trouble = SubmitResponse::Temporary { status: 8, after: Some(secs(1)) };
        let back = || ResponseRecord { failover_to: Some(split(ACME)), ..answer(&job, trouble.clone()) };
        other.respond(vec![back()], Vec::new()).await;
        world.flush().await;
        world.advance(secs(1)).await;
        other.add_slots(5).await;
        other.take_job().await;
        other.respond(vec![back()], Vec::new()).await;
        world.flush().await;
        world.assert_audit_clean();
        let link = world.link_with_slots(5).await;
        let jobs = link.take_jobs(3).await;
        let shape: Vec<_> = jobs.iter().map(|job| (job.message, job.part.get(), job.whole)).collect();
        assert_eq!(shape, [(joined, 1, false), (joined, 2, false), (joined, 3, false)]);
        for (count, job) in jobs.iter().enumerate() {
            link.accept(job, &format!("{joined}-{count}")).await;
            link.receipt(&format!("{joined}-{count}"), DeliveryOutcome::Delivered).await;
        }
        world.flush().await;
        assert_eq!(world.state(joined).await, MessageState::Delivered);
        let queues = world.store.messages().queues().await.unwrap();
        assert!(queues.iter().all(|queue| queue.waiting == 0 && queue.in_flight == 0), "{queues:?}");
        world.assert_audit_clean();
        link.close().await.unwrap();
        other.close().await.unwrap();
    }
}

#[tokio::test]
async fn whole_message_in_doubt_is_not_refunded_after_it_moved_in_parts() {
    let mut world = World::new().await;
    let before = world.balance(ALICE).await;
    let link = world.link_with_slots(1).await;
    let message = world.send(whole(&world)).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    world.advance(IN_DOUBT_WAIT).await;
    let away = Move { message, account: ALICE, from: ACME, to: split(OTHER) };
    assert_eq!(world.store.messages().reroute(vec![away], world.now).await.unwrap(), 1);
    world.assert_audit_clean();
    world.now = world.now.plus(VALIDITY);
    world.sweep(world.now).await;
    assert_eq!(world.state(message).await, MessageState::Submitted, "presumed");
    assert_eq!(world.balance(ALICE).await, before - 3 * PRICE);
    world.assert_audit_clean();
}

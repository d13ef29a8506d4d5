//! An operation that the database rejects fails alone: the others of its batch are written.

use crate::reports::CONNECTION;
use crate::webhook_queue::results::settled;
use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::phone::Msisdn;
use hermod_domain::traffic::{Control, Mode, TrafficRule, velocity_limits};
use hermod_store::{
    AcceptOutcome, Acceptance, AfterAttempt, DailyLimits, Inbound, LedgerKind, OptOut, PostOutcome,
    ReportOutcome, SubmitResponse,
};
use tokio::task::JoinSet;

const POISON: u64 = 4_915_199_999_999;

/// Makes the database reject messages to one recipient.
fn poison_a_recipient(world: &World) {
    world.raw().poison("poison", "INSERT ON message", &format!("NEW.dest = {POISON}"));
}

fn to_poison(world: &World) -> Acceptance {
    Acceptance { to: Msisdn::from_number(POISON).expect("a number"), ..world.sms() }
}

#[tokio::test]
async fn failing_acceptance_fails_alone_in_its_batch() {
    let world = World::new().await;
    poison_a_recipient(&world);
    let mut sending = JoinSet::new();
    for number in 0..60 {
        let store = world.store.clone();
        let base = if number % 20 == 7 { to_poison(&world) } else { world.sms() };
        let acceptance = Acceptance { key: Some(key(number)), ..base };
        sending.spawn(async move { (number, store.accept(acceptance).await) });
    }
    for (number, outcome) in sending.join_all().await {
        if number % 20 == 7 {
            let fault = outcome.expect_err("the database refused it");
            assert!(fault.to_string().contains("poisoned"), "{fault}");
            assert_eq!(world.store.find_key(key(number)).await.unwrap(), None, "its key is free");
        } else {
            assert!(matches!(outcome, Ok(AcceptOutcome::Accepted { .. })), "{outcome:?}");
        }
    }
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 57 * PRICE);
    assert_eq!(audit(world.path()).messages, 57);
    world.assert_audit_clean();
    // Every accepted message is sent once and in order.
    let link = world.link_with_slots(100).await;
    let jobs = link.take_jobs(57).await;
    assert!(jobs.is_sorted_by_key(|job| job.message));
    world.flush().await;
    link.assert_idle().await;
}

#[tokio::test]
async fn failing_response_record_fails_alone_in_its_batch() {
    let world = World::new().await;
    let link = world.link_with_slots(3).await;
    for _ in 0..4 {
        world.send(world.sms()).await;
    }
    let jobs = link.take_jobs(3).await;
    let accepts = format!("NEW.message = {} AND NEW.state = 4", jobs[1].message);
    world.raw().poison("poison", "UPDATE ON part", &accepts);
    let accepted =
        |index: usize| answer(&jobs[index], SubmitResponse::Accepted(remote(&format!("r{index}"))));
    let receipts =
        vec![receipt(5, "r0", DeliveryOutcome::Delivered), receipt(6, "r2", DeliveryOutcome::Delivered)];
    link.port.record((0..3).map(accepted).collect(), receipts, Vec::new(), 1, world.now).await.unwrap();
    // The two receipts are recorded and the slot is used.
    let (mut recorded, mut more) = (Vec::new(), Vec::new());
    while recorded.len() < 2 || more.is_empty() {
        let handout = link.take_handout().await;
        recorded.extend(sequences(&handout));
        more.extend(handout.jobs);
    }
    assert_eq!((recorded, more.len()), (vec![5, 6], 1));
    assert_eq!(world.state(jobs[0].message).await, MessageState::Delivered);
    assert_eq!(world.state(jobs[1].message).await, MessageState::Queued, "the failed response has no effect");
    assert_eq!(world.state(jobs[2].message).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn failing_report_or_webhook_result_fails_alone_in_its_batch() {
    let world = World::with_webhooks().await;
    for place in 0..3 {
        let (bind, web) = (format!("bind{place}"), format!("web{place}"));
        world.send_with_receipts(world.smpp_message(1), &bind, &[DeliveryOutcome::Delivered]).await;
        world.send_with_receipts(world.sms(), &web, &[DeliveryOutcome::Delivered]).await;
    }
    let port = world.store.open_receiver(CONNECTION);
    let reports: Vec<_> = world.take_reports(&port, 3).await.iter().map(|report| report.id).collect();
    let events = world.due_events().await;
    world.raw().poison("poison", "DELETE ON report", &format!("OLD.id = {}", reports[1].0));
    world.raw().poison("venom", "INSERT ON webhook_past", &format!("NEW.id = {}", events[1].id.0));
    world.settle(&port, &reports, ReportOutcome::Accepted).await;
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 1);
    let done = events.iter().map(|event| settled(event, 200, AfterAttempt::Delivered, world.now)).collect();
    let fault =
        world.store.webhooks().settle(done, world.now).await.expect_err("the database rejects one of them");
    assert!(fault.to_string().contains("poisoned"), "{fault}");
    assert_eq!(world.due_events().await, events[1..2]);
    world.raw().cure("poison");
    world.raw().cure("venom");
    world.settle_as_delivered(&events[1..2]).await;
    assert_eq!(world.due_events().await, []);
    world.assert_audit_clean();
}

#[tokio::test]
async fn state_change_and_its_webhook_event_are_written_together_or_not_at_all() {
    let world = World::with_webhooks().await;
    let link = world.link().await;
    let message = world.send_accepted_as(&link, world.sms(), "id").await;
    world.raw().poison("poison", "INSERT ON webhook", "true");
    link.receipt("id", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.raw().cure("poison");
    assert_eq!(world.due_events().await, []);
    // The receipt was not answered, so the carrier sends it again.
    link.receipt("id", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!((world.state(message).await, world.due_events().await.len()), (MessageState::Delivered, 1));
    world.assert_audit_clean();
}

#[tokio::test]
async fn other_operations_beside_a_failing_one_are_done_once() {
    let world = World::new().await;
    poison_a_recipient(&world);
    let (limited, mut asking) = (DailyLimits { messages_max: Some(10), spend_max: None }, JoinSet::new());
    // If a failed batch used up the allowance, fewer than ten were accepted.
    let control =
        Control::new("ten", Mode::Enforce, TrafficRule::PerRecipient { most: 10, per_ms: 3_600_000 });
    let velocity = velocity_limits(ALICE, &[control], world.sms().to);
    let number = |last: u64| Msisdn::from_number(4_915_100_000_000 + last).expect("a number");
    for round in 0..40 {
        let store = world.store.clone();
        let (good, bad) =
            (Acceptance { daily: limited, velocity: velocity.clone(), ..world.sms() }, to_poison(&world));
        let entry = world.entry(BOB, LedgerKind::Invoice, 10);
        let opt_out = OptOut::by_keyword(BOB, number(round), world.now);
        let inbound = Inbound {
            account: BOB,
            from: "a".to_owned(),
            to: "b".to_owned(),
            text: "c".to_owned(),
            received_at: world.now,
        };
        asking.spawn(async move {
            let (accepted, refused, posted, added, received) = tokio::join!(
                store.accept(good),
                store.accept(bad),
                store.money().post(entry),
                store.opt_outs().add(opt_out),
                store.inbound().receive(inbound)
            );
            assert!(refused.is_err() && matches!(posted, Ok(PostOutcome::Posted { .. })), "{posted:?}");
            assert!(added.expect("an opt-out"), "the opt-out is new, also when its batch was retried");
            let accepted = matches!(accepted, Ok(AcceptOutcome::Accepted { .. }));
            (accepted, received.expect("an inbound message").id)
        });
    }
    let (accepted, mut ids): (Vec<bool>, Vec<u64>) = asking.join_all().await.into_iter().unzip();
    ids.sort_unstable();
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
    assert_eq!(accepted.iter().filter(|accepted| **accepted).count(), 10);
    assert_eq!(world.store.money().balance(BOB).await.unwrap().credit_used.as_micros(), 400);
    assert_eq!(world.store.opt_outs().list(BOB, None, 100).await.unwrap().len(), 40);
    world.assert_audit_clean();
}

#[tokio::test]
async fn links_opened_and_closed_beside_a_failing_operation_lose_no_part() {
    let world = World::new().await;
    poison_a_recipient(&world);
    let mut accepted = 0;
    let mut seen = std::collections::HashSet::new();
    for round in 0..30 {
        let link = world.link_with_slots(3).await;
        let (good, bad, closed) = tokio::join!(
            world.store.accept(world.sms()),
            world.store.accept(to_poison(&world)),
            link.close()
        );
        assert!(matches!(good, Ok(AcceptOutcome::Accepted { .. })), "round {round}: {good:?}");
        assert!(bad.is_err());
        accepted += 1;
        // The closing link returns the parts it had; the others wait for the next link.
        let left = closed.unwrap().jobs;
        link.respond(left.iter().map(|job| answer(job, SubmitResponse::NotSent)).collect(), Vec::new()).await;
        world.flush().await;
        link.assert_idle().await;
    }
    let link = world.link_with_slots(100).await;
    for job in link.take_jobs(accepted).await {
        assert!(seen.insert(job.message));
    }
    world.assert_audit_clean();
}

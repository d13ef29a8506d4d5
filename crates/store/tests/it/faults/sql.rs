//! One operation that the database refuses does not take its neighbours with it.

use crate::hooking::settling::settled;
use crate::reporting::CONNECTION;
use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::phone::Msisdn;
use hermod_store::{
    AcceptOutcome, Acceptance, AfterAttempt, DailyLimits, Inbound, LedgerKind, OptOut, PostOutcome,
    ReportOutcome, Store, SubmitResponse,
};
use tokio::task::JoinSet;

const POISON: u64 = 4_915_199_999_999;

/// From here on the database refuses messages to one recipient.
fn poison_a_recipient(world: &World) {
    let trigger = format!(
        "CREATE TRIGGER poison BEFORE INSERT ON message WHEN NEW.dest = {POISON}
         BEGIN SELECT RAISE(ABORT, 'poisoned'); END"
    );
    world.raw().execute_batch(&trigger).expect("a trigger");
}

fn to_poison(world: &World) -> Acceptance {
    Acceptance { to: Msisdn::from_number(POISON).expect("a number"), ..world.sms() }
}

#[tokio::test]
async fn a_failing_operation_fails_alone() {
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
    assert_eq!(Store::audit(world.path()).unwrap().messages, 57);
    world.books_are_sound();
    // And everything that was accepted is sent, once, in order.
    let link = world.link_with_room(100).await;
    let jobs = link.takes_jobs(57).await;
    assert!(jobs.is_sorted_by_key(|job| job.message));
    world.settles().await;
    link.has_nothing().await;
}

#[tokio::test]
async fn a_record_of_a_link_that_fails_does_not_take_the_others_with_it() {
    let world = World::new().await;
    let link = world.link_with_room(3).await;
    for _ in 0..4 {
        world.sends(world.sms()).await;
    }
    let jobs = link.takes_jobs(3).await;
    let trigger = format!(
        "CREATE TRIGGER poison BEFORE UPDATE ON part WHEN NEW.message = {} AND NEW.state = 4
         BEGIN SELECT RAISE(ABORT, 'poisoned'); END",
        jobs[1].message
    );
    world.raw().execute_batch(&trigger).unwrap();
    let accepted =
        |index: usize| answer(&jobs[index], SubmitResponse::Accepted(remote(&format!("r{index}"))));
    let receipts = vec![receipt(5, "r0", Verdict::Delivered), receipt(6, "r2", Verdict::Delivered)];
    link.port.record((0..3).map(accepted).collect(), receipts, Vec::new(), 1, world.now).await.unwrap();
    // Its two receipts are recorded and its slot is used.
    let (mut recorded, mut more) = (Vec::new(), Vec::new());
    while recorded.len() < 2 || more.is_empty() {
        let handout = link.takes().await;
        recorded.extend(sequences(&handout));
        more.extend(handout.jobs);
    }
    assert_eq!((recorded, more.len()), (vec![5, 6], 1));
    assert_eq!(world.state(jobs[0].message).await, MessageState::Delivered);
    assert_eq!(world.state(jobs[1].message).await, MessageState::Queued, "as if nothing had been said");
    assert_eq!(world.state(jobs[2].message).await, MessageState::Delivered);
    world.books_are_sound();
}

#[tokio::test]
async fn one_answer_of_a_customers_that_fails_does_not_take_the_others_with_it() {
    let world = World::with_webhooks().await;
    for place in 0..3 {
        let (bind, web) = (format!("bind{place}"), format!("web{place}"));
        world.goes(world.smpp(1), &bind, &[Verdict::Delivered]).await;
        world.goes(world.sms(), &web, &[Verdict::Delivered]).await;
    }
    let port = world.store.open_receiver(CONNECTION);
    let reports: Vec<_> = world.takes(&port, 3).await.iter().map(|report| report.id).collect();
    let events = world.due().await;
    let triggers = format!(
        "CREATE TRIGGER poison BEFORE DELETE ON report WHEN OLD.id = {}
         BEGIN SELECT RAISE(ABORT, 'poisoned'); END;
         CREATE TRIGGER venom BEFORE INSERT ON webhook_past WHEN NEW.id = {}
         BEGIN SELECT RAISE(ABORT, 'poisoned'); END",
        reports[1].0, events[1].id.0
    );
    world.raw().execute_batch(&triggers).unwrap();
    world.settle(&port, &reports, ReportOutcome::Accepted).await;
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 1);
    let done = events.iter().map(|event| settled(event, 200, AfterAttempt::Delivered, world.now)).collect();
    let fault = world.store.settle_webhooks(done, world.now).await.expect_err("one of them was refused");
    assert!(fault.to_string().contains("poisoned"), "{fault}");
    assert_eq!(world.due().await, events[1..2]);
    world.raw().execute_batch("DROP TRIGGER poison; DROP TRIGGER venom").unwrap();
    world.has_posted(&events[1..2]).await;
    assert_eq!(world.due().await, []);
    world.books_are_sound();
}

#[tokio::test]
async fn a_change_and_its_webhook_event_are_written_together_or_not_at_all() {
    let world = World::with_webhooks().await;
    let link = world.link().await;
    let message = world.sent_as(&link, world.sms(), "id").await;
    let trigger = "CREATE TRIGGER poison BEFORE INSERT ON webhook BEGIN SELECT RAISE(ABORT, 'poisoned'); END";
    world.raw().execute_batch(trigger).unwrap();
    link.receipt("id", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Submitted);
    world.raw().execute_batch("DROP TRIGGER poison").unwrap();
    assert_eq!(world.due().await, []);
    // The carrier was not answered, and says it again.
    link.receipt("id", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!((world.state(message).await, world.due().await.len()), (MessageState::Delivered, 1));
    world.books_are_sound();
}

#[tokio::test]
async fn what_else_is_asked_for_beside_a_failing_operation_is_done_once() {
    let world = World::new().await;
    poison_a_recipient(&world);
    let (limited, mut asking) = (DailyLimits { messages_max: Some(10), spend_max: None }, JoinSet::new());
    let number = |last: u64| Msisdn::from_number(4_915_100_000_000 + last).expect("a number");
    for round in 0..40 {
        let store = world.store.clone();
        let (good, bad) = (Acceptance { daily: limited, ..world.sms() }, to_poison(&world));
        let entry = world.entry(BOB, LedgerKind::Invoice, 10);
        let opt_out = OptOut { account: BOB, number: number(round), how: "STOP".to_owned(), now: world.now };
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
                store.post(entry),
                store.opt_out(opt_out),
                store.receive(inbound)
            );
            assert!(refused.is_err() && matches!(posted, Ok(PostOutcome::Posted { .. })), "{posted:?}");
            assert!(added.expect("an opt-out"), "new, though it may have been tried before");
            let accepted = matches!(accepted, Ok(AcceptOutcome::Accepted { .. }));
            (accepted, received.expect("an inbound message").id)
        });
    }
    let (accepted, mut ids): (Vec<bool>, Vec<u64>) = asking.join_all().await.into_iter().unzip();
    ids.sort_unstable();
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
    assert_eq!(accepted.iter().filter(|accepted| **accepted).count(), 10);
    assert_eq!(world.store.balance(BOB).await.unwrap().credit_used.as_micros(), 400);
    assert_eq!(world.store.opt_outs(BOB, None, 100).await.unwrap().len(), 40);
    world.books_are_sound();
}

#[tokio::test]
async fn links_opened_and_closed_beside_a_failing_operation_lose_nothing() {
    let world = World::new().await;
    poison_a_recipient(&world);
    let mut accepted = 0;
    let mut seen = std::collections::HashSet::new();
    for round in 0..30 {
        let link = world.link_with_room(3).await;
        let (good, bad, closed) = tokio::join!(
            world.store.accept(world.sms()),
            world.store.accept(to_poison(&world)),
            link.closes()
        );
        assert!(matches!(good, Ok(AcceptOutcome::Accepted { .. })), "round {round}: {good:?}");
        assert!(bad.is_err());
        accepted += 1;
        // What was handed to the closing link comes back from it; the rest waits for the next one.
        let left = closed.unwrap().jobs;
        link.says(left.iter().map(|job| answer(job, SubmitResponse::NotSent)).collect(), Vec::new()).await;
        world.settles().await;
        link.has_nothing().await;
    }
    let link = world.link_with_room(100).await;
    for job in link.takes_jobs(accepted).await {
        assert!(seen.insert(job.message));
    }
    world.books_are_sound();
}

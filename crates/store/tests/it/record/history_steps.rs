//! The history of a message: its steps, and the lines of the store's timeline where steps are missing.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_engine::steps::StepKind;
use hermod_store::SubmitResponse;
use hermod_store::record::{MessageHistory, Scope, StepNote};

async fn history(world: &World, id: MessageId) -> MessageHistory {
    let found =
        world.store.record().message_history(Scope::Account(ALICE), id).await.expect("the store answers");
    found.expect("the record has the message")
}

#[tokio::test]
async fn history_has_the_steps_in_order_and_waits_for_what_was_just_committed() {
    let mut world = World::with_record().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let accepted = history(&world, message).await;
    assert_eq!((accepted.message.id, accepted.balance.is_some()), (message, true));
    let job = link.take_job().await;
    link.accept(&job, "id-1").await;
    world.advance(secs(2)).await;
    let link = world.link_of(ACME, hermod_store::LinkKind::Sends).await;
    link.receipt("id-1", DeliveryOutcome::Delivered).await;
    world.flush().await;
    world.store.record().flush().await.expect("the record answers");
    let history = history(&world, message).await;
    let kinds: Vec<&str> = history
        .steps
        .iter()
        .map(|step| match &step.what {
            StepNote::Step(StepKind::Sent { .. }) => "sent",
            StepNote::Step(StepKind::CarrierAccepted { .. }) => "accepted",
            StepNote::Step(StepKind::Receipt { .. }) => "receipt",
            StepNote::Step(StepKind::Ended { .. }) => "ended",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["sent", "accepted", "receipt", "ended"]);
    assert!(history.steps.is_sorted_by_key(|step| step.at_ms));
    assert_eq!(history.steps.last().map(|step| step.at_ms), Some(2_000));
}

#[tokio::test]
async fn message_without_a_history_is_not_found() {
    let world = World::with_record().await;
    let unknown = MessageId::first_at(noon());
    assert_eq!(
        world.store.record().message_history(Scope::All, unknown).await.expect("the record answers"),
        None
    );
}

#[tokio::test]
async fn steps_that_are_missing_are_shown_as_the_store_kept_them() {
    let mut world = World::with_record().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    link.answer(&job, SubmitResponse::Temporary { status: 0x64, after: None }).await;
    world.flush().await;
    // A record that is made again from the store has no steps.
    world.store.close().await.expect("the record answers");
    std::fs::remove_file(world.path().join("record.db")).expect("the record answers");
    world.reopen();
    world.store.record().flush().await.expect("the record answers");
    let history = history(&world, message).await;
    assert!(history.steps.iter().any(|step| step.what == StepNote::Gap), "{:?}", history.steps);
    let stored = history.steps.iter().find_map(|step| match &step.what {
        StepNote::Stored { what, detail } => Some((&**what, &**detail)),
        _ => None,
    });
    assert_eq!(stored, Some(("temporary_error", "status 0x64")));
}

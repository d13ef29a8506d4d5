//! Each step of a message is in its timeline, in order.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState, RejectionCause};
use hermod_domain::money::Money;
use hermod_store::record::{MessageHistory, Scope, StepKind, StepNote};
use hermod_store::{ResponseRecord, SubmitResponse};

const TROUBLE: SubmitResponse = SubmitResponse::Temporary { status: 0x64, after: None };

async fn history(world: &World, message: MessageId) -> MessageHistory {
    world.store.record().flush().await.expect("the record is complete");
    let found = world
        .store
        .record()
        .message_history(Scope::Account(ALICE), message)
        .await
        .expect("the record answers");
    found.expect("the message is there")
}

/// Returns the first word of each step.
pub(super) fn words(history: &MessageHistory) -> Vec<String> {
    let word = |note: &StepNote| match note {
        StepNote::Step(step) => format!("{step:?}"),
        note => format!("{note:?}"),
    };
    let first =
        |text: String| text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned();
    history.steps.iter().map(|step| first(word(&step.what))).collect()
}

#[tokio::test]
async fn delivered_message_has_its_ordinary_steps_in_milliseconds_after_its_acceptance() {
    let mut world = World::with_record().await;
    let mut link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    let job = link.take_job().await;
    world.advance(secs(2)).await;
    link.now = world.now;
    link.accept(&job, "id-1").await;
    world.advance(secs(3)).await;
    link.now = world.now;
    link.receipt("id-1", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let history = history(&world, message).await;
    assert_eq!(words(&history), ["Sent", "CarrierAccepted", "Receipt", "Ended"]);
    assert_eq!(history.steps.iter().map(|step| step.at_ms).collect::<Vec<_>>(), [0, 2_000, 5_000, 5_000]);
    assert_eq!(history.message.state, MessageState::Delivered);
    assert_eq!(history.balance, Some(Money::from_micros(1_000_000_000 - PRICE)));
    assert_eq!(history.charged_parts, 1);
}

#[tokio::test]
async fn errors_failover_and_rejection_are_in_the_timeline() {
    let world = World::with_record().await;
    let link = world.link_with_slots(1).await;
    let other = world.link_to(OTHER, 5).await;
    let message = world.send(world.sms()).await;
    let refused = SubmitResponse::Refused { about: RejectionCause::Other, status: 0x45 };
    let job = link.take_job().await;
    let to_other = ResponseRecord { failover_to: Some(split(OTHER)), ..answer(&job, refused.clone()) };
    link.respond(vec![to_other], Vec::new()).await;
    // The first carrier is recorded before the second answers.
    world.flush().await;
    let before = history(&world, message).await;
    assert_eq!((before.message.carrier, before.message.state), (OTHER, MessageState::Queued));
    let job = other.take_job().await;
    other.answer(&job, refused).await;
    world.flush().await;
    let history = history(&world, message).await;
    assert_eq!(words(&history), ["Sent", "Refused", "FailedOver", "Sent", "Rejected", "Ended"]);
    assert_eq!(history.message.refund, None, "a carrier may have received it");
    let ended = &history.steps.last().expect("steps").what;
    assert!(
        matches!(
            ended,
            StepNote::Step(StepKind::Ended { state: MessageState::Undeliverable, refund: None, .. })
        ),
        "{ended:?}"
    );
    super::agrees(&world).await;
}

#[tokio::test]
async fn parts_in_doubt_and_temporary_errors_are_in_the_timeline() {
    let mut world = World::with_record().await;
    let link = world.link_with_slots(1).await;
    let first = world.send(world.sms()).await;
    link.answer(&link.take_job().await, TROUBLE).await;
    world.flush().await;
    assert_eq!(words(&history(&world, first).await), ["Sent", "TemporaryError"]);

    link.add_slots(1).await;
    let second = world.send(world.sms()).await;
    link.take_job().await;
    world.flush().await;
    // It was being sent when the process ended: in doubt from the next start on.
    world.restart().await;
    assert_eq!(words(&history(&world, second).await), ["Sent", "InDoubt"]);
}

#[tokio::test]
async fn timeline_says_that_steps_are_missing_after_a_kill() {
    let mut world = World::with_record().await;
    let link = world.link_with_slots(2).await;
    let first = world.send(world.sms()).await;
    link.accept(&link.take_job().await, "id-1").await;
    world.flush().await;
    assert_eq!(words(&history(&world, first).await), ["Sent", "CarrierAccepted"]);
    link.receipt("id-1", DeliveryOutcome::Delivered).await;
    let second = world.send(world.sms()).await;
    world.flush().await;
    world.kill();
    let ended = history(&world, first).await;
    assert_eq!(words(&ended), ["Sent", "CarrierAccepted", "Gap", "Ended"]);
    assert_eq!(ended.message.state, MessageState::Delivered);
    let walked = history(&world, second).await;
    assert!(words(&walked).contains(&"Gap".to_owned()), "{:?}", walked.steps);
    assert_eq!((walked.balance, walked.route), (None, None));
    super::agrees(&world).await;
}

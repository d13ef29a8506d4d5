//! Rotation of a webhook secret: every post is verifiable with a secret that the receiver has.

use super::*;
use hermod_gateway::secrets::Secret;
use hermod_operator::account;
use hermod_operator::account::Rotation;
use hermod_operator::author::Author;
use hermod_operator::entry::carry_out;

const NEW: &str = "alices-other-webhook-secret";

/// Takes one rotation step.
async fn step(s: &Scenario, step: Rotation) -> Result<(), String> {
    let gateway = s.gateway();
    let rows = gateway.store.setup().rows().await.expect("a catalogue");
    let plan = account::rotate(rows, &gateway.pepper, "alice", &step, gateway.clock.now());
    let plan = plan.map_err(|refusal| refusal.to_string())?;
    carry_out::carry_out(&gateway.store, &plan, &Author::operator(None), gateway.clock.now())
        .await
        .expect("it can be stored");
    gateway.set_catalogue(plan.catalogue);
    Ok(())
}

/// Returns the signatures of the next post that the old and the new secret verify.
async fn signatures_of_next_post(
    s: &Scenario,
    hooks: &WebhookReceiver,
) -> (Vec<SignatureHeader>, Vec<SignatureHeader>) {
    let count = hooks.count() + 1;
    s.alice.send(TO, "hello").await.accepted();
    let caught = wait_for_posts(hooks, count).await;
    let last = caught.last().expect("it came");
    (verified_signatures(last, SECRET), verified_signatures(last, NEW))
}

#[tokio::test]
async fn staged_secret_is_switched_to_and_the_old_one_is_valid_for_a_day() {
    use SignatureHeader::{Current, Next, Previous, Standard};
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    assert_eq!(signatures_of_next_post(&s, &hooks).await, (vec![Current, Standard], vec![]));
    assert!(step(&s, Rotation::Switch).await.is_err_and(|told| told.contains("stage one first")));
    step(&s, Rotation::Stage(Secret::new(NEW))).await.expect("it is staged");
    assert_eq!(signatures_of_next_post(&s, &hooks).await, (vec![Current, Standard], vec![Next, Standard]));
    step(&s, Rotation::Switch).await.expect("it counts");
    assert_eq!(
        signatures_of_next_post(&s, &hooks).await,
        (vec![Previous, Standard], vec![Current, Standard])
    );
    s.skip(Duration::from_secs(24 * 3_600));
    assert_eq!(signatures_of_next_post(&s, &hooks).await, (vec![], vec![Current, Standard]));
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn staged_and_previous_secret_can_be_dropped() {
    use SignatureHeader::{Current, Previous, Standard};
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    step(&s, Rotation::Stage(Secret::new("never-to-be-used"))).await.expect("it is staged");
    step(&s, Rotation::Drop).await.expect("it is dropped");
    assert_eq!(signatures_of_next_post(&s, &hooks).await, (vec![Current, Standard], vec![]));
    step(&s, Rotation::Stage(Secret::new(NEW))).await.expect("it is staged");
    step(&s, Rotation::Switch).await.expect("it counts");
    assert_eq!(
        signatures_of_next_post(&s, &hooks).await,
        (vec![Previous, Standard], vec![Current, Standard])
    );
    step(&s, Rotation::Drop).await.expect("it is dropped");
    assert_eq!(signatures_of_next_post(&s, &hooks).await, (vec![], vec![Current, Standard]));
    assert!(step(&s, Rotation::Drop).await.is_err());
    hooks.stop().await;
    s.end().await;
}

//! Retries of a failing webhook: the same event is posted on a schedule, over restarts, until
//! it succeeds or fails; other endpoints are not delayed.

use super::*;
use hermod_domain::webhook::WebhookKind;
use hermod_store::{Endpoint, GiveUpReason, WebhookRecord, WebhookReplay, WebhookState};

const SECOND: Duration = Duration::from_secs(1);

/// Returns alice's event.
async fn listed(s: &Scenario) -> WebhookRecord {
    s.wait_for_webhook_event(|_| true).await
}

/// Waits until alice's event has this state.
async fn wait_for_state(s: &Scenario, state: WebhookState) -> WebhookRecord {
    s.wait_for_webhook_event(|event| event.state == state).await
}

/// Waits until `count` attempts are stored.
async fn wait_for_attempts(s: &Scenario, count: u32) -> WebhookRecord {
    s.wait_for_webhook_event(|event| event.attempts >= count).await
}

#[tokio::test]
async fn failing_webhook_is_tried_six_times_on_schedule_with_the_same_body() {
    let hooks = receiver(ReceiverBehaviour::Status(503));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    s.alice.send(TO, "again and again").await.accepted();
    let waits = [50, 300, 1_800, 10_800, 64_800].map(Duration::from_secs);
    for (count, wait) in (1..).zip(waits) {
        wait_for_posts(&hooks, count).await;
        let event = wait_for_attempts(&s, u32::try_from(count).expect("a few")).await;
        let due = event.due_at.expect("it waits").since(s.gateway().clock.now());
        assert!(wait * 9 / 10 - SECOND <= due && due <= wait * 11 / 10, "{due:?} after {count} failures");
        s.skip(wait * 85 / 100);
        assert_post_count(&hooks, count).await;
        s.skip(wait * 30 / 100);
    }
    let caught = wait_for_posts(&hooks, 6).await;
    wait_for_state(&s, WebhookState::Failed(GiveUpReason::AttemptsUsedUp)).await;
    let ids: Vec<&str> = caught.iter().map(|post| header(post, "webhook-id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0] && id.starts_with("evt_")), "{ids:?}");
    assert!(
        caught
            .iter()
            .all(|post| post.body == caught[0].body && !verified_signatures(post, SECRET).is_empty())
    );
    let numbers: Vec<&str> = caught.iter().map(|post| header(post, "x-svc-attempt")).collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5", "6"]);
    s.skip(Duration::from_secs(86_400));
    assert_post_count(&hooks, 6).await;

    // A replay posts the same body.
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    let (store, event) = (&s.gateway().store, listed(&s).await);
    let replayed = store.webhooks().replay(event.account, event.id, s.gateway().clock.now()).await;
    assert_eq!(replayed.expect("it is kept"), WebhookReplay::Again);
    let again = &wait_for_posts(&hooks, 7).await[6];
    assert_eq!((&again.body, header(again, "webhook-id")), (&caught[0].body, ids[0]));
    assert_eq!(header(again, "x-svc-attempt"), "7");
    wait_for_state(&s, WebhookState::Delivered).await;
    let kept = store
        .webhooks()
        .attempts(event.account, event.id)
        .await
        .expect("they are kept")
        .expect("the event exists");
    assert_eq!((kept.len(), kept[6].response.as_slice()), (7, b"ok".as_slice()));
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn any_2xx_status_is_success_and_a_redirect_is_not_followed() {
    for (manner, state) in [
        (ReceiverBehaviour::Status(204), Some(WebhookState::Delivered)),
        (ReceiverBehaviour::Redirect("http://127.0.0.1:1/".to_owned()), None),
    ] {
        let hooks = receiver(manner);
        let s = scenario_with_webhook(&hooks, Script::new()).await;
        s.alice.send(TO, "hello").await.accepted();
        wait_for_posts(&hooks, 1).await;
        match state {
            Some(state) => assert_eq!(wait_for_state(&s, state).await.attempts, 1),
            None => assert_eq!(wait_for_attempts(&s, 1).await.state, WebhookState::Waiting),
        }
        assert_post_count(&hooks, 1).await;
        hooks.stop().await;
        s.end().await;
    }
}

#[tokio::test]
async fn retry_schedule_survives_a_restart() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let mut s = scenario_with_webhook(&hooks, Script::new()).await;
    s.alice.send(TO, "hello").await.accepted();
    wait_for_posts(&hooks, 1).await;
    let due = wait_for_attempts(&s, 1).await.due_at;
    s.restart().await;
    assert_eq!(listed(&s).await.due_at, due);
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    s.skip(Duration::from_secs(56));
    let again = &wait_for_posts(&hooks, 2).await[1];
    assert_eq!(header(again, "x-svc-attempt"), "2");
    wait_for_state(&s, WebhookState::Delivered).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn final_status_does_not_wait_behind_a_failing_intermediate_one() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let s = scenario_with_webhook(&hooks, enroute_only()).await;
    s.alice.send(TO, "hello").await.accepted();
    wait_for_posts(&hooks, 1).await;
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    s.deliver_last_message();
    // The pause after a failure follows the gateway's clock.
    let caught = s.advance_until(Duration::from_millis(20), || hooks.wait_for(2, PATIENCE)).await;
    assert_eq!(body(&caught[1])["status"], "DELIVRD");
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn unresponsive_endpoint_does_not_delay_other_accounts() {
    let (dead, healthy) = (receiver(ReceiverBehaviour::Hang), receiver(ReceiverBehaviour::Status(200)));
    let staged = setup_with_webhook(&dead).account("bob", &lines(&healthy));
    let s = Scenario::with_setup(Script::new(), staged).await;
    for n in 0..50 {
        s.alice.send(TO, &format!("into the void {n}")).await.accepted();
    }
    dead.wait_for(4, PATIENCE).await;
    for n in 0..50 {
        s.bob.send(TO, &format!("heard {n}")).await.accepted();
    }
    wait_for_posts(&healthy, 50).await;
    assert!(dead.count() < 50, "the number of posts to it is limited: {}", dead.count());
    healthy.stop().await;
    dead.stop().await;
    s.end().await;
}

#[tokio::test]
async fn event_fails_when_its_webhook_address_is_removed_and_can_be_replayed() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    s.alice.send(TO, "hello").await.accepted();
    wait_for_posts(&hooks, 1).await;
    let event = wait_for_attempts(&s, 1).await;
    s.provision("[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\n")
        .await;
    s.skip(Duration::from_secs(56));
    wait_for_state(&s, WebhookState::Failed(GiveUpReason::NoAddress)).await;
    assert_post_count(&hooks, 1).await;
    let figures = s.gateway().store.webhooks().figures(event.account).await.expect("figures");
    let dlr = figures.iter().find(|one| one.kind == WebhookKind::Dlr).expect("one for each kind");
    assert_eq!((dlr.waiting, dlr.failed), (0, 1));

    // With an address again, all failed events are replayed.
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    s.provision(&format!(
        "[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\n{}",
        lines(&hooks)
    ))
    .await;
    let endpoint = Endpoint { account: event.account, kind: WebhookKind::Dlr };
    let (store, now) = (&s.gateway().store, s.gateway().clock.now());
    let replayed =
        store.webhooks().replay_failed(endpoint, event.at, None, 100, now).await.expect("a replay");
    assert_eq!((replayed.replayed, replayed.next), (1, None));
    wait_for_posts(&hooks, 2).await;
    wait_for_state(&s, WebhookState::Delivered).await;
    hooks.stop().await;
    s.end().await;
}

//! What happens while a customer's server fails: the same thing is posted again on a schedule, over restarts too, until
//! it is taken or given up; and nobody else waits for it.

use super::*;
use hermod_domain::webhook::WebhookKind;
use hermod_simulator::carrier::Outcome;
use hermod_store::{Endpoint, GiveUpReason, WebhookFilter, WebhookReplay, WebhookState};

const SECOND: Duration = Duration::from_secs(1);

/// Alice's event, as it is listed.
async fn listed(s: &Scenario) -> hermod_store::WebhookRecord {
    let store = &s.world().store;
    let account = crate::assembly::account_id(store).await;
    let events = store.webhook_events(account, WebhookFilter::default(), None, 10).await.expect("a list");
    assert_eq!(events.len(), 1, "{events:?}");
    events[0].clone()
}

/// Waits until the store says this of alice's event.
async fn becomes(s: &Scenario, state: WebhookState) -> hermod_store::WebhookRecord {
    let started = crate::real_time::now();
    loop {
        let event = listed(s).await;
        if event.state == state {
            return event;
        }
        assert!(started.elapsed() < PATIENCE, "still {event:?}");
        crate::real_time::pause(Duration::from_millis(20)).await;
    }
}

/// Waits until so many attempts are written down.
async fn attempts(s: &Scenario, count: u32) -> hermod_store::WebhookRecord {
    let started = crate::real_time::now();
    loop {
        let event = listed(s).await;
        if event.attempts >= count {
            return event;
        }
        assert!(started.elapsed() < PATIENCE, "still {event:?}");
        crate::real_time::pause(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_failing_server_is_tried_six_times_on_schedule_with_the_same_words() {
    let hooks = receiver(ReceiverBehaviour::Status(503));
    let s = alice_is_told_at(&hooks, Script::new()).await;
    s.alice.sends(TO, "again and again").await.accepted();
    let waits = [50, 300, 1_800, 10_800, 64_800].map(Duration::from_secs);
    for (count, wait) in (1..).zip(waits) {
        posts(&hooks, count).await;
        let event = attempts(&s, u32::try_from(count).expect("a few")).await;
        let due = event.due_at.expect("it waits").since(s.world().clock.now());
        assert!(wait * 9 / 10 - SECOND <= due && due <= wait * 11 / 10, "{due:?} after {count} failures");
        s.skip(wait * 85 / 100);
        comes_to(&hooks, count).await;
        s.skip(wait * 30 / 100);
    }
    let caught = posts(&hooks, 6).await;
    becomes(&s, WebhookState::Failed(GiveUpReason::AttemptsUsedUp)).await;
    let ids: Vec<&str> = caught.iter().map(|post| header(post, "webhook-id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0] && id.starts_with("evt_")), "{ids:?}");
    assert!(caught.iter().all(|post| post.body == caught[0].body && !proven(post, SECRET).is_empty()));
    let numbers: Vec<&str> = caught.iter().map(|post| header(post, "x-svc-attempt")).collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5", "6"]);
    s.skip(Duration::from_secs(86_400));
    comes_to(&hooks, 6).await;

    // Replayed, it is the same once more.
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    let (store, event) = (&s.world().store, listed(&s).await);
    let replayed = store.replay_webhook(event.account, event.id, s.world().clock.now()).await;
    assert_eq!(replayed.expect("it is kept"), WebhookReplay::Again);
    let again = &posts(&hooks, 7).await[6];
    assert_eq!((&again.body, header(again, "webhook-id")), (&caught[0].body, ids[0]));
    assert_eq!(header(again, "x-svc-attempt"), "7");
    becomes(&s, WebhookState::Delivered).await;
    let kept = store.webhook_attempts(event.account, event.id).await.expect("they are kept").expect("hers");
    assert_eq!((kept.len(), kept[6].response.as_slice()), (7, b"ok".as_slice()));
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn any_2xx_is_success_and_a_redirect_is_not_followed() {
    for (manner, state) in [
        (ReceiverBehaviour::Status(204), Some(WebhookState::Delivered)),
        (ReceiverBehaviour::Redirect("http://127.0.0.1:1/".to_owned()), None),
    ] {
        let hooks = receiver(manner);
        let s = alice_is_told_at(&hooks, Script::new()).await;
        s.alice.sends(TO, "hello").await.accepted();
        posts(&hooks, 1).await;
        match state {
            Some(state) => assert_eq!(becomes(&s, state).await.attempts, 1),
            None => assert_eq!(attempts(&s, 1).await.state, WebhookState::Waiting),
        }
        comes_to(&hooks, 1).await;
        hooks.stop().await;
        s.end().await;
    }
}

#[tokio::test]
async fn the_schedule_is_kept_over_a_restart() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let mut s = alice_is_told_at(&hooks, Script::new()).await;
    s.alice.sends(TO, "hello").await.accepted();
    posts(&hooks, 1).await;
    let due = attempts(&s, 1).await.due_at;
    s.restart().await;
    assert_eq!(listed(&s).await.due_at, due);
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    s.skip(Duration::from_secs(56));
    let again = &posts(&hooks, 2).await[1];
    assert_eq!(header(again, "x-svc-attempt"), "2");
    becomes(&s, WebhookState::Delivered).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn a_final_state_does_not_wait_behind_a_failing_intermediate_one() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let script = Script::new().enroute_after(Duration::ZERO).receipt_after(2 * A_MOMENT, Outcome::Delivered);
    let s = alice_is_told_at(&hooks, script).await;
    s.alice.sends(TO, "hello").await.accepted();
    posts(&hooks, 1).await;
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    // The breath after a failure is the gateway's own time.
    let caught = s.stepping(Duration::from_millis(20), || hooks.wait_for(2, PATIENCE)).await;
    assert_eq!(body(&caught[1])["status"], "DELIVRD");
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn a_dead_endpoint_delays_nobody() {
    let (dead, healthy) = (receiver(ReceiverBehaviour::Hang), receiver(ReceiverBehaviour::Status(200)));
    let staged = told_at(&dead).account("bob", &lines(&healthy));
    let s = Scenario::staged(Script::new(), staged).await;
    for n in 0..50 {
        s.alice.sends(TO, &format!("into the void {n}")).await.accepted();
    }
    dead.wait_for(4, PATIENCE).await;
    for n in 0..50 {
        s.bob.sends(TO, &format!("heard {n}")).await.accepted();
    }
    posts(&healthy, 50).await;
    assert!(dead.count() < 50, "it is not pressed: {}", dead.count());
    healthy.stop().await;
    dead.stop().await;
    s.end().await;
}

#[tokio::test]
async fn without_an_address_any_more_what_waits_is_given_up_and_told() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let s = alice_is_told_at(&hooks, Script::new()).await;
    s.alice.sends(TO, "hello").await.accepted();
    posts(&hooks, 1).await;
    let event = attempts(&s, 1).await;
    s.operator_provisions(
        "[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\n",
    )
    .await;
    s.skip(Duration::from_secs(56));
    becomes(&s, WebhookState::Failed(GiveUpReason::NoAddress)).await;
    comes_to(&hooks, 1).await;
    let figures = s.world().store.webhook_figures(event.account).await.expect("figures");
    let dlr = figures.iter().find(|one| one.kind == WebhookKind::Dlr).expect("one for each kind");
    assert_eq!((dlr.waiting, dlr.failed), (0, 1));

    // With an address again, all that failed is replayed.
    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    s.operator_provisions(&format!(
        "[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\n{}",
        lines(&hooks)
    ))
    .await;
    let endpoint = Endpoint { account: event.account, kind: WebhookKind::Dlr };
    let (store, now) = (&s.world().store, s.world().clock.now());
    let replayed = store.replay_failed(endpoint, event.at, None, 100, now).await.expect("a replay");
    assert_eq!((replayed.replayed, replayed.next), (1, None));
    posts(&hooks, 2).await;
    becomes(&s, WebhookState::Delivered).await;
    hooks.stop().await;
    s.end().await;
}

//! The alarm of a failing webhook: raised after minutes, cleared by a success or a new address.

use super::*;
use crate::real_time::{now, pause};

const FAILING: &str = " webhook-failing alice/dlr";
const SECOND: Duration = Duration::from_secs(1);

/// Advances the clock until the alarm is raised or cleared.
async fn wait_for_alarm(s: &Scenario, raised: bool) {
    let started = now();
    while s.alarms().contains(&FAILING.to_owned()) != raised {
        assert!(started.elapsed() < PATIENCE, "raised should be {raised}: {:?}", s.alarms());
        s.skip(SECOND);
        pause(Duration::from_millis(20)).await;
    }
}

/// Advances the clock until there are `count` posts. A retry is due after the result was stored,
/// which may be later than the receiver's response.
async fn advance_until_posts(s: &Scenario, hooks: &WebhookReceiver, count: u64) {
    let started = now();
    while hooks.count() < count {
        assert!(started.elapsed() < PATIENCE, "{} posts in place of {count}", hooks.count());
        s.skip(SECOND);
        pause(Duration::from_millis(20)).await;
    }
}

/// Starts a scenario in which alice's webhook has failed for five minutes.
async fn scenario_with_failing_webhook(hooks: &WebhookReceiver) -> Scenario {
    let s = scenario_with_webhook(hooks, Script::new()).await;
    s.alice.send(TO, "hello").await.accepted();
    wait_for_posts(hooks, 1).await;
    advance_until_posts(&s, hooks, 2).await;
    assert!(!s.alarms().contains(&FAILING.to_owned()), "not after a minute: {:?}", s.alarms());
    s.skip(Duration::from_secs(245));
    wait_for_alarm(&s, true).await;
    s
}

#[tokio::test]
async fn webhook_that_fails_for_minutes_raises_an_alarm_over_restarts_until_it_succeeds() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let mut s = scenario_with_failing_webhook(&hooks).await;
    let alarm = s.gateway().alarms.list().into_iter().find(|alarm| alarm.about == "alice/dlr");
    let detail = alarm.expect("the alarm is raised").detail;
    assert!(detail.ends_with("the last got status 500"), "{detail}");
    s.restart().await;
    wait_for_alarm(&s, true).await;

    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    advance_until_posts(&s, &hooks, 3).await;
    wait_for_alarm(&s, false).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn webhook_alarm_is_cleared_by_another_address() {
    let (hooks, other) = (receiver(ReceiverBehaviour::Status(500)), receiver(ReceiverBehaviour::Status(200)));
    let s = scenario_with_failing_webhook(&hooks).await;
    s.provision(&format!(
        "[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\n{}",
        lines(&other)
    ))
    .await;
    wait_for_alarm(&s, false).await;
    other.stop().await;
    hooks.stop().await;
    s.end().await;
}

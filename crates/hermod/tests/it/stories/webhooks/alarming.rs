//! A customer's server that takes nothing for minutes is an alarm, until it takes something or is not wanted any more.

use super::*;
use crate::real_time::{now, pause};

const FAILING: &str = " webhook-failing alice/dlr";
const SECOND: Duration = Duration::from_secs(1);

/// Lets the gateway's time pass until the alarm is raised, or cleared.
async fn alarm_is(s: &Scenario, raised: bool) {
    let started = now();
    while s.alarms().contains(&FAILING.to_owned()) != raised {
        assert!(started.elapsed() < PATIENCE, "raised should be {raised}: {:?}", s.alarms());
        s.skip(SECOND);
        pause(Duration::from_millis(20)).await;
    }
}

/// Lets the gateway's time pass until there are so many posts. A retry is due a while after the answer was written down,
/// which may be later than the moment the receiver answered.
async fn posts_in_time(s: &Scenario, hooks: &WebhookReceiver, count: u64) {
    let started = now();
    while hooks.count() < count {
        assert!(started.elapsed() < PATIENCE, "{} posts in place of {count}", hooks.count());
        s.skip(SECOND);
        pause(Duration::from_millis(20)).await;
    }
}

/// Alice's server has failed for five minutes.
async fn a_server_that_fails(hooks: &WebhookReceiver) -> Scenario {
    let s = alice_is_told_at(hooks, Script::new()).await;
    s.alice.sends(TO, "hello").await.accepted();
    posts(hooks, 1).await;
    posts_in_time(&s, hooks, 2).await;
    assert!(!s.alarms().contains(&FAILING.to_owned()), "not after a minute: {:?}", s.alarms());
    s.skip(Duration::from_secs(245));
    alarm_is(&s, true).await;
    s
}

#[tokio::test]
async fn webhook_that_fails_for_minutes_is_an_alarm_over_restarts_until_it_succeeds() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let mut s = a_server_that_fails(&hooks).await;
    let alarm = s.world().alarms.list().into_iter().find(|alarm| alarm.about == "alice/dlr");
    let detail = alarm.expect("it is raised").detail;
    assert!(detail.ends_with("the last got status 500"), "{detail}");
    s.restart().await;
    alarm_is(&s, true).await;

    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    posts_in_time(&s, &hooks, 3).await;
    alarm_is(&s, false).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn webhook_alarm_is_cleared_when_the_account_names_another_address() {
    let (hooks, other) = (receiver(ReceiverBehaviour::Status(500)), receiver(ReceiverBehaviour::Status(200)));
    let s = a_server_that_fails(&hooks).await;
    s.operator_provisions(&format!(
        "[[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nverified = true\ncountries = \"*\"\n{}",
        lines(&other)
    ))
    .await;
    alarm_is(&s, false).await;
    other.stop().await;
    hooks.stop().await;
    s.end().await;
}

//! A gateway that is held while it posts webhooks.

use super::*;

/// Longer than the first wait after a failure.
const RETRY: Duration = Duration::from_secs(120);

#[tokio::test]
async fn hold_stops_the_posts_of_a_running_gateway_until_it_is_released() {
    let hooks = receiver(ReceiverBehaviour::Status(503));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    s.alice.send(TO, "before the hold").await.accepted();
    s.wait_for_webhook_event(|event| event.attempts == 1).await;
    s.hold().await;
    s.skip(RETRY);
    assert_post_count(&hooks, 1).await;

    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    s.release().await;
    let posts = wait_for_posts(&hooks, 2).await;
    assert_eq!(header(&posts[1], "webhook-id"), header(&posts[0], "webhook-id"));
    s.advance_until(Duration::from_secs(2), || s.wait_for_bound_link("acme")).await;
    s.alice.send(TO, "after the release").await.accepted();
    wait_for_posts(&hooks, 3).await;
    hooks.stop().await;
    s.end().await;
}

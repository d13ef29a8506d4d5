//! Webhooks of MO messages.

use super::*;
use hermod_store::Inbound;

#[tokio::test]
async fn mo_message_is_posted_with_its_four_fields() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    let (store, now) = (&s.gateway().store, s.gateway().clock.now());
    let said = Inbound {
        account: crate::store_access::account_id(store).await,
        from: "4915112345678".to_owned(),
        to: "80808".to_owned(),
        text: "Ja, \"gern\" \u{1f600}\n".to_owned(),
        received_at: now,
    };
    store.inbound().receive(said).await.expect("it is stored");
    let post = &wait_for_posts(&hooks, 1).await[0];
    assert_eq!(post.path, "/inbound");
    assert_eq!(
        std::str::from_utf8(&post.body).expect("UTF-8"),
        format!(
            "{{\"from\":\"+4915112345678\",\"to\":\"80808\",\"text\":\"Ja, \\\"gern\\\" \u{1f600}\\n\",\"received_at\":\"{now}\"}}"
        )
    );
    assert_eq!(verified_signatures(post, SECRET), [SignatureHeader::Current, SignatureHeader::Standard]);
    assert!(header(post, "webhook-id").starts_with("evt_"));
    assert_post_count(&hooks, 1).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn failing_delivery_report_webhook_does_not_delay_the_inbound_webhook() {
    let (dead, healthy) = (receiver(ReceiverBehaviour::Hang), receiver(ReceiverBehaviour::Status(200)));
    let lines = format!(
        "dlr_webhook = \"{}\"\ninbound_webhook = \"{}\"\nwebhook_secret = \"{SECRET}\"\n",
        dead.url("dlr"),
        healthy.url("inbound")
    );
    let s = Scenario::with_setup(Script::new(), GatewaySetup::with("").account("alice", &lines)).await;
    for n in 0..10 {
        s.alice.send(TO, &format!("into the void {n}")).await.accepted();
    }
    dead.wait_for(4, PATIENCE).await;
    let store = &s.gateway().store;
    let account = crate::store_access::account_id(store).await;
    let said = |text: &str| Inbound {
        account,
        from: TO.to_owned(),
        to: "80808".to_owned(),
        text: text.to_owned(),
        received_at: s.gateway().clock.now(),
    };
    for text in ["one", "two", "three"] {
        store.inbound().receive(said(text)).await.expect("it is stored");
    }
    let mut texts: Vec<String> = wait_for_posts(&healthy, 3)
        .await
        .iter()
        .map(|post| body(post)["text"].as_str().unwrap_or_default().to_owned())
        .collect();
    texts.sort();
    assert_eq!(texts, ["one", "three", "two"]);
    healthy.stop().await;
    dead.stop().await;
    s.end().await;
}

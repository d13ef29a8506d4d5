//! The request log in the portal: rejected calls by code with the place of the remedy.

use super::member;
use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;
use std::time::Duration;

const PAGE: &str = "/accounts/alice/request-log";

#[tokio::test]
async fn rejected_call_is_shown_with_its_remedy() {
    let s = Scenario::with(Script::new()).await;
    let body = r#"{"to": "+4915112345678", "from": "Unknown", "text": "rejected"}"#;
    let rejected = s.alice.post_body(body).await;
    assert_eq!(rejected.headers["x-error-code"], "SENDER_NOT_APPROVED");
    let request = rejected.headers["x-request-id"].clone();
    let message = s.alice.send("+4915112345678", "accepted").await.accepted();
    s.bob.post_body(r#"{"to": "+33612345678", "text": "of bob"}"#).await;
    s.gateway().store.record().flush().await.expect("the record is written");
    let browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    let page = browser.get(PAGE).await;
    for shown in
        ["SENDER_NOT_APPROVED", "href=\"/accounts/alice/senders\"", &request, &message, "POST /api/v1/sms"]
    {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(!page.text.contains("NO_ROUTE") && !page.text.contains("NO_PRICE"), "bob's call is bob's");
    let only = browser.get(&format!("{PAGE}?rejected=true&kind=http")).await;
    assert!(only.text.contains(&request) && !only.text.contains(&message), "{}", only.text);
    let by_id = browser.get(&format!("{PAGE}?request={request}")).await;
    assert!(by_id.text.contains(&request) && !by_id.text.contains(&message));
    let by_code = browser.get(&format!("{PAGE}?code=SENDER_NOT_APPROVED&since=1h")).await;
    assert!(by_code.text.contains(&request) && !by_code.text.contains(&message));
    let wrong = browser.get(&format!("{PAGE}?since=%3Cscript%3E")).await;
    assert!(wrong.text.contains("since-error") && !wrong.text.contains("<script>\""), "{}", wrong.text);
    let nothing = browser.get(&format!("{PAGE}?code=%22%3E%3Cimg%20src%3Dx%3E")).await;
    assert!(nothing.text.contains("No request matches") && !nothing.text.contains("<img"));
    // Billing sees the log, which has neither texts nor numbers, and no link to a page that it may not open.
    let billing = member(&s, "bill@example.com", "alice", Role::Billing).await;
    let page = billing.get(PAGE).await;
    assert!(page.status == 200 && page.text.contains("SENDER_NOT_APPROVED"));
    assert!(!page.text.contains("/alice/senders") && !page.text.contains("15112345678"), "{}", page.text);
    assert_eq!(browser.get("/accounts/bob/request-log").await.status, 404);
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn older_requests_are_on_the_next_page() {
    let s = Scenario::with(Script::new()).await;
    for _ in 0..55 {
        s.alice.get("/api/v1/balance").await;
        // The log keeps a few successful calls a second.
        s.skip(Duration::from_secs(1));
    }
    s.gateway().store.record().flush().await.expect("the record is written");
    let browser = member(&s, "ann@example.com", "alice", Role::Viewer).await;
    let rows = |text: &str| text.matches("GET /api/v1/balance").count();
    let first = browser.get(&format!("{PAGE}?kind=http")).await;
    assert_eq!(rows(&first.text), 50);
    let (_, next) = first
        .text
        .split_once("rel=\"next\"")
        .map_or(("", ""), |(before, _)| before.rsplit_once("href=\"").expect("a link"));
    let next = next.trim_end_matches("\" ").replace("&#38;", "&");
    assert!(next.contains("kind=http"), "{next}");
    assert_eq!(rows(&browser.get(&next).await.text), 5);
    s.end().await;
}

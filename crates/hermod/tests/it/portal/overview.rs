//! Home, the message page, the export and the API page inside the portal.

use super::{Role, member};
use crate::scenario::{GatewaySetup, Scenario};
use hermod_simulator::carrier::{Outcome, Script};
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

#[tokio::test]
async fn home_leads_through_the_first_steps_and_names_what_needs_attention() {
    let s = Scenario::with_setup(Script::new(), GatewaySetup::with("")).await;
    let browser = member(&s, "ann@example.com", "carol", Role::Owner).await;
    let home = browser.get("/accounts/carol").await;
    for shown in
        ["Your first message", "Have a sender approved", "/accounts/carol/compose", "Create an API key"]
    {
        assert!(home.text.contains(shown), "{shown}: {}", home.text);
    }
    assert!(!home.text.contains("Needs attention"), "{}", home.text);
    for index in 0..10 {
        let id = s.carol.send("+4915112345678", &format!("message {index}")).await.accepted();
        s.carol.status_of(&id).becomes("delivered").await;
    }
    s.gateway().store.record().flush().await.expect("the record is written");
    let home = browser.get("/accounts/carol").await;
    assert!(home.text.contains("INSUFFICIENT_CREDIT") && !home.text.contains("Your first message"));
    assert!(home.text.contains("class=\"figure\">10<"), "{}", home.text);
    // Into the next day; a session without a request ends after twelve hours.
    for _ in 0..3 {
        s.skip(Duration::from_secs(9 * 3_600));
        assert_eq!(browser.get("/accounts/carol").await.status, 200);
    }
    let home = browser.get("/accounts/carol").await;
    assert!(home.text.contains("Less than a day at the rate of the last week"), "{}", home.text);
    s.provision("[[account]]\nname = \"carol\"\ncurrency = \"EUR\"\nverified = false\n").await;
    assert!(browser.get("/accounts/carol").await.text.contains("VERIFICATION_REQUIRED"));
    s.end().await;
}

#[tokio::test]
async fn portal_of_a_suspended_or_closed_account_says_so_and_stays_open() {
    let s = Scenario::with(Script::new()).await;
    let browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let change = async |line: &str| {
        s.change(&format!("[[account]]\nname = \"alice\"\n{line}\n")).await;
    };
    change("suspended = \"unpaid <invoice>\"").await;
    let home = browser.get("/accounts/alice").await;
    for shown in ["The account is suspended", "ACCOUNT_SUSPENDED", "unpaid &#60;invoice&#62;"] {
        assert!(home.text.contains(shown), "{shown}: {}", home.text);
    }
    for page in ["billing", "requests", "messages", "inbox"] {
        assert_eq!(browser.get(&format!("/accounts/alice/{page}")).await.status, 200, "{page}");
    }
    change("suspended = \"\"\nclosed = true").await;
    let home = browser.get("/accounts/alice").await;
    assert!(!home.text.contains("The account is suspended"), "{}", home.text);
    assert!(home.text.contains("The account is closed"), "{}", home.text);
    s.end().await;
}

#[tokio::test]
async fn message_page_explains_a_failure_and_shows_webhook_responses() {
    let hooks = WebhookReceiver::start(
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ReceiverBehaviour::Status(200),
        None,
    )
    .expect("a free port");
    let lines =
        format!("dlr_webhook = \"{}\"\nwebhook_secret = \"alices-webhook-secret\"\n", hooks.url("dlr"));
    let s = Scenario::with_setup(failing(), GatewaySetup::with("").account("alice", &lines)).await;
    let id = s.alice.send("+4915112345678", &"long ".repeat(40)).await.accepted();
    s.alice.status_of(&id).becomes("undeliverable").await;
    hooks.wait_for(1, crate::real_time::PATIENCE).await;
    s.wait_for_webhook_event(|event| event.attempts == 1).await;
    s.gateway().store.record().flush().await.expect("the record is written");
    let browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    let page = browser.get(&format!("/accounts/alice/messages/{id}")).await;
    for shown in [
        "Unknown subscriber",
        "/docs#group-Delivery-errors",
        "Part 2 ·",
        "2 parts × 0.05",
        "Send again",
        "<summary>Response</summary>",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let billing = member(&s, "bill@example.com", "alice", Role::Billing).await;
    let page = billing.get(&format!("/accounts/alice/messages/{id}")).await;
    assert!(!page.text.contains("<summary>Response") && !page.text.contains("Send again"), "{}", page.text);
    let docs = browser.get("/docs").await;
    assert!(docs.text.contains("id=\"group-Delivery-errors\""), "the link leads somewhere");
    s.end().await;
}

/// A carrier that accepts everything and reports an unknown subscriber.
fn failing() -> Script {
    Script::new().receipt_after(Duration::from_millis(10), Outcome::Undeliverable).receipt_error(1)
}

#[tokio::test]
async fn export_has_the_filtered_messages_and_is_masked_for_billing() {
    let s = Scenario::with(Script::new()).await;
    let first = s.alice.send("+4915112345678", "one").await.accepted();
    let second = s.alice.send("+4915112345670", "two").await.accepted();
    let other = s.bob.send("+4915112345679", "of bob").await.accepted();
    for (customer, id) in [(&s.alice, &first), (&s.alice, &second), (&s.bob, &other)] {
        customer.status_of(id).becomes("delivered").await;
    }
    s.gateway().store.record().flush().await.expect("the record is written");
    let browser = member(&s, "ann@example.com", "alice", Role::Viewer).await;
    let file = browser.get("/accounts/alice/messages.csv").await;
    assert!(file.headers["content-type"].starts_with("text/csv"), "{:?}", file.headers);
    assert!(file.headers["content-disposition"].contains("messages-2026-11-15.csv"), "{:?}", file.headers);
    assert!(file.text.contains(&first) && file.text.contains(&second) && !file.text.contains(&other));
    assert!(!file.text.contains("acme") && !file.text.contains(",carrier,"), "{}", file.text);
    let filtered = browser.get("/accounts/alice/messages.csv?to=%2B4915112345670").await;
    assert!(filtered.text.contains(&second) && !filtered.text.contains(&first), "{}", filtered.text);
    let list = browser.get("/accounts/alice/messages?text=TWO").await;
    assert!(list.text.contains(&second) && !list.text.contains(&first), "{}", list.text);
    let none = browser.get("/accounts/alice/messages?text=two&to=%2B4915112345678").await;
    assert!(!none.text.contains(&second), "{}", none.text);
    let billing = member(&s, "bill@example.com", "alice", Role::Billing).await;
    let file = billing.get("/accounts/alice/messages.csv").await;
    assert!(file.text.contains("491********78") && !file.text.contains("15112345678"), "{}", file.text);
    // A search for the beginning of a number would find out the hidden digits.
    let probed = billing.get("/accounts/alice/messages?to=%2B4915112345670").await;
    assert!(probed.text.contains(&first) && probed.text.contains(&second), "{}", probed.text);
    assert_eq!(browser.get("/accounts/bob/messages.csv").await.status, 404);
    s.end().await;
}

#[tokio::test]
async fn api_page_is_in_the_style_of_the_portal_and_needs_no_session() {
    let s = Scenario::with(Script::new()).await;
    let browser = super::Browser::new(&s);
    let docs = browser.get("/docs").await;
    assert_eq!(docs.status, 200);
    assert!(docs.text.contains("id=\"error-INVALID_NUMBER\"") && docs.text.contains("href=\"/\""));
    assert!(!docs.text.contains("<style>"), "the policy of the portal forbids it");
    let style = docs.text.split("rel=\"stylesheet\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let style = browser.get(style.expect("a style sheet")).await;
    assert!(style.status == 200 && style.text.contains("--pine"), "{}", style.status);
    assert_eq!(browser.get("/openapi.json").await.status, 200);
    s.end().await;
}

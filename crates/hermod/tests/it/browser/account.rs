//! Journeys through the affairs of an account: a sender, a country, a low balance, a restart, an export.

use super::tab::Tab;
use super::{EMAIL, delivered_message, make_user};
use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_operator::author::{Acting, Author};
use hermod_operator::customer_request::use_cases::{accept_customer_request, list_customer_requests};
use hermod_operator::customer_request::views::CustomerRequestsQuery;
use hermod_simulator::carrier::Script;

const PHONE: &str = "+4915112345678";

async fn accept_the_only_request(s: &Scenario) {
    let open = list_customer_requests(s.gateway(), CustomerRequestsQuery::default()).await.expect("a list");
    assert_eq!(open.items.len(), 1);
    let operator = Acting { gateway: s.gateway().clone(), author: Author::operator(None) };
    let accepted = accept_customer_request(&operator, open.items[0].id, None).await;
    accepted.expect("it is accepted");
}

#[tokio::test]
async fn rejected_sender_is_found_requested_accepted_and_used() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Developer).await;
    let body = format!(r#"{{"to":"{PHONE}","from":"NewShop","text":"from a new sender"}}"#);
    assert_eq!(s.alice.post_body(&body).await.headers["x-error-code"], "SENDER_NOT_APPROVED");
    s.gateway().store.record().flush().await.expect("the record is written");
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.press("Request log").await;
    tab.sees("SENDER_NOT_APPROVED").await;
    tab.click(".groups a[href$='/senders']").await;
    tab.arrives_at("/accounts/alice/senders").await;
    tab.press("Request a sender").await;
    tab.arrives_at("/accounts/alice/requests?kind=sender").await;
    tab.fill("subject", "NewShop").await;
    tab.fill("details", "The name of our shop").await;
    tab.press("Send the request").await;
    tab.sees("The request is with the operator").await;
    accept_the_only_request(&s).await;
    tab.go("/accounts/alice/requests").await;
    tab.sees("Accepted").await;

    tab.go("/accounts/alice/compose").await;
    tab.choose("[name=from]", "NewShop").await;
    tab.fill("to", PHONE).await;
    tab.fill("text", "from a new sender").await;
    tab.press("Send for 0.05 EUR").await;
    tab.sees("Delivered").await;
    tab.sees("NewShop").await;
    s.assert_carrier_received_once("from a new sender");
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn country_is_switched_off_and_on() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Developer).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go("/accounts/alice/destinations").await;
    tab.press("Switch off Germany").await;
    tab.sees("The country is switched off").await;
    let rejected = s.alice.send(PHONE, "to a country that is off").await;
    assert_eq!(rejected.headers["x-error-code"], "COUNTRY_BLOCKED");
    tab.fill("number", PHONE).await;
    tab.press("Look up").await;
    tab.sees("COUNTRY_BLOCKED").await;
    tab.press("Switch on Germany").await;
    tab.sees("The country is switched on").await;
    delivered_message(&s, PHONE, "to a country that is on").await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn warning_of_a_low_balance_and_other_changes_survive_a_restart_with_the_provision_file() {
    let mut s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let mut tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go("/accounts/alice/billing").await;
    tab.fill("warn_at", "99.96").await;
    tab.press("Save").await;
    tab.sees("The warnings are saved").await;
    assert!(!tab.text().await.contains("Low balance"), "100.00 are above 99.96");
    delivered_message(&s, PHONE, "the last of the money").await;
    tab.go("/accounts/alice/messages").await;
    tab.sees("Low balance: 99.95 EUR are available, below the warning at 99.96").await;
    tab.go("/accounts/alice/destinations").await;
    tab.press("Switch off Germany").await;
    tab.sees("The country is switched off").await;
    tab.go("/accounts/alice/opt-outs").await;
    tab.fill("words", "HALT").await;
    tab.press("Save the keywords").await;
    tab.sees("The opt-out keywords are saved").await;

    s.restart().await;
    tab.move_to(&s.origin());
    tab.go("/accounts/alice/destinations").await;
    tab.sees("Low balance: 99.95 EUR are available").await;
    tab.sees("Switch on").await;
    assert_eq!(s.alice.send(PHONE, "still off").await.headers["x-error-code"], "COUNTRY_BLOCKED");
    tab.go("/accounts/alice/opt-outs").await;
    tab.sees("HALT").await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn export_has_the_messages_of_the_filter() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Viewer).await;
    let wanted = delivered_message(&s, PHONE, "to the number of the filter").await;
    let other = delivered_message(&s, "+4915112345679", "to another number").await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go(&format!("/accounts/alice/messages?to=%2B{}", &PHONE[1..])).await;
    let file = tab.download("Export CSV").await;
    assert!(file.starts_with("id,"), "{file}");
    assert!(file.contains(&wanted) && !file.contains(&other), "{file}");
    tab.close().await;
    s.end().await;
}

//! Requests of customers through the portal, the operator's decisions about them, and messages held for review.

use super::{Browser, member};
use crate::scenario::Scenario;
use hermod_domain::catalogue::{Role, Tier};
use hermod_operator::author::{Acting, Author};
use hermod_operator::customer_request::use_cases::{
    accept_customer_request, decline_customer_request, list_customer_requests,
};
use hermod_operator::customer_request::views::{
    AcceptRequest, CustomerRequestView, CustomerRequestsQuery, DeclineRequest,
};
use hermod_operator::money::use_cases::show_balance;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::review::{DecisionRequest, approve_review, reject_review};
use hermod_simulator::carrier::Script;

const TO: &str = "+4915112345678";
const PATH: &str = "/accounts/alice/requests";

fn operator(s: &Scenario) -> Acting {
    Acting { gateway: s.gateway().clone(), author: Author::named_operator("olga", None) }
}

/// Posts a form of the requests page. Returns the status and the page.
async fn post(browser: &mut Browser, path: &str, form: &str) -> (u16, String) {
    let csrf = browser.get("/accounts/alice").await.csrf();
    let page = browser.post(path, &format!("csrf={csrf}&{form}")).await;
    (page.status, page.text)
}

async fn open_requests(s: &Scenario) -> Vec<CustomerRequestView> {
    let query = CustomerRequestsQuery { state: Some("open".to_owned()), ..CustomerRequestsQuery::default() };
    list_customer_requests(s.gateway(), query).await.expect("a list").items
}

async fn accept(s: &Scenario, id: u64, value: Option<&str>) -> Result<CustomerRequestView, OperatorRefusal> {
    let value = value.map(str::to_owned);
    accept_customer_request(&operator(s), id, Some(AcceptRequest { value, ..AcceptRequest::default() })).await
}

#[tokio::test]
async fn rejected_sender_is_requested_accepted_and_then_sends() {
    let mut s = Scenario::with(Script::new()).await;
    let body = format!(r#"{{"to":"{TO}","from":"NewShop","text":"hello"}}"#);
    let rejected = s.alice.post_body(&body).await;
    assert_eq!(rejected.headers["x-error-code"], "SENDER_NOT_APPROVED");
    let mut browser = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let form = browser.get(&format!("{PATH}?kind=sender")).await;
    assert!(form.text.contains(r#"<option value="sender" selected>"#), "{}", form.text);
    let (status, _) =
        post(&mut browser, PATH, "kind=sender&subject=NewShop&connection=alice-http&details=our+%3Cbrand%3E")
            .await;
    assert_eq!(status, 303);
    let open = open_requests(&s).await;
    assert_eq!((open[0].account.as_str(), open[0].by.as_str()), ("alice", "dev@example.com"));
    assert_eq!(open[0].details, "our <brand>");
    let done = accept(&s, open[0].id, None).await.expect("it is accepted");
    assert_eq!((done.state.as_str(), done.ended_by.as_str()), ("accepted", "operator olga"));
    let sent = s.alice.post_body(&body).await;
    s.alice.status_of(&sent.accepted()).becomes("delivered").await;
    let page = browser.get(PATH).await;
    assert!(page.text.contains("NewShop") && page.text.contains("Accepted"), "{}", page.text);
    let audit = browser.get("/accounts/alice/audit?who=olga&action=request").await;
    assert!(audit.text.contains("Accepted request sender NewShop"), "{}", audit.text);
    assert!(!audit.text.contains("Created request"), "{}", audit.text);
    let audit = browser.get("/accounts/alice/audit?action=sender&since=1h").await;
    assert!(audit.text.contains("Created sender alice/NewShop"), "{}", audit.text);
    let wrong = browser.get("/accounts/alice/audit?since=yesterday").await;
    assert!(wrong.status == 400 && wrong.text.contains("how long ago"), "{}", wrong.text);
    // The provision file is applied again at the start.
    s.restart().await;
    let again = s.alice.post_body(&body).await.accepted();
    s.alice.status_of(&again).becomes("delivered").await;
    let kept = list_customer_requests(s.gateway(), CustomerRequestsQuery::default()).await.expect("a list");
    assert_eq!(kept.items, [done]);
    s.end().await;
}

#[tokio::test]
async fn top_up_is_credited_once_and_a_declined_request_shows_its_reason() {
    let s = Scenario::with(Script::new()).await;
    let mut owner = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let before = show_balance(s.gateway(), "alice").await.expect("a balance").balance.0;
    for form in
        ["kind=top-up&subject=12.5", "kind=country&subject=FR", "kind=verification", "kind=tier&subject=x"]
    {
        let (status, text) = post(&mut owner, PATH, form).await;
        let is_made = form.starts_with("kind=top-up");
        assert_eq!(status, if is_made { 303 } else { 400 }, "{form}: {text}");
    }
    let (status, _) = post(&mut owner, PATH, "kind=tier&subject=enterprise").await;
    assert_eq!(status, 303);
    let open = open_requests(&s).await;
    assert_eq!(open.iter().map(|one| one.kind.as_str()).collect::<Vec<_>>(), ["tier", "top-up"]);
    let (one, other) = tokio::join!(accept(&s, open[1].id, None), accept(&s, open[1].id, None));
    let again = accept(&s, open[1].id, None).await;
    let refused = [one, other, again].into_iter().filter(Result::is_err).count();
    assert_eq!(refused, 2);
    let after = show_balance(s.gateway(), "alice").await.expect("a balance").balance.0;
    assert_eq!(after.as_micros() - before.as_micros(), 12_500_000);
    let reason = DeclineRequest { reason: "Too little <b>traffic</b>".to_owned() };
    decline_customer_request(&operator(&s), open[0].id, reason).await.expect("it is declined");
    let page = owner.get(PATH).await;
    assert!(page.text.contains("Too little &#60;b&#62;traffic"), "{}", page.text);
    let catalogue = s.gateway().catalogue();
    let alice = catalogue.accounts().find(|(_, view)| view.name == "alice").expect("the account");
    assert_eq!(alice.1.account.tier, Tier::Standard);
    s.end().await;
}

#[tokio::test]
async fn operator_grants_another_value_and_a_number_needs_one() {
    let s = Scenario::with(Script::new()).await;
    let mut owner = member(&s, "ann@example.com", "alice", Role::Owner).await;
    for form in ["kind=rate&subject=500&connection=alice-http", "kind=number&subject=A+German+number"] {
        assert_eq!(post(&mut owner, PATH, form).await.0, 303, "{form}");
    }
    let (status, text) = post(&mut owner, PATH, "kind=rate&subject=5&connection=bob-http").await;
    assert!(status == 400 && text.contains("There is no connection"), "{text}");
    let (status, _) = post(&mut owner, PATH, "kind=window&subject=50&connection=alice-http").await;
    assert_eq!(status, 400, "the connection has no SMPP access");
    let [number, rate] = &open_requests(&s).await[..] else { panic!("two requests") };
    let granted = accept(&s, rate.id, Some("200")).await.expect("it is accepted");
    assert_eq!(granted.reason, "Granted: 200");
    assert!(matches!(accept(&s, number.id, None).await, Err(OperatorRefusal::InvalidField { .. })));
    accept(&s, number.id, Some("+4915799999999")).await.expect("it is accepted");
    let limits = owner.get("/accounts/alice/limits").await;
    assert!(limits.status == 200 && limits.text.contains(">200<"), "{}", limits.text);
    let audit = owner.get("/accounts/alice/audit?action=number").await;
    assert!(audit.text.contains("Created number +4915799999999"), "{}", audit.text);
    s.end().await;
}

#[tokio::test]
async fn requests_of_other_accounts_are_not_found_and_roles_are_checked() {
    let s = Scenario::with(Script::new()).await;
    let mut owner = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    let mut viewer = member(&s, "view@example.com", "alice", Role::Viewer).await;
    let mut developer = member(&s, "dev@example.com", "alice", Role::Developer).await;
    assert_eq!(post(&mut owner, PATH, "kind=sender&subject=NewShop").await.0, 303);
    // Customers see other numbers than the operator.
    let shown = owner.get(PATH).await.text;
    let (_, shown) = shown.split_once(&format!("{PATH}/")).expect("a form");
    let id: String = shown.chars().take_while(char::is_ascii_digit).collect();
    let withdraw = format!("{PATH}/{id}/withdraw");
    assert_eq!(bob.get(PATH).await.status, 404);
    let csrf = bob.get("/accounts/bob").await.csrf();
    let foreign = bob.post(&format!("/accounts/bob/requests/{id}/withdraw"), &format!("csrf={csrf}")).await;
    assert_eq!(foreign.status, 404);
    assert!(!bob.get("/accounts/bob/requests").await.text.contains("NewShop"));
    assert_eq!(post(&mut viewer, PATH, "kind=sender&subject=Other").await.0, 403);
    assert_eq!(post(&mut viewer, &withdraw, "").await.0, 403);
    let seen = viewer.get(PATH).await;
    assert!(seen.text.contains("NewShop") && !seen.text.contains("New request"), "{}", seen.text);
    assert_eq!(post(&mut developer, PATH, "kind=top-up&subject=5").await.0, 403);
    assert_eq!(open_requests(&s).await.len(), 1);
    assert_eq!(post(&mut developer, &withdraw, "").await.0, 303);
    assert!(open_requests(&s).await.is_empty());
    assert!(owner.get(PATH).await.text.contains("Withdrawn"));
    s.end().await;
}

#[tokio::test]
async fn held_message_is_shown_with_its_decision_and_masked_for_billing() {
    let s = Scenario::with(Script::new()).await;
    s.provision("[[screen]]\nname = \"short-links\"\npattern = \"bit[.]ly\"\n").await;
    let held = s.alice.send(TO, "see <i>bit.ly</i>").await;
    assert_eq!(held.headers["x-error-code"], "HELD_FOR_REVIEW");
    let owner = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let billing = member(&s, "bill@example.com", "alice", Role::Billing).await;
    let bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    let path = "/accounts/alice/held";
    let waiting = owner.get(path).await;
    assert!(
        waiting.text.contains("Waiting") && waiting.text.contains("see &#60;i&#62;bit.ly"),
        "{}",
        waiting.text
    );
    let masked = billing.get(path).await;
    assert!(!masked.text.contains("15112345678") && !masked.text.contains("bit.ly"), "{}", masked.text);
    assert!(!bob.get("/accounts/bob/held").await.text.contains("bit.ly"));
    let decision = |reason: &str| DecisionRequest { by: "olga".to_owned(), reason: reason.to_owned() };
    reject_review(&operator(&s), 1, decision("No short links")).await.expect("a decision");
    let declined = owner.get(path).await;
    assert!(
        declined.text.contains("Declined") && declined.text.contains("No short links"),
        "{}",
        declined.text
    );
    approve_review(&operator(&s), 1, decision("")).await.expect("a decision");
    let audit = owner.get("/accounts/alice/audit?action=review").await.text;
    for shown in
        ["Rejected review +491********78 (short-links)", "Approved review +491********78 (short-links)"]
    {
        assert!(audit.contains(shown), "{shown}: {audit}");
    }
    let approved = owner.get(path).await;
    assert!(approved.text.contains("Send it again until") && !approved.text.contains("No short links"));
    let (_, shown) = approved.text.split_once("compose?held=").expect("a link");
    let shown: String = shown.chars().take_while(char::is_ascii_digit).collect();
    assert_ne!(shown, "1", "the number of cases is not shown");
    let compose = owner.get(&format!("/accounts/alice/compose?held={shown}")).await;
    assert!(compose.text.contains("see &#60;i&#62;bit.ly") && compose.text.contains(TO), "{}", compose.text);
    assert_eq!(bob.get(&format!("/accounts/bob/compose?held={shown}")).await.status, 404);
    s.alice.send(TO, "see <i>bit.ly</i>").await.accepted();
    s.end().await;
}

#[tokio::test]
async fn limits_show_what_was_rejected_and_a_daily_limit_that_is_used_up() {
    let s = Scenario::with(Script::new()).await;
    s.provision("[[control]]\nname = \"day\"\naccount = \"alice\"\nmessages_per_day = 1\n").await;
    s.alice.send(TO, "one").await.accepted();
    let over = s.alice.send(TO, "two").await;
    assert_eq!(over.headers["x-error-code"], "TRAFFIC_CONTROL");
    s.gateway().store.record().flush().await.expect("the record is written");
    let owner = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let page = owner.get("/accounts/alice/limits").await;
    for shown in
        ["1 messages in a day", "Used up", "at 00:00 UTC", "TRAFFIC_CONTROL", "alice-http", "Verified"]
    {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let billing = member(&s, "bill@example.com", "alice", Role::Billing).await;
    assert!(!billing.get("/accounts/alice/limits").await.text.contains("alice-http"));
    s.end().await;
}

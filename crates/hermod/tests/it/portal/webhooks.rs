//! Webhooks in the portal: URLs, a broken receiver with its attempts, replays, test events and the secret in stages.

use super::{Browser, check_roles, member};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_domain::webhook::signature::{SignatureHeader, valid_signatures};
use hermod_simulator::carrier::Script;
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

const PAGE: &str = "/accounts/alice/webhooks";

fn receiver(behaviour: ReceiverBehaviour) -> WebhookReceiver {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    WebhookReceiver::start(address, behaviour, None).expect("a free port")
}

/// Waits until a page has this text.
async fn wait_for(browser: &Browser, path: &str, text: &str) -> Page {
    let started = now();
    loop {
        let page = browser.get(path).await;
        if page.text.contains(text) {
            return page;
        }
        assert!(started.elapsed() < PATIENCE, "{text}: {}", page.text);
        pause(Duration::from_millis(20)).await;
    }
}

/// Waits for posts to a receiver that failed before: it gets the next one after a short rest.
async fn wait_for_posts(s: &Scenario, hooks: &WebhookReceiver, count: u64) {
    s.advance_until(Duration::from_secs(1), || hooks.wait_for(count, PATIENCE)).await;
    assert_eq!(hooks.count(), count);
}

/// Returns the id of the first event in a list.
fn first_event(page: &Page) -> String {
    let (_, rest) = page.text.split_once("/webhooks/events/").expect("an event");
    rest.split('"').next().expect("a quote").to_owned()
}

/// Returns the text of the first `<code>` after a mark.
fn code_after(page: &Page, mark: &str) -> String {
    let (_, rest) = page.text.split_once(mark).expect("the mark");
    let (_, rest) = rest.split_once("<hermod-copy><code>").expect("a copy button");
    rest.split('<').next().unwrap_or_default().to_owned()
}

async fn save_urls(browser: &mut Browser, dlr: &str, inbound: &str) -> Page {
    browser.change("webhooks/urls", &[("dlr_webhook", dlr), ("inbound_webhook", inbound)]).await
}

#[tokio::test]
async fn broken_webhook_shows_its_attempts_and_is_replayed_after_the_repair() {
    let hooks = receiver(ReceiverBehaviour::Status(503));
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    assert!(browser.get(PAGE).await.text.contains("A secret is made with the first URL"));
    let saved = save_urls(&mut browser, &hooks.url("dlr"), "").await;
    assert_eq!(saved.location(), "/accounts/alice/webhooks?done=webhooks-saved");
    let message = s.alice.send("+4915112345678", "to a broken receiver").await.accepted();
    s.alice.status_of(&message).becomes("delivered").await;
    hooks.wait_for(1, PATIENCE).await;
    let list = wait_for(&browser, PAGE, "Next attempt in").await;
    assert!(list.text.contains(&message) && list.text.contains("1 waiting"), "{}", list.text);
    let event = first_event(&list);
    let path = format!("{PAGE}/events/{event}");
    let shown = browser.get(&path).await;
    assert!(shown.text.contains("503 Service Unavailable"), "{}", shown.text);
    assert!(!browser.get(&format!("{PAGE}?state=delivered")).await.text.contains(&event));

    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    let replay = format!("webhooks/events/{event}/replay");
    let replayed = browser.change(&replay, &[]).await;
    assert_eq!(replayed.location(), format!("{path}?done=event-replayed"));
    wait_for_posts(&s, &hooks, 2).await;
    let shown = wait_for(&browser, &path, "200 OK").await;
    assert!(shown.text.contains("503 Service Unavailable"), "both attempts stay: {}", shown.text);
    let bodies: Vec<_> = hooks.posts().into_iter().map(|post| post.body).collect();
    assert_eq!(bodies[0], bodies[1]);
    let body = String::from_utf8(bodies[0].to_vec()).expect("JSON").replace('"', "&#34;");
    assert!(shown.text.contains(&body), "{body} in {}", shown.text);
    let found = browser.get(&format!("/accounts/alice/find?q={event}")).await;
    assert_eq!(found.location(), path);
    let audit = browser.get("/accounts/alice/audit").await;
    for written in ["Replayed webhook", "dlr_webhook", "ann@example.com"] {
        assert!(audit.text.contains(written), "{written}: {}", audit.text);
    }
    // Of another account, or of none: the same page.
    let other = member(&s, "bob@example.com", "bob", Role::Owner).await;
    assert_eq!(other.get(&format!("/accounts/bob/webhooks/events/{event}")).await.status, 404);
    assert_eq!(browser.get(&format!("{PAGE}/events/evt_999")).await.status, 404);
    assert_eq!(browser.change("webhooks/events/evt_999/replay", &[]).await.status, 404);
    s.end().await;
}

#[tokio::test]
async fn waiting_events_are_posted_at_once_after_the_repair() {
    let hooks = receiver(ReceiverBehaviour::Status(503));
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    save_urls(&mut browser, &hooks.url("dlr"), "").await;
    assert!(browser.change("webhooks/retry", &[]).await.location().ends_with("done=nothing-retried"));
    s.alice.send("+4915112345678", "waits").await.accepted();
    hooks.wait_for(1, PATIENCE).await;
    s.wait_for_webhook_event(|event| event.attempts >= 1).await;
    hooks.set_behaviour(ReceiverBehaviour::Status(204));
    let before = s.now();
    let retried = browser.change("webhooks/retry", &[]).await;
    assert!(retried.location().ends_with("done=events-retried"), "{}", retried.text);
    wait_for_posts(&s, &hooks, 2).await;
    wait_for(&browser, &format!("{PAGE}?state=delivered"), "evt_").await;
    assert!(s.now().since(before) < Duration::from_secs(40), "it was not posted by its schedule");
    s.end().await;
}

#[tokio::test]
async fn events_given_up_since_a_time_are_replayed_together() {
    let hooks = receiver(ReceiverBehaviour::Status(500));
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    save_urls(&mut browser, &hooks.url("dlr"), "").await;
    s.alice.send("+4915112345678", "given up").await.accepted();
    for (count, wait_s) in (1..).zip([50, 300, 1_800, 10_800, 64_800]) {
        hooks.wait_for(count, PATIENCE).await;
        // The attempt is stored a moment after the receiver saw it.
        s.wait_for_webhook_event(|event| u64::from(event.attempts) >= count).await;
        s.skip(Duration::from_secs(wait_s * 115 / 100));
    }
    hooks.wait_for(6, PATIENCE).await;
    assert_eq!(browser.get(PAGE).await.status, 303, "the session has ended");
    browser.sign_in("ann@example.com", super::PASSWORD).await;
    let list = wait_for(&browser, &format!("{PAGE}?state=failed"), "every attempt failed").await;
    assert!(list.text.contains("1 given up in 30 days"), "{}", list.text);
    hooks.set_behaviour(ReceiverBehaviour::Status(204));
    let wrong = browser.change("webhooks/replay", &[("since", "<b>yesterday")]).await;
    assert!(wrong.status == 400 && wrong.text.contains("&#60;b&#62;yesterday"), "{}", wrong.text);
    let late = browser.change("webhooks/replay", &[("since", "2030-01-01")]).await;
    assert!(late.location().ends_with("done=nothing-replayed"));
    let replayed = browser.change("webhooks/replay", &[("since", "2026-11-15")]).await;
    assert!(replayed.location().ends_with("done=events-replayed"), "{}", replayed.text);
    wait_for_posts(&s, &hooks, 7).await;
    wait_for(&browser, &format!("{PAGE}?state=delivered"), "evt_").await;
    s.end().await;
}

#[tokio::test]
async fn secret_is_revealed_and_rotated_in_stages() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    save_urls(&mut browser, &hooks.url("dlr"), &hooks.url("inbound")).await;
    let first = code_after(&browser.change("webhooks/secret/reveal", &[]).await, "Signing secret");
    assert_eq!(first.len(), 40, "{first}");
    let staged = code_after(&browser.change("webhooks/secret/stage", &[]).await, "Next secret");
    assert!(!browser.get(PAGE).await.text.contains(&staged), "it is shown once");
    let signed = |post: u64, secret: &str| {
        let posts = hooks.posts();
        let post = &posts[usize::try_from(post).expect("a few") - 1];
        valid_signatures(secret, &post.body, |name| post.header(name))
    };
    let tested = browser.change("webhooks/test", &[("event", "dlr-full")]).await;
    assert!(tested.text.contains("answered 200 OK in"), "{}", tested.text);
    assert!(signed(1, &first).contains(&SignatureHeader::Current), "{:?}", signed(1, &first));
    assert!(signed(1, &staged).contains(&SignatureHeader::Next), "{:?}", signed(1, &staged));
    let switched = browser.change("webhooks/secret/switch", &[]).await;
    assert!(switched.location().ends_with("done=secret-switched"));
    browser.change("webhooks/test", &[("event", "inbound")]).await;
    assert!(signed(2, &staged).contains(&SignatureHeader::Current));
    assert!(signed(2, &first).contains(&SignatureHeader::Previous));
    assert!(browser.get(PAGE).await.text.contains("Step 3 of 3"));
    browser.change("webhooks/secret/drop", &[]).await;
    browser.change("webhooks/test", &[("event", "dlr-short")]).await;
    assert!(signed(3, &first).is_empty());
    assert!(String::from_utf8_lossy(&hooks.posts()[2].body).starts_with("{\"id\":"));
    // The step was made before: the page is old.
    assert_eq!(browser.change("webhooks/secret/drop", &[]).await.status, 403);

    // Secrets and URLs need the password again after ten minutes.
    s.skip(Duration::from_secs(11 * 60));
    for path in ["webhooks/secret/reveal", "webhooks/secret/stage", "webhooks/secret/switch"] {
        let page = browser.change(path, &[]).await;
        assert!(page.location().contains("/re-authenticate"), "{path}: {}", page.status);
    }
    assert!(save_urls(&mut browser, "", "").await.location().contains("/re-authenticate"));
    let audit = browser.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("webhook-secret reveal"), "{}", audit.text);
    assert!(!audit.text.contains(&first) && !audit.text.contains(&staged));
    s.end().await;
}

#[tokio::test]
async fn hostile_urls_are_refused_beside_their_field_and_test_events_obey_the_rules() {
    let hooks = receiver(ReceiverBehaviour::Status(404));
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    for url in [
        "http://10.0.0.1/dlr",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "ftp://shop.example",
        "https://user:pw@shop.example/",
        "javascript:alert(1)",
        "\"><script>alert(1)</script>",
    ] {
        let page = save_urls(&mut browser, "", url).await;
        assert_eq!(page.status, 400, "{url}");
        assert!(page.text.contains("inbound_webhook-error"), "{url}: {}", page.text);
        assert!(!page.text.contains("dlr_webhook-error") && !page.text.contains("<script>alert"), "{url}");
    }
    save_urls(&mut browser, &hooks.url("dlr"), "").await;
    let tested = browser.change("webhooks/test", &[("event", "dlr-full")]).await;
    assert!(tested.text.contains("answered 404 Not Found"), "{}", tested.text);
    let none = browser.change("webhooks/test", &[("event", "inbound")]).await;
    assert!(none.text.contains("the account has no URL for it"), "{}", none.text);
    assert_eq!(browser.change("webhooks/test", &[("event", "other")]).await.status, 403);
    assert_eq!(hooks.count(), 1, "a test event is not tried again");
    s.end().await;
}

#[tokio::test]
async fn form_of_dlrs_belongs_to_a_connection_of_the_account() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    save_urls(&mut browser, &hooks.url("dlr"), "").await;
    let saved = browser.change("webhooks/form", &[("connection", "alice-http"), ("dlr_form", "short")]).await;
    assert!(saved.location().ends_with("done=dlr-form-saved"), "{}", saved.text);
    for (connection, form, status) in
        [("bob-http", "short", 404), ("none", "short", 404), ("alice-http", "<b>", 403)]
    {
        let page = browser.change("webhooks/form", &[("connection", connection), ("dlr_form", form)]).await;
        assert_eq!(page.status, status, "{connection} {form}");
    }
    s.alice.send("+4915112345678", "short form").await.accepted();
    let posts = hooks.wait_for(1, PATIENCE).await;
    assert!(String::from_utf8_lossy(&posts[0].body).starts_with("{\"id\":"), "{posts:?}");
    s.end().await;
}

#[tokio::test]
async fn roles_read_and_change_webhooks_as_the_table_says() {
    let s = Scenario::with(Script::new()).await;
    let pages = [("webhooks", [200, 200, 403, 200]), ("webhooks/events/evt_1", [404, 404, 403, 404])];
    let forms = ["webhooks/urls", "webhooks/form", "webhooks/test", "webhooks/replay", "webhooks/retry"];
    let secrets = ["webhooks/secret/reveal", "webhooks/secret/stage", "webhooks/secret/switch"];
    check_roles(&s, &pages, &[&forms[..], &secrets[..], &["webhooks/secret/drop"]].concat()).await;
    s.end().await;
}

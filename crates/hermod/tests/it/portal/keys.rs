//! API keys in the portal: created, limited to addresses, rotated without a rejected request, expired, revoked.

use super::{Browser, PASSWORD, member};
use crate::scenario::http::call;
use crate::scenario::{Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const KEYS: &str = "/accounts/alice/keys";

/// Returns the text after a label of a list of facts.
fn fact(page: &Page, name: &str) -> String {
    let (_, rest) = page.text.split_once(&format!("<dt>{name}</dt>")).expect("the fact");
    let (_, rest) = rest.split_once("<code>").expect("a code");
    rest.split("</code>").next().unwrap_or_default().to_owned()
}

impl Browser {
    /// Posts a form with the token of the keys page.
    pub(super) async fn post_form(&mut self, path: &str, fields: &str) -> Page {
        let csrf = self.get(KEYS).await.csrf();
        self.post(path, &format!("csrf={csrf}&{fields}")).await
    }

    /// Creates a key and returns it with its secret.
    async fn create_key(&mut self, fields: &str) -> (String, String) {
        let created = self.post_form(KEYS, &format!("connection=alice-http&{fields}")).await;
        assert_eq!(created.status, 200, "{}", created.text);
        (fact(&created, "Key"), fact(&created, "Secret"))
    }
}

/// Calls the API with a key and returns the status and the error code.
async fn balance(address: SocketAddr, key: &str, secret: &str) -> (u16, String) {
    let headers = [("Authorization", format!("Bearer {key}:{secret}"))];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = call(address, "GET", "/api/v1/balance", &headers, "").await.expect("an answer");
    (answer.status, answer.headers.get("x-error-code").cloned().unwrap_or_default())
}

fn ok() -> (u16, String) {
    (200, String::new())
}

fn invalid() -> (u16, String) {
    (401, "INVALID_API_KEY".to_owned())
}

#[tokio::test]
async fn created_key_sends_over_http_and_its_secret_is_shown_once() {
    let s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let (key, secret) = dev.create_key("label=shop+backend&expires=90d&allow_list=").await;
    assert_eq!(secret.len(), 32);
    let body = r#"{"to":"+4915112345678","text":"by the new key"}"#;
    let headers = [("Content-Type", "application/json"), ("X-API-Key", &*key), ("X-API-Secret", &*secret)];
    let sent = call(s.alice.address(), "POST", "/api/v1/sms", &headers, body).await.expect("an answer");
    assert_eq!(sent.status, 202, "{}", sent.body);
    s.wait_for_carrier_submits(1).await;
    let list = dev.get(KEYS).await;
    for shown in [key.as_str(), "shop backend", "from 127.0.0.1", "Active"] {
        assert!(list.text.contains(shown), "{shown}: {}", list.text);
    }
    let page = dev.get(&format!("{KEYS}/{key}")).await;
    for shown in ["X-API-Secret: $API_SECRET", "Authorization: Bearer", "-u &#34;", "from 127.0.0.1"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let audit = dev.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("Created key") && audit.text.contains(&key), "{}", audit.text);
    for page in [&list, &page, &audit] {
        assert!(!page.text.contains(&secret));
    }
    s.end().await;
}

#[tokio::test]
async fn rotation_with_overlap_rejects_no_request_and_ends_the_old_secret_afterwards() {
    let s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let (key, old) = dev.create_key("label=&expires=never&allow_list=").await;
    let (address, stop, answered) = (s.alice.address(), AtomicBool::new(false), AtomicUsize::new(0));
    let client = async {
        let mut answers = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            answers.push(balance(address, &key, &old).await);
            answered.store(answers.len(), Ordering::Relaxed);
        }
        answers
    };
    let rotation = async {
        s.wait_until("a request before the rotation", || answered.load(Ordering::Relaxed) > 0).await;
        let rotated = dev.post_form(&format!("{KEYS}/{key}/rotate"), "overlap=24h").await;
        let before = answered.load(Ordering::Relaxed);
        s.wait_until("requests after it", || answered.load(Ordering::Relaxed) > before + 1).await;
        stop.store(true, Ordering::Relaxed);
        rotated
    };
    let (answers, rotated) = tokio::join!(client, rotation);
    assert!(rotated.text.contains("The old secret is valid until"), "{}", rotated.text);
    let new = fact(&rotated, "Secret");
    assert!(answers.len() > 1 && answers.iter().all(|answer| *answer == ok()), "{answers:?}");
    assert_ne!(new, old);
    assert_eq!(balance(address, &key, &new).await, ok());
    let page = dev.get(&format!("{KEYS}/{key}")).await;
    assert!(page.text.contains("A rotation is running") && page.text.contains("Rotating"), "{}", page.text);
    let audit = dev.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("old_secret_until"), "{}", audit.text);
    s.skip(DAY);
    assert_eq!(balance(address, &key, &old).await, invalid());
    assert_eq!(balance(address, &key, &new).await, ok());
    s.end().await;
}

#[tokio::test]
async fn rotation_without_overlap_ends_the_old_secret_at_once_and_revoking_ends_both() {
    let s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let (key, first) = dev.create_key("label=&expires=never&allow_list=").await;
    let rotate = format!("{KEYS}/{key}/rotate");
    let second = fact(&dev.post_form(&rotate, "overlap=0s").await, "Secret");
    let address = s.alice.address();
    assert_eq!(balance(address, &key, &first).await, invalid());
    assert_eq!(balance(address, &key, &second).await, ok());
    let third = fact(&dev.post_form(&rotate, "overlap=7d").await, "Secret");
    for secret in [&second, &third] {
        assert_eq!(balance(address, &key, secret).await, ok());
    }
    let too_long = dev.post_form(&rotate, "overlap=31d").await;
    assert!(too_long.status == 400 && too_long.text.contains("is longer than 30d"), "{}", too_long.text);
    let ask = dev.get(&format!("{KEYS}/{key}/revoke")).await;
    assert!(ask.text.contains("This cannot be undone"), "{}", ask.text);
    let revoked = dev.post_form(&format!("{KEYS}/{key}/revoke"), "").await;
    assert_eq!(revoked.location(), format!("{KEYS}?done=key-revoked"));
    assert!(dev.get(revoked.location()).await.text.contains("The key is revoked."));
    for secret in [&second, &third] {
        assert_eq!(balance(address, &key, secret).await, invalid());
    }
    // What is revoked stays so.
    assert_eq!(dev.post_form(&rotate, "overlap=7d").await.status, 404);
    assert_eq!(dev.post_form(&format!("{KEYS}/{key}"), "label=again&expires=&allow_list=").await.status, 404);
    s.end().await;
}

#[tokio::test]
async fn key_expires_on_its_day_and_the_day_can_be_changed() {
    let s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let (key, secret) = dev.create_key("label=&expires=30d&allow_list=").await;
    let (page, address) = (format!("{KEYS}/{key}"), s.alice.address());
    let past = dev.post_form(&page, "label=&expires=2026-11-01&allow_list=").await;
    assert!(past.status == 400 && past.text.contains("The day is over."), "{}", past.text);
    let saved = dev.post_form(&page, "label=night+job&expires=2026-11-16&allow_list=").await;
    assert_eq!(saved.location(), format!("{page}?done=key-saved"));
    assert_eq!(balance(address, &key, &secret).await, ok());
    s.skip(DAY);
    assert_eq!(balance(address, &key, &secret).await, invalid());
    dev.sign_in("dev@example.com", PASSWORD).await;
    let list = dev.get(KEYS).await;
    assert!(list.text.contains("Expired") && list.text.contains("night job"), "{}", list.text);
    let audit = dev.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("Changed key") && audit.text.contains("night job"), "{}", audit.text);
    s.end().await;
}

#[tokio::test]
async fn both_allow_lists_decide_and_the_page_names_the_one_that_rejects() {
    let s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let (key, secret) = dev.create_key("label=&expires=never&allow_list=203.0.113.0%2F24").await;
    let (page, address) = (format!("{KEYS}/{key}"), s.alice.address());
    let rejected = (403, "IP_NOT_ALLOWED".to_owned());
    assert_eq!(balance(address, &key, &secret).await, rejected);
    let asked = dev.get(&format!("{KEYS}?address=127.0.0.1&key={key}")).await;
    assert!(asked.text.contains("the list of the key does not have the address"), "{}", asked.text);
    assert!(asked.text.contains("Connection alice-http: admits any address"), "{}", asked.text);
    let saved = dev.post_form(&page, "label=&expires=&allow_list=127.0.0.1%0D%0A203.0.113.0%2F24").await;
    assert_eq!(saved.status, 303, "{}", saved.text);
    assert_eq!(balance(address, &key, &secret).await, ok());
    let list = format!("{page}/connection-list");
    let wrong = dev.post_form(&list, "connection_list=203.0.113.0%2F33").await;
    assert!(wrong.status == 400 && wrong.text.contains("Line 1: "), "{}", wrong.text);
    assert_eq!(dev.post_form(&list, "connection_list=192.0.2.7").await.status, 303);
    assert_eq!(balance(address, &key, &secret).await, rejected);
    let asked = dev.get(&format!("{KEYS}?address=127.0.0.1&key={key}")).await;
    assert!(asked.text.contains("the list of the connection does not have the address"), "{}", asked.text);
    assert!(asked.text.contains("Key: 127.0.0.1 matches"), "{}", asked.text);
    let nonsense = dev.get(&format!("{KEYS}?address=%3Cscript%3E&key={key}")).await;
    assert!(nonsense.text.contains("Write one IPv4 or IPv6 address"), "{}", nonsense.text);
    s.end().await;
}

#[tokio::test]
async fn keys_of_other_accounts_do_not_exist_and_roles_limit_changes() {
    let s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let csrf = dev.get(KEYS).await.csrf();
    let form = format!("csrf={csrf}&overlap=24h&label=&expires=&allow_list=&connection_list=");
    for path in ["bob-key", "bob-key/revoke"] {
        assert_eq!(dev.get(&format!("{KEYS}/{path}")).await.status, 404, "{path}");
    }
    for path in ["bob-key", "bob-key/revoke", "bob-key/rotate", "bob-key/connection-list"] {
        assert_eq!(dev.post(&format!("{KEYS}/{path}"), &form).await.status, 404, "{path}");
    }
    let foreign = dev.post(KEYS, &format!("{form}&connection=bob-http")).await;
    assert_eq!(foreign.status, 404);
    let own = dev.get("/accounts/alice/quickstart").await;
    let url = format!("{}/api/v1/sms", s.origin());
    assert!(own.text.contains(&url), "the address that the gateway listens on: {}", own.text);
    assert_eq!(dev.get("/accounts/alice/quickstart?key=bob-key").await.status, 404);
    let list = dev.get(&format!("{KEYS}?address=127.0.0.1&key=bob-key")).await;
    assert!(!list.text.contains("bob-key") && !list.text.contains("bob-http"), "{}", list.text);
    let secret = "bob-secret-of-many-characters";
    assert_eq!(balance(s.bob.address(), "bob-key", secret).await, ok());
    let mut viewer = member(&s, "view@example.com", "alice", Role::Viewer).await;
    let page = viewer.get(&format!("{KEYS}/alice-key")).await;
    assert!(page.status == 200 && !page.text.contains("Rotate the secret"), "{}", page.text);
    let csrf = viewer.get("/accounts/alice").await.csrf();
    let form = format!("csrf={csrf}&overlap=24h&label=&expires=&allow_list=&connection_list=");
    for path in ["", "/alice-key", "/alice-key/revoke", "/alice-key/rotate", "/alice-key/connection-list"] {
        assert_eq!(viewer.post(&format!("{KEYS}{path}"), &form).await.status, 403, "{path}");
    }
    let billing = member(&s, "bill@example.com", "alice", Role::Billing).await;
    for path in ["keys", "keys/alice-key", "smpp", "quickstart"] {
        assert_eq!(billing.get(&format!("/accounts/alice/{path}")).await.status, 403, "{path}");
    }
    s.end().await;
}

#[tokio::test]
async fn hostile_label_is_escaped_and_old_passwords_must_be_typed_again() {
    let s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let label = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    let (key, _) = dev.create_key(&format!("label={label}&expires=never&allow_list=")).await;
    for path in [KEYS.to_owned(), format!("{KEYS}/{key}"), format!("{KEYS}/{key}/revoke")] {
        let page = dev.get(&path).await;
        assert!(page.status == 200 && page.text.contains("alert(1)"), "{path}: {}", page.text);
        assert!(!page.text.contains("<script>alert"), "{path}: {}", page.text);
    }
    let audit = dev.get("/accounts/alice/audit").await;
    assert!(!audit.text.contains("<script>alert"), "{}", audit.text);
    let long = dev
        .post_form(&format!("{KEYS}/{key}"), &format!("label={}&expires=&allow_list=", "x".repeat(61)))
        .await;
    assert!(long.status == 400 && long.text.contains("at most 60 characters"), "{}", long.text);
    s.skip(Duration::from_secs(11 * 60));
    let late = dev.post_form(&format!("{KEYS}/{key}/rotate"), "overlap=24h").await;
    let back = format!("/accounts/alice/re-authenticate?next=%2Faccounts%2Falice%2Fkeys%2F{key}");
    assert_eq!(late.location(), back);
    s.end().await;
}

#[tokio::test]
async fn provision_file_applied_at_the_next_start_does_not_undo_a_rotation() {
    let mut s = Scenario::with(Script::new()).await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let old = "alice-secret-of-many-characters";
    let rotated = dev.post_form(&format!("{KEYS}/alice-key/rotate"), "overlap=24h").await;
    let new = fact(&rotated, "Secret");
    let listed =
        dev.post_form(&format!("{KEYS}/alice-key"), "label=kept&expires=&allow_list=127.0.0.0%2F8").await;
    assert_eq!(listed.status, 303, "{}", listed.text);
    s.restart().await;
    let address = s.alice.address();
    for secret in [old, &new] {
        assert_eq!(balance(address, "alice-key", secret).await, ok(), "{secret}");
    }
    dev.address = address;
    let page = dev.get(&format!("{KEYS}/alice-key")).await;
    assert!(page.text.contains("kept") && page.text.contains("A rotation is running"), "{}", page.text);
    s.skip(DAY);
    assert_eq!(balance(address, "alice-key", old).await, invalid());
    s.restart().await;
    let address = s.alice.address();
    assert_eq!(balance(address, "alice-key", old).await, invalid());
    assert_eq!(balance(address, "alice-key", &new).await, ok());
    s.end().await;
}

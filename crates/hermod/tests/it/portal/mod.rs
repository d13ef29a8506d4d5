//! The portal over real sockets: invitations, sessions, roles, and what opens which page.

mod abuse;
mod billing;
mod compose;
mod crawler;
mod destinations;
mod identity;
mod inbox;
mod keys;
mod live;
mod mail_server;
mod opt_outs;
mod overview;
mod request_log;
mod requests;
mod second_factor;
mod senders;
mod sign_in_races;
mod smpp;
mod team;
mod webhooks;

use crate::scenario::{Page, Scenario, call_page};
use hermod_domain::catalogue::Role;
use hermod_operator::author::{Acting, Author};
use hermod_operator::user::links::invite;
use hermod_simulator::carrier::Script;
use std::net::SocketAddr;

const PASSWORD: &str = "correct horse battery";

/// A browser: it keeps the session cookie, and names its own origin with every form.
struct Browser {
    address: SocketAddr,
    cookie: String,
}

impl Browser {
    fn new(s: &Scenario) -> Browser {
        Browser { address: s.alice.address(), cookie: String::new() }
    }

    async fn get(&self, path: &str) -> Page {
        call_page(self.address, "GET", path, &[("Cookie", &self.cookie)], "").await
    }

    async fn post(&mut self, path: &str, form: &str) -> Page {
        let origin = format!("http://{}", self.address);
        self.post_from(&origin, path, form).await
    }

    async fn post_from(&mut self, origin: &str, path: &str, form: &str) -> Page {
        let headers = [
            ("Cookie", self.cookie.as_str()),
            ("Origin", origin),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let page = call_page(self.address, "POST", path, &headers, form).await;
        let is_session = |set: &&String| !set.starts_with("hermod-local-device=");
        if let Some(set) = page.headers.get("set-cookie").filter(is_session) {
            self.cookie = set.split(';').next().unwrap_or_default().to_owned();
        }
        page
    }

    /// Sends a form of a page of alice's, with the token of the session. Values may have any characters.
    async fn change(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let csrf = self.get("/accounts/alice").await.csrf();
        let mut form = format!("csrf={csrf}");
        for (name, value) in fields {
            form.push_str(&format!("&{name}={}", hermod_portal::layout::encode_segment(value)));
        }
        self.post(&format!("/accounts/alice/{path}"), &form).await
    }

    /// Posts a form of a page of the profile, with the token of the session.
    async fn post_own(&mut self, path: &str, fields: &str) -> Page {
        let csrf = self.get("/profile").await.csrf();
        self.post(path, &format!("csrf={csrf}&{fields}")).await
    }

    async fn sign_in(&mut self, email: &str, password: &str) -> Page {
        let form = format!("email={}&password={}", email.replace('@', "%40"), password.replace(' ', "+"));
        self.post("/sign-in", &form).await
    }
}

/// Asserts what each role gets: the status of a page, and of a form without fields.
async fn check_roles(s: &Scenario, pages: &[(&str, [u16; 4])], forms: &[&str]) {
    for (index, role) in Role::ALL.into_iter().enumerate() {
        let mut browser = member(s, &format!("{role}@example.com"), "alice", role).await;
        for (path, expect) in pages {
            let page = browser.get(&format!("/accounts/alice/{path}")).await;
            assert_eq!(page.status, expect[index], "{role}: {path}");
        }
        for path in forms {
            let is_allowed = matches!(role, Role::Owner | Role::Developer);
            let fields = [("number", "x"), ("numbers", "x"), ("words", "x"), ("since", "x"), ("sender", "x")];
            let more = [("connection", "x"), ("dlr_form", "x"), ("event", "x"), ("dlr_webhook", "x")];
            let fields = [&fields[..], &more[..], &[("inbound_webhook", "x"), ("off", "x")]].concat();
            let page = browser.change(path, &fields).await;
            assert_eq!(
                is_allowed,
                !page.text.contains("Not allowed for your role"),
                "{role}: {path}: {}",
                page.status
            );
            assert!(is_allowed || page.status == 403, "{role}: {path}: {}", page.status);
        }
        assert_eq!(browser.get("/accounts/bob/webhooks").await.status, 404);
    }
}

/// Invites a person and returns the path of the link.
async fn link(s: &Scenario, email: &str, account: &str, role: Role) -> String {
    let acting = Acting { gateway: s.gateway().clone(), author: Author::operator(None) };
    let invited = invite(&acting, email, Some((account, role))).await.expect("an invitation");
    format!("/links/{}", invited.token.reveal())
}

/// Invites a person who accepts, and returns the signed-in browser.
async fn member(s: &Scenario, email: &str, account: &str, role: Role) -> Browser {
    let link = link(s, email, account, role).await;
    let mut browser = Browser::new(s);
    let form = format!("password={0}&password_again={0}", PASSWORD.replace(' ', "+"));
    let accepted = browser.post(&link, &form).await;
    assert_eq!((accepted.status, accepted.location()), (303, "/"), "{}", accepted.text);
    browser
}

#[tokio::test]
async fn invited_user_chooses_a_password_and_sees_messages_of_the_own_account_only() {
    let s = Scenario::with(Script::new()).await;
    let own = s.alice.send("+4915112345678", "hello portal").await.accepted();
    let other = s.bob.send("+4915112345679", "of bob").await.accepted();
    s.alice.status_of(&own).becomes("delivered").await;
    s.gateway().store.record().flush().await.expect("the record is written");
    let browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    assert_eq!(browser.get("/").await.location(), "/accounts/alice");
    let home = browser.get("/accounts/alice").await;
    assert!(home.status == 200 && home.text.contains("ann@example.com"), "{}", home.text);
    let list = browser.get("/accounts/alice/messages").await;
    assert!(list.text.contains(&own) && list.text.contains("+4915112345678"), "{}", list.text);
    assert!(!list.text.contains(&other));
    let message = browser.get(&format!("/accounts/alice/messages/{own}")).await;
    for shown in
        ["hello portal", "Delivered to the handset", "Accepted and charged", "Receipt from the carrier"]
    {
        assert!(message.text.contains(shown), "{shown}: {}", message.text);
    }
    for hidden in [
        format!("/accounts/alice/messages/{other}"),
        format!("/accounts/bob/messages/{other}"),
        "/accounts/bob".to_owned(),
        "/accounts/bob/messages".to_owned(),
        "/accounts/nobody".to_owned(),
        "/accounts/alice/nothing".to_owned(),
    ] {
        let page = browser.get(&hidden).await;
        assert!(page.status == 404 && page.text.contains("Page not found"), "{hidden}: {}", page.status);
    }
    let audit = browser.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("ann@example.com"), "{}", audit.text);
    s.end().await;
}

#[tokio::test]
async fn link_works_once_and_signing_in_and_out_needs_the_right_password() {
    let s = Scenario::with(Script::new()).await;
    let path = link(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut browser = Browser::new(&s);
    assert!(browser.get(&path).await.text.contains("ann@example.com"));
    let short = browser.post(&path, "password=short&password_again=short").await;
    assert!(short.status == 400 && short.text.contains("at least 12 characters"), "{}", short.text);
    let form = "password=correct+horse+battery&password_again=correct+horse+battery";
    assert_eq!(browser.post(&path, form).await.status, 303);
    assert_eq!(browser.get(&path).await.status, 404);
    let again = Browser::new(&s).post(&path, form).await;
    assert_eq!(again.status, 404);
    let mut other = Browser::new(&s);
    let wrong = other.sign_in("ann@example.com", "wrong horse battery").await;
    let unknown = other.sign_in("eve@example.com", "wrong horse battery").await;
    assert_eq!((wrong.status, unknown.status), (401, 401));
    assert_eq!(wrong.text.replace("ann@", "eve@"), unknown.text);
    assert_eq!(other.sign_in("Ann@Example.com", PASSWORD).await.status, 303);
    assert_eq!(other.get("/accounts/alice").await.status, 200);
    let csrf = other.get("/accounts/alice").await.csrf();
    assert_eq!(other.post("/sign-out", "csrf=00").await.status, 403);
    let cookie = other.cookie.clone();
    assert!(other.post("/sign-out", &format!("csrf={csrf}")).await.text.contains("signed out"));
    // The cookie of the ended session opens nothing.
    other.cookie = cookie;
    let page = other.get("/accounts/alice/messages?state=delivered").await;
    assert_eq!(page.location(), "/sign-in?next=%2Faccounts%2Falice%2Fmessages%3Fstate%3Ddelivered");
    s.end().await;
}

#[tokio::test]
async fn guesses_over_the_limit_of_an_address_are_refused() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(browser.sign_in("eve@example.com", "wrong horse battery").await.status);
    }
    assert_eq!(statuses[..10], [401; 10]);
    assert_eq!(statuses[10..], [429; 2]);
    // The right password is refused too from here: otherwise a storm of guesses would end with the right one.
    assert_eq!(browser.sign_in("ann@example.com", PASSWORD).await.status, 429);
    s.end().await;
}

#[tokio::test]
async fn pages_and_api_do_not_open_each_other_and_forms_of_other_origins_are_refused() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let api = browser.get("/api/v1/balance").await;
    assert!(api.status == 401 && api.text.contains("INVALID_API_KEY"), "{}", api.text);
    let unknown = browser.get("/api/v1/nothing").await;
    assert!(unknown.status == 404 && unknown.text.starts_with('{'), "{}", unknown.text);
    let with_key = s.alice.get("/accounts/alice").await;
    assert_eq!(
        with_key.headers.get("location").map(String::as_str),
        Some("/sign-in?next=%2Faccounts%2Falice")
    );
    let csrf = browser.get("/accounts/alice").await.csrf();
    let form = format!("csrf={csrf}");
    assert_eq!(browser.post_from("https://evil.example", "/sign-out", &form).await.status, 403);
    assert_eq!(browser.get("/accounts/alice").await.status, 200);
    let page = browser.get("/accounts/alice").await;
    let policy = &page.headers["content-security-policy"];
    assert!(policy.contains("default-src 'none'") && policy.contains("trusted-types 'none'"), "{policy}");
    assert_eq!(page.headers["cache-control"], "no-store");
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
    s.end().await;
}

#[tokio::test]
async fn billing_sees_neither_texts_nor_whole_numbers_and_a_removed_user_is_signed_out() {
    let s = Scenario::with(Script::new()).await;
    let id = s.alice.send("+4915112345678", "a private text").await.accepted();
    s.alice.status_of(&id).becomes("delivered").await;
    s.gateway().store.record().flush().await.expect("the record is written");
    let browser = member(&s, "bill@example.com", "alice", Role::Billing).await;
    for path in ["/accounts/alice/messages".to_owned(), format!("/accounts/alice/messages/{id}")] {
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(!page.text.contains("15112345678") && !page.text.contains("private text"), "{}", page.text);
    }
    // No search tells a right digit from a wrong one.
    let right = ["to=%2B4915112345*", "to=*5678", "to=%2B4915112345678", "text=private"];
    let wrong = ["to=%2B49999*", "to=*9999", "to=%2B4999999999999", "text=wrong"];
    for search in right.into_iter().chain(wrong) {
        for page in ["messages", "messages.csv"] {
            let found = browser.get(&format!("/accounts/alice/{page}?{search}")).await;
            assert!(found.status == 200 && found.text.contains(&id), "{page}?{search}: {}", found.text);
        }
    }
    for sought in ["4915112345678", "*5678", "*9999"] {
        let found = browser.get(&format!("/accounts/alice/find?q={sought}")).await;
        let location = found.location();
        assert!(browser.get(location).await.text.contains(&id), "{sought} leads to {location}");
    }
    assert_eq!(browser.get("/accounts/alice/audit").await.status, 403);
    s.provision("[[remove]]\nkind = \"user\"\nname = \"bill@example.com\"\n").await;
    assert_eq!(browser.get("/accounts/alice").await.status, 303);
    s.end().await;
}

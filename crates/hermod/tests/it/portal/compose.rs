//! Composing: the preview is what the send then does, and a send happens once at the price that was shown.

use super::{Browser, Page, Role, member};
use crate::scenario::{GatewaySetup, Scenario};
use hermod_domain::ids::AccountId;
use hermod_operator::author::{Acting, Author};
use hermod_operator::opt_out::add_opt_out;
use hermod_operator::request::{RequestsQuery, list_requests};
use hermod_simulator::carrier::Script;
use serde_json::Value;

const TO: &str = "+4915112345678";

/// Encodes a value of a form.
pub(super) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// A form of the compose page.
struct Form<'a> {
    from: &'a str,
    to: &'a str,
    text: &'a str,
    once: &'a str,
    price: &'a str,
}

impl Form<'_> {
    fn with_token(&self, csrf: &str) -> String {
        let Form { from, to, text, once, price } = self;
        let [from, to, text] = [from, to, text].map(|value| encoded(value));
        format!("csrf={csrf}&from={from}&to={to}&text={text}&once={once}&confirmed_price={price}")
    }
}

async fn token(browser: &Browser) -> String {
    let page = browser.get("/accounts/alice/compose").await;
    assert_eq!(page.status, 200, "{}", page.text);
    page.csrf()
}

/// Returns the preview of a form.
async fn preview(browser: &mut Browser, form: &Form<'_>) -> Value {
    let csrf = token(browser).await;
    let page = browser.post("/accounts/alice/compose/preview", &form.with_token(&csrf)).await;
    assert_eq!(
        (page.status, page.headers["content-type"].as_str()),
        (200, "application/json"),
        "{}",
        page.text
    );
    serde_json::from_str(&page.text).expect("a preview")
}

async fn send(browser: &mut Browser, form: &Form<'_>) -> Page {
    let csrf = token(browser).await;
    browser.post("/accounts/alice/compose/send", &form.with_token(&csrf)).await
}

fn codes(preview: &Value) -> Vec<&str> {
    let rejections = preview["rejections"].as_array().expect("a list");
    rejections.iter().map(|rejection| rejection["code"].as_str().expect("a code")).collect()
}

/// Returns the id in the address of a message page.
fn message_id(page: &Page) -> &str {
    page.location().strip_prefix("/accounts/alice/messages/").expect("a message page")
}

#[tokio::test]
async fn preview_equals_what_the_send_charges_and_double_submit_sends_once() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    let texts = [
        ("hello".to_owned(), "GSM-7", 1, "0.05"),
        ("a".repeat(161), "GSM-7", 2, "0.1"),
        ("[€]".repeat(100), "GSM-7", 4, "0.2"),
        ("“quoted” ✓".to_owned(), "UCS-2", 1, "0.05"),
        ("😀".repeat(70), "UCS-2", 3, "0.15"),
    ];
    for (index, (text, encoding, parts, price)) in texts.iter().enumerate() {
        let once = format!("once-{index}");
        let form = Form { from: "", to: TO, text, once: &once, price };
        let before = s.gateway().store.money().balance(account(&s)).await.expect("a balance").balance;
        let shown = preview(&mut browser, &form).await;
        assert_eq!(shown["price"], *price, "{shown}");
        assert_eq!(shown["parts"].as_array().expect("parts").len(), *parts, "{shown}");
        assert!(shown["summary"].as_str().expect("words").contains(encoding), "{shown}");
        assert_eq!((shown["can_send"].as_bool(), codes(&shown).len()), (Some(true), 0), "{shown}");
        let joined: String = runs(&shown).into_iter().map(|(text, _)| text).collect();
        assert_eq!(joined, **text);
        assert_eq!(s.gateway().store.money().balance(account(&s)).await.expect("a balance").balance, before);
        let sent = send(&mut browser, &form).await;
        assert_eq!(sent.status, 303, "{}", sent.text);
        let id = message_id(&sent).to_owned();
        let charged =
            before.checked_sub(s.gateway().store.money().balance(account(&s)).await.expect("one").balance);
        assert_eq!(charged.expect("a charge").to_string(), **price);
        let again = send(&mut browser, &form).await;
        assert_eq!(message_id(&again), id);
        s.alice.status_of(&id).becomes("delivered").await;
        let page = browser.get(sent.location()).await;
        assert!(page.status == 200 && page.text.contains("Send again"), "{}", page.text);
    }
    s.assert_carrier_submits(11);
    s.end().await;
}

fn runs(preview: &Value) -> Vec<(String, bool)> {
    let parts = preview["parts"].as_array().expect("parts").iter();
    let runs = parts.flat_map(|part| part["runs"].as_array().expect("runs"));
    let run = |run: &Value| {
        (run["text"].as_str().expect("text").to_owned(), run["is_marked"].as_bool().expect("a mark"))
    };
    runs.map(run).collect()
}

fn account(s: &Scenario) -> AccountId {
    let catalogue = s.gateway().catalogue();
    let found = catalogue.accounts().find(|(_, view)| view.name == "alice").map(|(id, _)| id);
    found.expect("alice has an account")
}

#[tokio::test]
async fn characters_that_force_ucs2_are_marked_with_a_replacement_and_what_it_saves() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let text = format!("“{}”", "a".repeat(100));
    let form = Form { from: "", to: TO, text: &text, once: "x", price: "" };
    let shown = preview(&mut browser, &form).await;
    assert_eq!(shown["price"], "0.1");
    assert_eq!(runs(&shown).iter().filter(|(_, is_marked)| *is_marked).count(), 2);
    let words = shown["forced_words"].as_str().expect("words");
    assert_eq!(words, "2 characters force UCS-2. With the replacements: 1 part instead of 2, 0.05 EUR less.");
    assert_eq!(shown["forced"][0]["replacement"], "\"");
    assert!(shown["forced"][0]["name"].as_str().expect("a name").starts_with("left double quotation mark"));
    // Without JavaScript the same page says it, and the text is escaped.
    let csrf = token(&browser).await;
    let hostile = Form { text: "</textarea><script>alert(1)</script>“", ..form };
    let page = browser.post("/accounts/alice/compose", &hostile.with_token(&csrf)).await;
    assert!(page.status == 200 && page.text.contains("1 character forces UCS-2"), "{}", page.text);
    assert!(page.text.contains("Send for 0.05 EUR") && !page.text.contains("<script>alert"), "{}", page.text);
    s.end().await;
}

#[tokio::test]
async fn every_rejection_is_shown_before_sending_and_nothing_is_sent() {
    let setup = GatewaySetup::with("").account("alice", "minimum = \"99.99\"\n");
    let s = Scenario::with_setup(Script::new(), setup).await;
    let acting = Acting { gateway: s.gateway().clone(), author: Author::operator(None) };
    add_opt_out(&acting, "alice", TO, None).await.expect("an opt-out");
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let form = Form { from: "Bank", to: TO, text: "hello", once: "y", price: "0.05" };
    let shown = preview(&mut browser, &form).await;
    assert_eq!(codes(&shown), ["SENDER_NOT_APPROVED", "RECIPIENT_OPTED_OUT", "INSUFFICIENT_CREDIT"]);
    assert_eq!(shown["can_send"].as_bool(), Some(false));
    let sent = send(&mut browser, &form).await;
    assert!(sent.status == 400 && sent.text.contains("SENDER_NOT_APPROVED"), "{}", sent.text);
    assert!(sent.text.contains("Bank (not approved)"), "{}", sent.text);
    let nowhere = Form { from: "", to: "+12025550123", ..form };
    assert_eq!(codes(&preview(&mut browser, &nowhere).await), ["NO_PRICE"]);
    let invalid = Form { from: "", to: "0151 12345", ..form };
    assert_eq!(codes(&preview(&mut browser, &invalid).await), ["INVALID_NUMBER"]);
    s.gateway().store.record().flush().await.expect("the record is written");
    s.assert_carrier_received_nothing();
    s.alice.assert_balance("100").await;
    s.end().await;
}

#[tokio::test]
async fn price_that_changed_since_the_preview_is_refused() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let form = Form { from: "Hermod", to: TO, text: "hello", once: "z", price: "0.05" };
    assert_eq!(preview(&mut browser, &form).await["price"], "0.05");
    s.provision("[[price]]\nprefix = \"49\"\nper_part = \"0.07\"\n").await;
    let refused = send(&mut browser, &form).await;
    assert!(refused.status == 400 && refused.text.contains("another one than you saw"), "{}", refused.text);
    assert!(refused.text.contains("Send for 0.07 EUR"), "{}", refused.text);
    s.assert_carrier_received_nothing();
    let sent = send(&mut browser, &Form { price: "0.07", ..form }).await;
    let id = message_id(&sent).to_owned();
    s.alice.status_of(&id).becomes("delivered").await;
    // The request log has the send under the user's address.
    s.gateway().store.record().flush().await.expect("the record is written");
    let query = RequestsQuery { account: Some("alice".to_owned()), ..RequestsQuery::default() };
    let log = list_requests(s.gateway(), query).await.expect("the log");
    assert!(
        log.items.iter().any(|row| row.operation == "Compose" && row.who == "ann@example.com"),
        "{log:?}"
    );
    // Send again fills the form from the message; another account's message does not exist.
    let again = browser.get(&format!("/accounts/alice/compose?again={id}")).await;
    assert!(again.text.contains(">\nhello</textarea>") && again.text.contains(TO), "{}", again.text);
    let other = s.bob.send("+4915112345679", "of bob").await.accepted();
    s.bob.status_of(&other).becomes("delivered").await;
    s.gateway().store.record().flush().await.expect("the record is written");
    assert_eq!(browser.get(&format!("/accounts/alice/compose?again={other}")).await.status, 404);
    s.end().await;
}

#[tokio::test]
async fn only_roles_that_may_send_compose_and_never_over_another_accounts_connection() {
    let s = Scenario::with(Script::new()).await;
    for (email, role) in [("bill@example.com", Role::Billing), ("vera@example.com", Role::Viewer)] {
        let mut browser = member(&s, email, "alice", role).await;
        assert_eq!(browser.get("/accounts/alice/compose").await.status, 403);
        let csrf = browser.get("/accounts/alice/messages").await.csrf();
        let form = Form { from: "", to: TO, text: "hello", once: "q", price: "0.05" }.with_token(&csrf);
        for path in ["compose", "compose/preview", "compose/send"] {
            let page = browser.post(&format!("/accounts/alice/{path}"), &form).await;
            assert_eq!(page.status, 403, "{path}: {}", page.text);
        }
    }
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let csrf = token(&browser).await;
    let form = Form { from: "", to: TO, text: "hello", once: "q", price: "0.05" }.with_token(&csrf);
    let page = browser.post("/accounts/alice/compose/send", &format!("{form}&connection=bob-http")).await;
    assert!(page.status == 400 && page.text.contains("ACCOUNT_CLOSED"), "{}", page.text);
    assert_eq!(browser.post("/accounts/alice/compose/send", &form.replace(&csrf, "00")).await.status, 403);
    s.assert_carrier_received_nothing();
    s.end().await;
}

#[tokio::test]
async fn token_of_a_form_sends_no_other_message() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let form = |text| Form { from: "", to: TO, text, once: "once-other", price: "0.05" };
    let sent = send(&mut browser, &form("first")).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let other = send(&mut browser, &form("second")).await;
    assert!(other.status == 400 && other.text.contains("has sent another message already"), "{}", other.text);
    assert!(!other.text.contains("once-other"), "the page has another token: {}", other.text);
    let again = send(&mut browser, &form("first")).await;
    assert_eq!(again.location(), sent.location());
    s.assert_carrier_received_once("first");
    s.end().await;
}

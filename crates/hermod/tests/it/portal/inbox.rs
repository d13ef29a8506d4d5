//! The inbox: threads with both directions, a reply, the ways of delivery, and what roles and other accounts see.

use super::compose::encoded;
use super::{Role, member};
use crate::scenario::Scenario;
use hermod_simulator::carrier::Script;

/// A number that Alice owns and may send from.
const NUMBER: &str = "+4915799999999";
const HANDSET: &str = "4915112345678";

async fn stage() -> Scenario {
    let s = Scenario::with(Script::new()).await;
    s.provision(&format!(
        "[[number]]\nnumber = \"{NUMBER}\"\naccount = \"alice\"\n\
         [[sender]]\naccount = \"alice\"\nsender = \"{NUMBER}\"\nstate = \"approved\"\n"
    ))
    .await;
    s
}

fn receive(s: &Scenario, from: &str, text: &str) {
    s.carrier().send_mo(from, NUMBER.trim_start_matches('+'), text).expect("room for a message");
}

#[tokio::test]
async fn thread_has_both_directions_and_is_replied_to_at_the_shown_price() {
    let s = stage().await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    assert!(browser.get("/accounts/alice/inbox").await.text.contains("No messages yet"));
    receive(&s, HANDSET, "Is it there? <script>alert(1)</script>");
    receive(&s, "4915112345600", "another thread");
    s.alice.wait_for_inbound(2).await;
    let list = browser.get("/accounts/alice/inbox").await;
    assert!(list.text.contains("Is it there? &#60;script&#62;") && !list.text.contains("<script>alert"));
    // The API client of the test has polled both.
    assert_eq!(list.text.matches("Polled").count(), 2, "{}", list.text);
    let first = browser.get("/accounts/alice/inbox/1").await;
    let (own, other) = if first.text.contains("Is it there?") { (1, 2) } else { (2, 1) };
    let thread = browser.get(&format!("/accounts/alice/inbox/{own}")).await;
    assert!(
        !thread.text.contains("another thread") && thread.text.contains("name=\"text\""),
        "{}",
        thread.text
    );
    let csrf = thread.csrf();
    let form =
        format!("csrf={csrf}&from={}&to=%2B{HANDSET}&text={}", encoded(NUMBER), encoded("Yes, since noon."));
    let checked = browser.post("/accounts/alice/compose", &form).await;
    assert!(checked.text.contains("Send for 0.05 EUR"), "{}", checked.text);
    let once = checked.text.split("name=\"once\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let form = format!("{form}&once={}&confirmed_price=0.05", once.expect("a key"));
    let sent = browser.post("/accounts/alice/compose/send", &form).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let message = sent.location().rsplit('/').next().expect("an id").to_owned();
    s.alice.status_of(&message).becomes("delivered").await;
    s.gateway().store.record().flush().await.expect("the record is written");
    let thread = browser.get(&format!("/accounts/alice/inbox/{own}")).await;
    let (asked, answered) = (thread.text.find("Is it there?"), thread.text.find("Yes, since noon."));
    assert!(asked.is_some() && asked < answered, "{}", thread.text);
    assert!(thread.text.contains(&format!("/accounts/alice/messages/{message}")));
    let other = browser.get(&format!("/accounts/alice/inbox/{other}")).await;
    assert!(other.text.contains("another thread") && !other.text.contains("Yes, since noon."));
    s.end().await;
}

#[tokio::test]
async fn billing_sees_no_text_and_no_number_and_other_accounts_see_nothing() {
    let s = stage().await;
    receive(&s, HANDSET, "a private reply");
    s.alice.wait_for_inbound(1).await;
    let browser = member(&s, "bill@example.com", "alice", Role::Billing).await;
    for path in ["/accounts/alice/inbox", "/accounts/alice/inbox/1"] {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text.contains("+491********78"), "{}", page.text);
        assert!(!page.text.contains("15112345678") && !page.text.contains("private"), "{}", page.text);
        assert!(!page.text.contains("name=\"text\""), "{path} has no form");
    }
    let stranger = member(&s, "bo@example.com", "bob", Role::Owner).await;
    assert_eq!(stranger.get("/accounts/bob/inbox/1").await.status, 404);
    assert_eq!(stranger.get("/accounts/alice/inbox/1").await.status, 404);
    assert!(!stranger.get("/accounts/bob/inbox").await.text.contains("private"));
    for missing in ["9", "x", "18446744073709551616"] {
        assert_eq!(browser.get(&format!("/accounts/alice/inbox/{missing}")).await.status, 404, "{missing}");
    }
    s.end().await;
}

#[tokio::test]
async fn list_of_threads_has_pages_without_repeats() {
    let s = stage().await;
    for index in 0..35 {
        receive(&s, &format!("49151123456{index:02}"), "hello");
    }
    receive(&s, "4915112345600", "again");
    s.alice.wait_for_inbound(36).await;
    let browser = member(&s, "ann@example.com", "alice", Role::Viewer).await;
    let first = browser.get("/accounts/alice/inbox").await.text;
    let next = first.split("rel=\"next\"").next().and_then(|before| before.rsplit("href=\"").next());
    let next = next.and_then(|rest| rest.split('"').next()).expect("a next page").replace("&#38;", "&");
    let second = browser.get(&next).await.text;
    let numbers = |page: &str| -> Vec<String> {
        let cells = page.split("class=\"row-link\"").skip(1);
        let number =
            |cell: &str| cell.split('>').nth(1).and_then(|rest| rest.split('<').next()).map(str::to_owned);
        cells.filter_map(number).collect()
    };
    let (first, second) = (numbers(&first), numbers(&second));
    assert_eq!((first.len(), second.len()), (30, 5));
    assert!(second.iter().all(|number| !first.contains(number)));
    s.end().await;
}

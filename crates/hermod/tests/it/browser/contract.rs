//! What the contract asks of the portal and no other journey shows: the API beside the pages, allow-lists, opt-outs, the inbox,
//! held messages and the rate.

use super::tab::Tab;
use super::{EMAIL, make_user};
use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;

const PHONE: &str = "+4915112345678";
/// A number of alice.
const NUMBER: &str = "+4915799999999";

#[tokio::test]
async fn unknown_paths_of_the_api_keep_their_json_and_no_key_opens_a_page() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    let unknown =
        "fetch('/api/v1/nothing').then((answer) => answer.status + answer.headers.get('content-type'))";
    assert_eq!(tab.evaluate(unknown).await, "404application/json");
    let with_key = "fetch('/accounts/alice/messages', { credentials: 'omit', redirect: 'manual',
        headers: { 'X-API-Key': 'alice-key', 'X-API-Secret': 'alice-secret-of-many-characters' } })
        .then((answer) => answer.type)";
    assert_eq!(tab.evaluate(with_key).await, "opaqueredirect", "to the sign-in");
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn address_is_checked_against_both_lists_and_an_opt_out_is_added_and_lifted() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go("/accounts/alice/keys/alice-key").await;
    tab.fill("connection_list", "127.0.0.0/8").await;
    tab.press("Save the connection’s list").await;
    tab.sees("The allow-list is saved").await;
    tab.go("/accounts/alice/keys").await;
    tab.fill("address", "203.0.113.9").await;
    tab.press("Check").await;
    tab.sees("Connection alice-http: no match in").await;

    tab.go("/accounts/alice/opt-outs").await;
    let number = tab.element("form[method=post][action$='/opt-outs'] [name=number]").await;
    number.send_keys(PHONE).await.expect("a field");
    tab.press("Add").await;
    tab.sees("The number is on the list").await;
    assert_eq!(s.alice.send(PHONE, "not wanted").await.headers["x-error-code"], "RECIPIENT_OPTED_OUT");
    tab.press(&format!("Lift the opt-out of {PHONE}")).await;
    tab.press("Lift the opt-out").await;
    tab.sees("The opt-out is lifted").await;
    s.alice.send(PHONE, "wanted again").await.accepted();
    s.wait_for_carrier_submits(1).await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn reply_of_a_handset_is_answered_and_held_messages_and_the_rate_are_shown() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Developer).await;
    s.provision(&format!(
        "[[number]]\nnumber = \"{NUMBER}\"\naccount = \"alice\"\n\
         [[sender]]\naccount = \"alice\"\nsender = \"{NUMBER}\"\nstate = \"approved\"\n\
         [[screen]]\nname = \"short-links\"\npattern = \"bit[.]ly\"\n\
         [[connection]]\nname = \"alice-http\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nrate = 1\n"
    ))
    .await;
    s.carrier().send_mo(&PHONE[1..], &NUMBER[1..], "Is it there?").expect("room for a message");
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go_until("/accounts/alice/inbox", "Is it there?").await;
    tab.click("main a[href*='/inbox/']").await;
    tab.fill("text", "Yes, since noon.").await;
    tab.press("Check parts and price").await;
    tab.press("Send for 0.05 EUR").await;
    tab.sees("Delivered").await;
    s.assert_carrier_received_once("Yes, since noon.");

    // One request a second: the first is held, the second is too fast.
    assert_eq!(s.alice.send(PHONE, "see bit.ly").await.headers["x-error-code"], "HELD_FOR_REVIEW");
    assert_eq!(s.alice.send(PHONE, "too fast").await.headers["x-error-code"], "RATE_LIMITED");
    s.gateway().store.record().flush().await.expect("the record is written");
    tab.go("/accounts/alice/held").await;
    tab.sees("see bit.ly").await;
    tab.go("/accounts/alice/limits").await;
    tab.sees("RATE_LIMITED").await;
    tab.close().await;
    s.end().await;
}

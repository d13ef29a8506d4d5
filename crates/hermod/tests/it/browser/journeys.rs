//! What people do with the pages. Add a journey here, or a file beside this one for a page with several.

use super::driver::Scripts;
use super::tab::Tab;
use super::{EMAIL, PASSWORD, delivered_message, make_user};
use crate::scenario::Scenario;
use fantoccini::key::Key;
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;

const PHONE: &str = "+4915112345678";

#[tokio::test]
async fn wrong_password_is_refused_and_the_right_one_leads_to_the_page_that_was_wanted() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let tab = Tab::open(&s.origin()).await;
    tab.go("/accounts/alice/messages?state=delivered").await;
    tab.arrives_at("/sign-in?next=%2Faccounts%2Falice%2Fmessages%3Fstate%3Ddelivered").await;
    tab.sign_in(EMAIL, "wrong horse battery").await;
    tab.sees("The e-mail address or the password is wrong").await;
    tab.sign_in(EMAIL, PASSWORD).await;
    tab.arrives_at("/accounts/alice/messages?state=delivered").await;
    tab.sign_out().await;
    tab.go("/accounts/alice").await;
    tab.arrives_at("/sign-in?next=%2Faccounts%2Falice").await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn keyboard_alone_leads_from_the_sign_in_to_a_message() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Viewer).await;
    let id = delivered_message(&s, PHONE, "typed by hand").await;
    let enter = char::from(Key::Enter);
    let tab = Tab::open(&s.origin()).await;
    tab.go("/").await;
    tab.tab_to("[name=email]").await;
    tab.type_keys(&EMAIL.chars().collect::<Vec<_>>()).await;
    tab.tab_to("[name=password]").await;
    tab.type_keys(&PASSWORD.chars().collect::<Vec<_>>()).await;
    tab.type_keys(&[enter]).await;
    tab.arrives_at("/accounts/alice").await;
    tab.tab_to("a.skip").await;
    tab.tab_to("nav a[href$='/messages']").await;
    tab.type_keys(&[enter]).await;
    tab.arrives_at("/accounts/alice/messages").await;
    tab.tab_to("a.row-link").await;
    tab.type_keys(&[enter]).await;
    tab.arrives_at(&format!("/accounts/alice/messages/{id}")).await;
    tab.sees("typed by hand").await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn pages_work_without_scripts() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let id = delivered_message(&s, PHONE, "no script needed").await;
    let tab = Tab::open_with(&s.origin(), Scripts::Off).await;
    tab.go("/").await;
    tab.sign_in(EMAIL, PASSWORD).await;
    tab.arrives_at("/accounts/alice").await;
    // The script changes this line to the reader's time zone.
    tab.sees("Times are in UTC.").await;
    tab.press("Messages").await;
    tab.arrives_at("/accounts/alice/messages").await;
    tab.fill("to", PHONE).await;
    tab.press("Filter").await;
    tab.click("a.row-link").await;
    tab.arrives_at(&format!("/accounts/alice/messages/{id}")).await;
    tab.sees("no script needed").await;
    tab.press("Audit log").await;
    tab.sees(EMAIL).await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn ctrl_k_leads_to_the_message_of_a_pasted_id() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Developer).await;
    let id = delivered_message(&s, PHONE, "found by its id").await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.press_with_control('k').await;
    tab.type_keys(&id.chars().chain([Key::Enter.into()]).collect::<Vec<_>>()).await;
    tab.arrives_at(&format!("/accounts/alice/messages/{id}")).await;
    tab.sees("found by its id").await;
    tab.press_with_control('k').await;
    tab.type_keys(&"nothing-like-that".chars().chain([Key::Enter.into()]).collect::<Vec<_>>()).await;
    tab.arrives_at("/accounts/alice/messages?from=nothing-like-that").await;
    tab.sees("No message matches").await;
    tab.close().await;
    s.end().await;
}

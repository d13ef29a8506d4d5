//! Hostile strings in what strangers and customers can write, opened in a browser that would run them.

use super::tab::Tab;
use super::{EMAIL, delivered_message, make_user};
use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;

/// Markup that sets `window.hit` if a browser takes it as such.
const HOSTILE: [&str; 6] = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=2>",
    "\"><svg onload=window.hit=3>",
    "'><a href=javascript:window.hit=4 autofocus onfocus=window.hit=4>x</a>",
    "</title></textarea><iframe srcdoc=\"<script>top.hit=5</script>\">",
    "{{7*7}}${window.hit=6}<style>body{display:none}</style>",
];

async fn assert_unharmed(tab: &Tab, page: &str) {
    let hit = tab.evaluate("window.hit ?? null").await;
    assert!(hit.is_null(), "{page} ran markup {hit}");
    let made = "document.querySelectorAll('main :is(script, img, iframe, style, [onload], [onerror], [onfocus])').length";
    assert_eq!(tab.evaluate(made).await, 0, "{page} has elements made of text");
    tab.assert_console_is_clean().await;
}

#[tokio::test]
async fn hostile_strings_are_shown_as_text() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    for text in HOSTILE {
        let id = delivered_message(&s, "+4915112345678", text).await;
        let page = format!("/accounts/alice/messages/{id}");
        tab.go(&page).await;
        tab.sees(text).await;
        assert_unharmed(&tab, &page).await;
        let written: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for page in [
            format!("/accounts/alice/find?q={written}"),
            format!("/accounts/alice/messages?to={written}&from={written}&text={written}&since={written}"),
            format!("/accounts/alice/messages/{written}"),
            format!("/accounts/alice?done={written}"),
            format!("/sign-in?next={written}"),
        ] {
            tab.go(&page).await;
            assert_unharmed(&tab, &page).await;
        }
        tab.go("/accounts/alice/messages").await;
        assert_unharmed(&tab, "the list").await;
    }
    tab.close().await;
    s.end().await;
}

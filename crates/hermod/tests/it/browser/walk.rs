//! Finds the pages of an account by following links, one of each kind: all messages have the same page.

use super::tab::Tab;
use std::collections::{BTreeSet, VecDeque};

/// More pages than the portal has kinds of.
const PAGES_MAX: usize = 200;

/// Returns the paths of the pages that links of this account lead to, beginning with `start`.
pub(super) async fn pages(tab: &Tab, start: &str) -> Vec<String> {
    let mut waiting = VecDeque::from([start.to_owned()]);
    let mut kinds = BTreeSet::from([kind(start)]);
    let mut found = Vec::new();
    while let Some(path) = waiting.pop_front() {
        assert!(found.len() < PAGES_MAX, "more than {PAGES_MAX} kinds of pages: {found:?}");
        tab.go(&path).await;
        let links = tab.evaluate(LINKS).await;
        found.push(path);
        for link in links.as_array().into_iter().flatten().filter_map(|link| link.as_str()) {
            let is_ours = link.starts_with(start) || link.starts_with("/profile");
            if is_ours && kinds.insert(kind(link)) {
                waiting.push_back(link.to_owned());
            }
        }
    }
    found
}

/// The addresses of all links of a page but downloads.
const LINKS: &str = "[...document.querySelectorAll('a[href]:not([download])')]
    .filter((link) => link.origin === location.origin).map((link) => link.pathname + link.search)";

/// Pages whose next segment names one of many.
const LISTS: [&str; 2] = ["keys", "smpp"];

/// Returns a path with each segment that names one of many replaced, without its query: after a list, or with digits.
pub(super) fn kind(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let mut kind = Vec::new();
    for segment in path.split('/') {
        let is_one_of_many = kind.last().is_some_and(|list| LISTS.contains(list));
        let has_digits = segment.bytes().any(|byte| byte.is_ascii_digit());
        kind.push(if is_one_of_many || has_digits { "{id}" } else { segment });
    }
    kind.join("/")
}

#[test]
fn pages_of_two_messages_are_of_one_kind() {
    assert_eq!(kind("/accounts/alice/messages/01J9?x=1"), "/accounts/alice/messages/{id}");
    assert_eq!(kind("/accounts/alice/messages"), "/accounts/alice/messages");
    assert_eq!(kind("/accounts/alice/keys/shop/revoke"), "/accounts/alice/keys/{id}/revoke");
}

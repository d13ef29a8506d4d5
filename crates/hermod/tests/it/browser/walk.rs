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

/// Returns a path with each segment that has digits replaced, without its query.
fn kind(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let generalised = path
        .split('/')
        .map(|segment| if segment.bytes().any(|byte| byte.is_ascii_digit()) { "{id}" } else { segment });
    generalised.collect::<Vec<_>>().join("/")
}

#[test]
fn pages_of_two_messages_are_of_one_kind() {
    assert_eq!(kind("/accounts/alice/messages/01J9?x=1"), "/accounts/alice/messages/{id}");
    assert_eq!(kind("/accounts/alice/messages"), "/accounts/alice/messages");
}

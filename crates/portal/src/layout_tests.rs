//! Unit tests of `layout.rs`.

use super::*;

fn shell(visible: Vec<NavEntry>) -> Shell {
    Shell { account: "shop".to_owned(), visible, ..Shell::default() }
}

#[test]
fn group_without_visible_entries_is_left_out() {
    let groups = shell(vec![NavEntry::Billing, NavEntry::Home]).groups();
    let titles: Vec<&str> = groups.iter().map(|(title, _)| *title).collect();
    assert_eq!(titles, ["", "Account"]);
}

#[test]
fn id_in_a_path_is_percent_encoded() {
    let shell = shell(Vec::new());
    assert_eq!(shell.path_to("keys", "a/b?c"), "/accounts/shop/keys/a%2Fb%3Fc");
    assert_eq!(shell.path(""), "/accounts/shop");
}

#[test]
fn every_entry_is_in_one_group_and_has_its_own_path() {
    let mut paths: Vec<&str> = NavEntry::all().into_iter().map(NavEntry::path).collect();
    let total = paths.len();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), total);
    assert_eq!(total, 19);
}

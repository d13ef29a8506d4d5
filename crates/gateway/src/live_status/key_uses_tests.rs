//! Unit tests of `key_uses.rs`.

use super::*;

#[test]
fn only_the_last_use_of_a_key_is_kept() {
    let uses = KeyUses::default();
    let at = |ms| Timestamp::from_millis(ms);
    assert_eq!(uses.last("k"), None);
    uses.note("k", at(1), Some(IpAddr::from([192, 0, 2, 1])));
    uses.note("k", at(2), None);
    assert_eq!(uses.last("k"), Some(KeyUse { at: at(2), address: None }));
    assert_eq!(uses.last("other"), None);
}

#[test]
fn use_on_another_node_counts_if_it_is_newer() {
    let [here, there] = [(); 2].map(|()| KeyUses::default());
    let at = |ms| Timestamp::from_millis(ms);
    there.note("k", at(5), None);
    there.note("other", at(1), None);
    here.note("k", at(3), None);
    here.note("other", at(2), None);
    here.note_elsewhere(there.take_new());
    assert_eq!(there.take_new(), [], "each use is sent once");
    let last = |key| here.last(key).map(|used| used.at);
    assert_eq!((last("k"), last("other")), (Some(at(5)), Some(at(2))));
    assert_eq!(here.take_new().len(), 1, "a use on another node is not sent back");
}

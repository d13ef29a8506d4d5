//! Unit tests of `recent.rs`.

use super::*;

#[test]
fn latest_entries_are_kept_within_two_generations() {
    let mut recent = Recent { generation: 10, ..Recent::default() };
    for number in 0..1_000 {
        recent.insert(number, number);
        assert!(recent.young.len() + recent.old.len() <= 20);
        for late in (number - 9).max(0)..=number {
            assert_eq!(recent.get(&late), Some(&late));
        }
    }
    assert_eq!(recent.get(&0), None);
}

#[test]
fn later_value_replaces_an_earlier_one_in_either_generation() {
    let mut recent = Recent { generation: 2, ..Recent::default() };
    for (key, value) in [("a", 1), ("b", 1), ("c", 1), ("a", 2), ("a", 3)] {
        recent.insert(key, value);
    }
    assert_eq!(recent.get("a"), Some(&3));
    recent.remove("a");
    assert_eq!(recent.get("a"), None, "no earlier value comes to light");
    recent.clear();
    assert_eq!(recent.get("b"), None);
}

//! Unit tests of `shown_number.rs`.

use super::*;
use std::collections::HashSet;

#[test]
fn shown_number_is_read_back_and_neighbours_are_far_apart() {
    let numbers = ShownNumbers::new([7; 32]);
    let mut seen = HashSet::new();
    for number in (0..2_000).chain([(1 << 52) - 1, 1 << 52, u64::MAX]) {
        let shown = numbers.show(NumberKind::Event, number);
        assert_eq!(numbers.read(NumberKind::Event, shown), number);
        assert!(seen.insert(shown), "{number}");
    }
    let shown: Vec<u64> = (1..100).map(|number| numbers.show(NumberKind::Event, number)).collect();
    assert!(shown.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1_000), "{shown:?}");
    assert!(!shown.is_sorted(), "the order tells nothing: {shown:?}");
}

#[test]
fn shown_number_depends_on_key_and_kind() {
    let (one, other) = (ShownNumbers::new([1; 32]), ShownNumbers::new([2; 32]));
    assert_ne!(one.show(NumberKind::Event, 7), other.show(NumberKind::Event, 7));
    assert_ne!(one.show(NumberKind::Event, 7), one.show(NumberKind::AuditRow, 7));
    // Stored at customers as webhook-id: it must not change with a release.
    assert_eq!(one.show(NumberKind::Event, 7), one.clone().show(NumberKind::Event, 7));
}

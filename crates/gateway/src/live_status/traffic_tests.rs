//! Unit tests of `traffic.rs`.

use super::*;

#[test]
fn index_of_each_class_is_its_position_in_all() {
    for (place, class) in ErrorClass::ALL.into_iter().enumerate() {
        assert_eq!(place_of(class), place, "{class:?}");
    }
}

#[test]
fn ratios_are_none_without_traffic() {
    let none = Traffic::default();
    assert_eq!(
        (none.failed_per_mille(), none.receipted_per_mille(), none.unmatched_per_mille()),
        (None, None, None)
    );
    let mut some = Traffic { accepted: 60, timed_out: 20, receipts: 45, unmatched: 9, ..none };
    some.refused[place_of(ErrorClass::Temporary)] = 15;
    some.refused[place_of(ErrorClass::RejectedRoute)] = 5;
    assert_eq!(some.failed_per_mille(), Some(350));
    assert_eq!(some.receipted_per_mille(), Some(750));
    assert_eq!(some.unmatched_per_mille(), Some(200));
    assert_eq!(some.plus(&some).since(&some), some);
}

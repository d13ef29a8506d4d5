//! Unit tests of `pending.rs`.

use super::*;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::ReleaseDue;

fn op(millis: i64) -> Op {
    Op::Command(ReleaseDue { now: Timestamp::from_millis(millis) }.into(), None)
}

fn numbers(pending: &PendingOperations) -> Vec<u64> {
    pending.unanswered().map(|(number, _)| number).collect()
}

#[test]
fn answers_may_come_in_any_order() {
    let mut pending = PendingOperations::default();
    assert_eq!([1, 2, 3].map(|millis| pending.push(op(millis))), [1, 2, 3]);
    assert!(pending.take(2).is_some());
    assert!(pending.take(2).is_none(), "it was answered before");
    assert_eq!((numbers(&pending), pending.len()), (vec![1, 3], 3));
    assert!(pending.take(1).is_some());
    assert_eq!((numbers(&pending), pending.len()), (vec![3], 1));
    assert!(pending.take(9).is_none() && pending.take(0).is_none());
    assert_eq!(pending.push(op(4)), 4);
}

#[test]
fn operations_that_were_run_are_not_sent_again() {
    let mut pending = PendingOperations::default();
    assert_eq!((1..=5).map(|millis| pending.push(op(millis))).last(), Some(5));
    assert!(pending.take(2).is_some());
    assert_eq!(pending.take_applied(3).len(), 2, "of the three one was answered");
    assert_eq!(numbers(&pending), [4, 5]);
    assert_eq!(pending.take_applied(3).len(), 0);
    assert_eq!(pending.take_all().len(), 2);
    assert_eq!(pending.push(op(6)), 6);
    assert_eq!(pending.take_applied(9).len(), 1);
    assert_eq!(pending.push(op(7)), 10, "an engine that says more than was sent is believed");
}

//! Unit tests of `delay_queue.rs`.

use std::time::Duration;

use super::*;
use crate::runtime;

/// Pushes `n` due after `n` ms, in the order given, and reads the queue empty.
#[track_caller]
fn check(pushed: &[u64], expect: &[(u64, usize)]) {
    let start = runtime::now();
    let mut queue = DelayQueue::new();
    for (order, &ms) in pushed.iter().enumerate() {
        queue.push(start + Duration::from_millis(ms), (ms, order));
    }
    assert_eq!(queue.len(), pushed.len());
    let end = start + Duration::from_secs(3600);
    let left: Vec<(u64, usize)> = std::iter::from_fn(|| queue.pop_due(end)).collect();
    assert_eq!(left, expect);
    assert_eq!((queue.len(), queue.next_due()), (0, None));
}

#[test]
fn items_leave_in_due_order_then_in_order_of_arrival() {
    check(&[5, 5, 5], &[(5, 0), (5, 1), (5, 2)]);
    check(&[1, 9, 3, 9, 3, 2], &[(1, 0), (2, 5), (3, 2), (3, 4), (9, 1), (9, 3)]);
    check(&[9, 1], &[(1, 1), (9, 0)]);
}

#[test]
fn item_does_not_leave_before_it_is_due() {
    let start = runtime::now();
    let mut queue = DelayQueue::new();
    queue.push(start + Duration::from_millis(10), "later");
    assert_eq!(queue.pop_due(start + Duration::from_millis(9)), None);
    assert_eq!(queue.next_due(), Some(start + Duration::from_millis(10)));
    assert_eq!(queue.pop_due(start + Duration::from_millis(10)), Some("later"));
}

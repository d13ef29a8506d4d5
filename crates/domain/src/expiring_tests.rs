//! Unit tests of `expiring.rs`.

use super::*;

#[test]
fn keys_that_expire_soonest_are_dropped_first() {
    let mut map = Expiring::new(10);
    for key in 0..10 {
        map.insert(key, 100 + i64::from(key), 0);
    }
    map.insert(10, 500, 0);
    assert_eq!((map.len(), map.get(0), map.get(1), map.get(10)), (10, None, Some(101), Some(500)));
    map.insert(11, 500, 105);
    assert_eq!((map.len(), map.get(5), map.get(6)), (6, None, Some(106)), "expired keys go together");
}

#[test]
fn present_key_is_replaced_without_dropping_another() {
    let mut map = Expiring::new(2);
    map.insert(1, 10, 0);
    map.insert(2, 20, 0);
    map.insert(1, 30, 0);
    map.update(2, 40);
    map.update(3, 50);
    assert_eq!((map.get(1), map.get(2), map.get(3)), (Some(30), Some(40), None));
}

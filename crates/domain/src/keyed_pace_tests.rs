//! Unit tests of `keyed_pace.rs`.

use super::*;

const THREE_PER_MINUTE: Allowance = Allowance { most: 3, per: Duration::from_secs(60) };

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
}

/// Returns `+` if admitted, otherwise the wait in seconds.
fn admit(pace: &mut KeyedPace<u32>, key: u32, seconds: i64) -> String {
    match pace.admit(key, THREE_PER_MINUTE, at(seconds)) {
        Ok(()) => "+".to_owned(),
        Err(wait) => wait.as_secs().to_string(),
    }
}

#[test]
fn allowance_is_used_at_once_and_refills_gradually() {
    let mut pace = KeyedPace::new(10);
    let results: Vec<String> =
        [0, 0, 0, 0, 5, 20, 20, 100, 100, 100, 100].map(|second| admit(&mut pace, 1, second)).into();
    assert_eq!(results.join(" "), "+ + + 20 15 + 20 + + + 20");
    assert_eq!(admit(&mut pace, 2, 100), "+", "another key has its own");
}

#[test]
fn remaining_allowance_is_read_without_taking_any() {
    let mut pace = KeyedPace::new(10);
    let left = |pace: &KeyedPace<u32>, second| {
        let (left, full_in) = pace.left(1, THREE_PER_MINUTE, at(second));
        (left, full_in.as_secs())
    };
    assert_eq!(left(&pace, 0), (3, 0));
    admit(&mut pace, 1, 0);
    admit(&mut pace, 1, 0);
    assert_eq!(left(&pace, 0), (1, 40));
    assert_eq!(left(&pace, 19), (1, 21));
    assert_eq!(left(&pace, 20), (2, 20));
}

#[test]
fn returned_allowance_can_be_taken_again() {
    let mut pace = KeyedPace::new(10);
    for _ in 0..3 {
        assert_eq!(admit(&mut pace, 1, 0), "+");
    }
    pace.give_back(1, THREE_PER_MINUTE);
    assert_eq!(admit(&mut pace, 1, 0), "+");
    assert_eq!(admit(&mut pace, 1, 0), "20");
}

#[test]
fn clock_set_back_does_not_lock_a_key_out() {
    let mut pace = KeyedPace::new(10);
    assert_eq!(admit(&mut pace, 1, 100_000), "+");
    assert_eq!(admit(&mut pace, 1, 0), "20", "treated as used up");
    assert_eq!(admit(&mut pace, 1, 20), "+");
}

#[test]
fn a_tenth_of_the_keys_is_dropped_even_if_only_one_is_full() {
    let mut pace = KeyedPace::new(100);
    // Each key is full 20 seconds after its admission: from second 20 on, one is at each admission.
    for second in 0..2_000 {
        admit(&mut pace, u32::try_from(second).unwrap(), second / 5);
        assert!(pace.len() <= 100);
    }
    let (mut looks, mut before) = (0, pace.len());
    for second in 2_000..3_000 {
        admit(&mut pace, u32::try_from(second).unwrap(), second / 5);
        looks += u32::from(pace.len() <= before);
        before = pace.len();
    }
    assert!(looks <= 100, "{looks} looks at every key in 1000 admissions");
}

#[test]
fn number_of_keys_is_bounded() {
    let mut pace = KeyedPace::new(100);
    for key in 0..10_000 {
        assert_eq!(admit(&mut pace, key, 0), "+");
        assert!(pace.len() <= 100);
    }
    // Keys that used most of their allowance are kept longest.
    let mut pace = KeyedPace::new(100);
    for _ in 0..3 {
        admit(&mut pace, 7, 0);
    }
    for key in 100..1_000 {
        admit(&mut pace, key, 0);
    }
    assert_eq!(admit(&mut pace, 7, 0), "20");
}

//! Unit tests of `request_id.rs`.

use super::*;

#[track_caller]
fn check(given: &str, echoed: bool) {
    let mut headers = HeaderMap::new();
    headers.insert(X_REQUEST_ID, HeaderValue::from_str(given).unwrap());
    assert_eq!(of(&headers) == given, echoed, "{given:?}");
}

#[test]
fn valid_id_is_echoed_and_any_other_replaced() {
    check("A-z_0.9", true);
    check(&"x".repeat(64), true);
    check(&"x".repeat(65), false);
    for odd in ["", "a b", "a/b", "a;b", "\"a\"", "<a>"] {
        check(odd, false);
    }
}

#[test]
fn generated_ids_differ() {
    let (one, other) = (fresh(), fresh());
    assert_eq!(one.len(), 21);
    assert_ne!(one, other);
}

#[test]
fn generated_ids_do_not_count_requests() {
    let number = |id: HeaderValue| u64::from_str_radix(&id.to_str().unwrap()[8..], 16).unwrap();
    let ids: Vec<u64> = (0..100).map(|_| number(fresh())).collect();
    assert!(ids.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1_000), "{ids:?}");
    assert!(!ids.is_sorted());
}

//! Unit tests of `inbound.rs`.

use super::*;

#[track_caller]
fn check(query: &str, expect: &str) {
    let actual = match page_of(query) {
        Ok(InboundPoll { since, limit }) => format!("{since}, {limit}"),
        Err(refusal) => refusal.sentence().into_owned(),
    };
    assert_eq!(actual, expect, "{query}");
}

#[test]
fn since_and_limit_have_defaults_and_bounds() {
    check("", "0, 100");
    check("since=7", "7, 100");
    check("since=007&limit=020", "7, 20");
    check("limit=1", "0, 1");
    check("limit=500", "0, 500");
    check("limit=501", "0, 500");
    check("limit=99999999999999999999999", "0, 500");
    check("since=9223372036854775807", "9223372036854775807, 100");
    check("unknown=1&Limit=0", "0, 100");
}

#[test]
fn invalid_since_or_limit_is_rejected() {
    for odd in ["", "-1", "+1", "1.0", "1e3", "0x10", "one", "%201", "1 ", "null", "\u{661}"] {
        check(&format!("since={odd}"), "`since` is not valid: it must be an integer from 0 on.");
        check(&format!("limit={odd}"), "`limit` is not valid: it must be an integer from 1 on.");
    }
    check("limit=0", "`limit` is not valid: it must be an integer from 1 on.");
    check("since=9223372036854775808", "`since` is not valid: it must be an integer from 0 on.");
    check("since=1&since=1", "`since` is not valid: it must be given once.");
    check("limit=1&limit=2", "`limit` is not valid: it must be given once.");
}

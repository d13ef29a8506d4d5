//! Unit tests of `query.rs`.

use super::*;

#[track_caller]
fn check(query: &str, expect: &str) {
    let actual = match parameter(query, "since") {
        QueryParameter::Absent => "absent".to_owned(),
        QueryParameter::Once(value) => format!("once {value:?}"),
        QueryParameter::Repeated => "repeated".to_owned(),
    };
    assert_eq!(actual, expect, "{query}");
}

#[test]
fn parameter_is_found_by_its_decoded_name() {
    check("", "absent");
    check("&&=&=1&Since=1&since1=2", "absent");
    check("since=7", "once \"7\"");
    check("limit=1&since=7&x", "once \"7\"");
    check("since", "once \"\"");
    check("since=", "once \"\"");
    check("since=a=b", "once \"a=b\"");
    check("s%69nce=%37", "once \"7\"");
    check("since=+7", "once \" 7\"");
    check("since=7&since=7", "repeated");
    check("since=7&%73ince=8", "repeated");
}

#[test]
fn invalid_escapes_stay_unchanged() {
    check("since=%", "once \"%\"");
    check("since=%3", "once \"%3\"");
    check("since=%zz", "once \"%zz\"");
    check("since=%%37", "once \"%7\"");
    check("since=%ff", "once \"\u{fffd}\"");
}

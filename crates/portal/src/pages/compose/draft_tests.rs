//! Unit tests of `draft.rs`.

use super::*;

#[test]
fn number_may_be_written_as_people_write_it() {
    let MessageDraft::Whole(submission) = MessageDraft::of("", "+49 (151) 123-45.678", "a\r\nb") else {
        panic!("a whole message");
    };
    assert_eq!(submission.to.to_string(), "+4915112345678");
    assert_eq!(submission.text.as_str(), "a\nb");
}

#[test]
fn empty_field_is_not_wrong_yet_and_an_invalid_one_is() {
    let refusals = |from: &str, to: &str, text: &str| match MessageDraft::of(from, to, text) {
        MessageDraft::Whole(_) => panic!("it is not whole"),
        MessageDraft::Partial { refusals, .. } => refusals.iter().map(Refusal::code).collect::<Vec<_>>(),
    };
    assert!(refusals("", "", "hello").is_empty());
    assert_eq!(
        refusals("!", "0151", &"x".repeat(1601)),
        ["INVALID_NUMBER", "INVALID_SENDER", "TEXT_TOO_LONG"]
    );
}

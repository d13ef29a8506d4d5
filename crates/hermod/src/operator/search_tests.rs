//! Unit tests of `search.rs`.

use super::*;

#[test]
fn rejected_requests_are_named_with_the_command_that_lists_them() {
    let query = MessagesQuery {
        account: Some("shop".to_owned()),
        to: Some("+4915112345678".to_owned()),
        since: Some("2h".to_owned()),
        ..MessagesQuery::default()
    };
    let line = |count, exact| rejected_text(RejectedRequestsView { count, exact }, &query);
    let command = "hermod requests --to +4915112345678 --account shop --since 2h --rejected\n";
    assert_eq!(line(0, true), "");
    assert_eq!(line(1, true), format!("\n1 request to this number was rejected: {command}"));
    assert_eq!(line(2, true), format!("\n2 requests to this number were rejected: {command}"));
    assert_eq!(
        line(1_000, false),
        format!("\n1000 or more requests to this number were rejected: {command}")
    );
}

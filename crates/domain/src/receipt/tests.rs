//! Unit tests of `receipt/mod.rs`.

use super::*;

#[track_caller]
fn check(message_state: Option<u8>, stat: Option<&str>, expect: &str) {
    let status = format!("{:?}", ReceiptStatus::read(message_state, stat));
    assert_eq!(status, expect, "message_state {message_state:?}, stat {stat:?}");
}

#[test]
fn stat_word_alone_is_read_in_every_spelling() {
    for (words, expect) in [
        ("ENROUTE BUFFRED BUFFERD BUFFERED enroute", "Enroute"),
        ("ACCEPTD ACCEPTED ACKED", "Accepted"),
        ("DELIVRD DELIVERED Delivrd delivrd", "Delivered"),
        ("UNDELIV UNDELIVERED UNDELIVERABLE FAILED DELETED", "Undeliverable"),
        ("REJECTD REJECTED", "Rejected"),
        ("EXPIRED", "Expired"),
        ("UNKNOWN", "Unknown"),
    ] {
        for word in words.split(' ') {
            check(None, Some(word), expect);
        }
    }
    check(None, Some(" DELIVRD\r"), "Delivered");
}

#[test]
fn message_state_alone_is_read() {
    let expect = [
        r#"Unrecognised("0")"#,
        "Enroute",
        "Delivered",
        "Expired",
        "Undeliverable",
        "Undeliverable",
        "Accepted",
        "Unknown",
        "Rejected",
        r#"Unrecognised("9")"#,
    ];
    for (state, expect) in (0..).zip(expect) {
        check(Some(state), None, expect);
    }
    check(Some(255), None, r#"Unrecognised("255")"#);
}

#[test]
fn message_state_takes_precedence_over_the_stat_word() {
    check(Some(2), Some("UNDELIV"), "Delivered");
    check(Some(5), Some("DELIVRD"), "Undeliverable");
    check(Some(1), Some("DELIVRD"), "Enroute");
    check(Some(3), Some("UNDELIV"), "Expired");
    check(Some(2), Some("gibberish"), "Delivered");
}

#[test]
fn stat_word_takes_precedence_where_it_is_more_specific() {
    check(Some(5), Some("REJECTD"), "Rejected");
    check(Some(8), Some("UNDELIV"), "Undeliverable");
    check(Some(1), Some("ACCEPTD"), "Accepted");
    check(Some(6), Some("ENROUTE"), "Enroute");
    check(Some(7), Some("DELIVRD"), "Delivered");
    check(Some(0), Some("EXPIRED"), "Expired");
}

#[test]
fn unrecognised_status_is_kept_as_received() {
    check(None, Some("Gone-42"), r#"Unrecognised("Gone-42")"#);
    check(None, Some(""), r#"Unrecognised("")"#);
    check(None, None, r#"Unrecognised("")"#);
    check(Some(7), Some("gibberish"), "Unknown");
    check(None, Some(&"é".repeat(40)), &format!("Unrecognised({:?})", "é".repeat(32)));
}

#[test]
fn stored_codes_never_change() {
    let table = DlrCode::ALL.map(|code| format!("{code} {}", code.as_u8()));
    assert_eq!(table, ["DELIVRD 2", "ACCEPTD 6", "UNDELIV 5", "REJECTD 8", "EXPIRED 3", "UNKNOWN 7"]);
    for stored in 0..=u8::MAX {
        let back = DlrCode::from_u8(stored).map(DlrCode::as_u8);
        assert_eq!(back, [2, 3, 5, 6, 7, 8].contains(&stored).then_some(stored));
    }
}

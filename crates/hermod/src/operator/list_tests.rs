//! Unit tests of `list.rs`.

use super::*;
use hermod_operator::inbound::{GivenUpView, UnassignedView};
use hermod_operator::maintenance::SetAsideView;
use hermod_operator::webhook::views::EventView;

#[track_caller]
fn check<T: ListedView + Paged + DeserializeOwned>(json: &str, next: NextPage, expect: &str) {
    let page: Page<T> = serde_json::from_str(json).unwrap();
    assert_eq!(page_text(&page, next), expect);
}

#[test]
fn page_of_reports_has_a_row_for_each_and_names_the_next_page() {
    let json = r#"{"items": [{"number": 7, "account": "shop", "system_id": "shop", "message_id": "1234", "stat": "DELIVRD",
            "at": "2026-06-12T12:00:00Z", "given_up_at": "2026-06-15T12:00:01Z", "why": "not acknowledged"}], "next": 7}"#;
    let expect = "\
MESSAGE  ACCOUNT  SYSTEM ID  STAT     SINCE                 GIVEN UP              WHY
1234     shop     shop       DELIVRD  2026-06-12T12:00:00Z  2026-06-15T12:00:01Z  not acknowledged

More rows: --after 7
";
    check::<GivenUpView>(json, NextPage::After, expect);
    check::<GivenUpView>(r#"{"items": [], "next": null}"#, NextPage::After, "No reports were given up.\n");
}

#[test]
fn row_that_was_set_aside_shows_its_part_if_it_has_one() {
    let json = r#"{"items": [
            {"number": 7, "at": "2026-06-12T12:00:00Z", "reason": "part 2: 99 is not a known state", "carrier": 1, "account": 3,
             "message_id": "1234", "part": {"no": 2, "state": 99, "doubts": 0, "resend": 3, "attempts": 0, "due_at": 0,
             "expires_at": 5}},
            {"number": 8, "at": "2026-06-12T12:00:00Z", "reason": "a status", "carrier": 1, "account": 3,
             "message_id": "1235", "part": null}], "next": 8}"#;
    let expect = "\
NUMBER  MESSAGE  PART  STATE  ACCOUNT  CARRIER  SET ASIDE             REASON
     7  1234        2     99        3        1  2026-06-12T12:00:00Z  part 2: 99 is not a known state
     8  1235                        3        1  2026-06-12T12:00:00Z  a status

More rows: --after 8
";
    check::<SetAsideView>(json, NextPage::After, expect);
}

#[test]
fn cursor_may_be_a_text() {
    let json = r#"{"items": [{"message_id": "1234", "carrier": "acme", "from": "+4915112345678", "to": "80800",
            "text": "hello", "received_at": "2026-06-12T12:00:00Z"}], "next": "1234"}"#;
    let expect = "\
MESSAGE  RECEIVED              CARRIER  FROM            TO     TEXT
1234     2026-06-12T12:00:00Z  acme     +4915112345678  80800  hello

More rows: --after 1234
";
    check::<UnassignedView>(json, NextPage::After, expect);
}

#[test]
fn page_of_webhook_events_continues_before_the_last() {
    let json = r#"{"items": [{"event": "evt_7", "kind": "dlr", "message_id": "1234", "status": "DELIVRD", "state": "failed",
            "why": "every attempt failed", "attempts": 6, "at": "2026-11-15T09:30:00Z", "due_at": null,
            "ended_at": "2026-11-16T07:06:00Z"}], "next": 7}"#;
    let expect = "\
EVENT  KIND  MESSAGE  STATUS   SINCE                 STATE   ATTEMPTS  NEXT OR END           WHY
evt_7  dlr   1234     DELIVRD  2026-11-15T09:30:00Z  failed         6  2026-11-16T07:06:00Z  every attempt failed

More rows: --before 7
";
    check::<EventView>(json, NextPage::Before, expect);
}

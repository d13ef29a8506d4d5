//! Tests of holds.

use super::*;
use std::time::Duration;

const MADE_AT: Timestamp = Timestamp::from_millis(1_794_700_800_000);

#[test]
fn message_of_the_last_millisecond_of_a_backup_was_accepted_before_the_hold() {
    let hold = Hold::of_backup(MADE_AT);
    let at = |millis| MessageId::first_at(MADE_AT.plus(Duration::from_millis(millis)));
    assert!(hold.is_later_than(at(0)));
    assert!(!hold.is_later_than(at(1)));
}

#[test]
fn hold_survives_the_store_and_unknown_fields_are_rejected() {
    for hold in [
        Hold::of_backup(MADE_AT),
        Hold::by_operator(MADE_AT),
        Hold { accepts_messages: true, ..Hold::by_operator(MADE_AT) },
    ] {
        let stored = serde_json::to_string(&hold).expect("numbers");
        assert_eq!(serde_json::from_str::<Hold>(&stored).expect("a hold"), hold);
    }
    assert!(
        serde_json::from_str::<Hold>(r#"{"since":1,"is_backup":true,"accepts_messages":false,"x":1}"#)
            .is_err()
    );
}

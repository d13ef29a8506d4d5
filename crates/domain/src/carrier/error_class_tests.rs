//! Unit tests of `error_class.rs`.

use super::*;

#[test]
fn every_status_has_one_class() {
    let table = [
        (ErrorClass::Throttled, &[0x58, 0x14][..]),
        (ErrorClass::Temporary, &[0x08, 0x64, 0xFE]),
        (ErrorClass::NotBound, &[0x04]),
        (ErrorClass::RejectedRoute, &[0x45, 0x0A, 0x15, 0x65, 0x66, 0x07]),
        (ErrorClass::RejectedDestination, &[0x0B, 0x50, 0x51]),
        (ErrorClass::RejectedMessage, &[0x01, 0x62, 0x61]),
        (ErrorClass::ProtocolError, &[0x02, 0x03, 0x43, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4]),
    ];
    for status in 0..=0xFFFF {
        let listed = table.iter().find(|(_, numbers)| numbers.contains(&status));
        let expect = listed.map_or(ErrorClass::Unknown, |(class, _)| *class);
        assert_eq!(ErrorClass::of_status(status), expect, "{status:#x}");
    }
}

#[test]
fn class_name_equals_its_serialized_form() {
    for class in ErrorClass::ALL {
        assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.as_str()));
    }
}

#[test]
fn full_queue_pauses_a_link_longer_than_throttling() {
    assert_eq!(ErrorClass::pause_of(0x58), THROTTLED_PAUSE);
    assert_eq!(ErrorClass::pause_of(0x14), QUEUE_FULL_PAUSE);
}

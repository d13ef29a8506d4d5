//! Unit tests of `published.rs`.

use super::*;
use std::collections::HashSet;

#[test]
fn every_code_is_listed_once_and_nothing_is_charged() {
    let codes: HashSet<&str> = PUBLISHED.iter().map(|row| row.code).collect();
    assert_eq!(codes.len(), PUBLISHED.len());
    for row in PUBLISHED {
        assert!(!row.charged, "{}", row.code);
        assert!((400..=599).contains(&row.http), "{}", row.code);
        assert!(row.meaning.ends_with('.') && row.what_to_do.ends_with('.'), "{}", row.code);
        assert_eq!(row.class == Class::Temporary, matches!(row.http, 429 | 500 | 503), "{}", row.code);
    }
}

#[test]
fn full_queue_and_internal_error_have_different_smpp_statuses() {
    let unavailable = |cause| Refusal::GatewayUnavailable { cause, retry_after_s: 1 }.smpp_status();
    assert_eq!(unavailable(Unavailable::QueueFull), 0x14);
    assert_eq!(unavailable(Unavailable::DiskLow), 0x14);
    assert_eq!(unavailable(Unavailable::StoreAway), 0x08);
    assert_eq!(Refusal::TrafficControl { retry_after_s: 900 }.smpp_status(), 0x14);
    assert_eq!(Refusal::TrafficControl { retry_after_s: 901 }.smpp_status(), 0x45);
    assert_eq!(Refusal::RecipientOptedOut.smpp_status(), 0x45);
    assert_eq!(Refusal::AccountSuspended.smpp_status(), 0x45);
    assert_eq!(Refusal::NoRoute.smpp_status(), 0x0B);
    assert_eq!(Refusal::DestinationBlocked.smpp_status(), 0x0B);
}

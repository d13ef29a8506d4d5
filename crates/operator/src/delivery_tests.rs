//! Unit tests of `delivery.rs`.

use super::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::time::Timestamp;

#[test]
fn unmatched_receipts_hint_names_the_missing_conversion() {
    let remote = |text: &str| RemoteId::from_text(text).unwrap();
    let receipt = |text: &str| ParkedReceipt {
        remote: remote(text),
        verdict: DeliveryOutcome::Delivered,
        err: 0,
        word: None,
        source: None,
        at: Timestamp::EPOCH,
        ambiguous: false,
    };
    let answers = ["1B", "1C"].map(|text| AssignedId { remote: remote(text), at: Timestamp::EPOCH });
    let hint = |ids, texts: &[&str]| {
        let parked: Vec<_> = texts.iter().map(|text| receipt(text)).collect();
        super::hint(ids, &parked, &answers)
    };
    assert_eq!(hint(IdConversion::None, &["27", "28", "99"]), Some((IdConversion::HexToDecimal, 2)));
    assert_eq!(hint(IdConversion::HexToDecimal, &["27"]), None);
    assert_eq!(hint(IdConversion::None, &["x"]), None);
}

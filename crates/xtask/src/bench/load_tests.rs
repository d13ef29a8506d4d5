//! Unit tests of `load.rs`.

use serde_json::json;

use super::*;

#[test]
fn errors_of_messages_receipts_and_binds_are_summed() {
    let (figures, errors) = of_smpp(&json!({
        "accepted": 10, "rejected": 1, "lost": 2, "binds_ended": { "timeout": 1 },
        "receipts": { "per_second": 5.5, "missing": 1, "states": { "DELIVRD": 9 } },
        "response": { "p50_us": 1500 },
    }));
    assert_eq!((figures.value(ACCEPTED), figures.value(REACHED), errors), (10.0, 5.5, 6.0));
    assert_eq!((figures.value(P50), figures.get(DLR_P50)), (1.5, Some(0.0)));
}

#[test]
fn rejected_and_failed_requests_are_errors() {
    let (figures, errors) = of_http(&json!({
        "per_second": 12.5, "answered": 10, "failed": 2, "unsent": 3, "statuses": { "202": 9, "429": 1 },
        "latency": { "p50_us": 100, "p99_us": 200, "p999_us": 300 },
    }));
    assert_eq!((figures.value(ACCEPTED), figures.value(UNSENT), errors), (9.0, 3.0, 3.0));
    assert_eq!([P50, P999, DLR_P50].map(|column| figures.get(column)), [Some(0.1), Some(0.3), None]);
}

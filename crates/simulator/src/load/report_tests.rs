//! Unit tests of `report.rs`.

use super::*;

fn ran(tally: &HttpTally) -> HttpLoadReport {
    let duration = Duration::from_secs(2);
    tally.report(HttpRunFacts { connections: 1, target_per_second: Some(50.0), duration, unsent: 4 })
}

#[test]
fn merged_tallies_are_sums() {
    let (mut one, mut other) = (HttpTally::new(), HttpTally::new());
    one.answered(202, Duration::from_millis(1), Duration::from_millis(1));
    other.answered(202, Duration::from_millis(9), Duration::from_millis(2));
    other.answered(429, Duration::from_millis(9), Duration::from_millis(2));
    other.failed(RequestFailure::Timeout);
    one.merge(&other);
    let report = ran(&one);
    assert_eq!((report.requests, report.answered, report.failed), (4, 3, 1));
    assert_eq!((report.count(202), report.count(429), report.count(500)), (2, 1, 0));
    assert_eq!(report.per_second, 1.5);
    assert!((8_990..=9_010).contains(&report.latency.max_us), "{:?}", report.latency);
    assert!((1_990..=2_010).contains(&report.service.max_us), "{:?}", report.service);
}

#[test]
fn report_survives_json() {
    let mut tally = HttpTally::new();
    tally.answered(202, Duration::from_micros(1234), Duration::from_micros(1234));
    tally.failed(RequestFailure::BadAnswer);
    let report = ran(&tally);
    let json = serde_json::to_string(&report).expect("a report is JSON");
    assert!(json.contains(r#""failures":{"bad_answer":1}"#), "{json}");
    assert_eq!(serde_json::from_str::<HttpLoadReport>(&json).expect("and back"), report);
}

#[test]
fn table_shows_unsent_messages_of_an_open_loop() {
    let table = ran(&HttpTally::new()).to_string();
    assert!(table.contains("open loop at 50 /s"), "{table}");
    assert!(table.contains("unsent                4"), "{table}");
}

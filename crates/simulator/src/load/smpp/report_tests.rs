//! Unit tests of `report.rs`.

use hermod_smpp::CommandStatus;

use std::time::Duration;

use super::super::tally::SmppTally;
use super::*;
use crate::runtime;

fn report() -> SmppLoadReport {
    let now = runtime::now();
    let mut tally = SmppTally::new(now);
    tally.sent(Some(now), now + Duration::from_micros(100));
    (0..3).for_each(|_| tally.sent(None, now));
    tally.bursts = 2;
    tally.accepted(Some(now), now + Duration::from_millis(2));
    tally.accepted(Some(now), now + Duration::from_secs(1));
    tally.rejected(CommandStatus::THROTTLED, now + Duration::from_secs(2));
    tally.report.lost = 1;
    tally.receipted(now, now + Duration::from_secs(3));
    tally.count_state(b"DELIVRD", now + Duration::from_secs(4));
    tally.count_state(b"UNDELIV", now + Duration::from_secs(4));
    tally.report.receipts.missing = 1;
    tally.ended("the connection was lost");
    let run = SmppRunFacts { binds: 2, window: 10, target_per_second: None };
    tally.finish(run, 0, Duration::from_micros(100))
}

#[test]
fn errors_are_summed() {
    let report = report();
    assert_eq!((report.accepted, report.rejected, report.errors()), (2, 1, 4));
    assert_eq!((report.per_second, report.receipts.per_second), (1.0, 0.25));
    assert_eq!(report.cpu_us_per_message, 25.0);
    assert_eq!((report.submitted, report.burst, report.lag.max_us), (4, 2.0, 100));
    let states = [("DELIVRD".to_owned(), 1), ("UNDELIV".to_owned(), 1)];
    assert_eq!(report.receipts.states, BTreeMap::from(states));
}

#[test]
fn report_survives_json_and_the_table_lists_each_error() {
    let report = report();
    let json = serde_json::to_string(&report).expect("a report is JSON");
    assert!(json.starts_with(r#"{"binds":2,"window":10,"#), "{json}");
    assert_eq!(serde_json::from_str::<SmppLoadReport>(&json).expect("and back"), report);
    let table = report.to_string();
    for line in [
        "full window, 2 binds, window 10, 2.00 s",
        "        1  rejected with ESME_RTHROTTLED (0x58)",
        "        1  lost with their bind",
        "        1  binds ended: the connection was lost",
    ] {
        assert!(table.contains(line), "{line} is not in\n{table}");
    }
    assert!(!table.contains("timed out"), "{table}");
}

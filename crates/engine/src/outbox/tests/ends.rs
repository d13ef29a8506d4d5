//! How reports end: accepted in time or late, given up in flight, overflowed, or not written yet.

use super::table::{DELIVERED, ONE, TWO, Table, UNKNOWN, report};
use crate::ops::{REPORTS_IN_MEMORY_MAX, ReportId, ReportOutcome};
use crate::outbox::PortNo;
use crate::outbox::{DEFERRED_IN_MEMORY_MAX, NextReports};
use hermod_domain::receipt::ReportStatus;

#[test]
fn report_given_up_in_flight_is_not_sent_again() {
    for how in [ReportOutcome::RetryLater, ReportOutcome::NotSent] {
        let mut table = Table::with_ports(&[ONE]);
        table.writes(1, ReportStatus::Enroute);
        table.writes(1, DELIVERED);
        assert_eq!(table.takes(ONE, 10), [1]);
        table.gives_up(1);
        table.settles(ONE, &[1], how);
        assert_eq!(table.takes(ONE, 10), [2], "what is behind it goes on");
        table.gives_up(2);
        table.closes(ONE, true);
        table.state.open(TWO);
        table.passes(100_000);
        assert!(table.takes(TWO, 10).is_empty(), "{how:?}");
    }
}

#[test]
fn report_that_a_bind_has_from_an_earlier_engine_is_sent_again_only_if_it_was_not_accepted() {
    let mut table = Table::with_ports(&[]);
    for message in 0..3 {
        table.writes(message, DELIVERED);
    }
    table.state.open(ONE);
    table.state.adopt(ONE, vec![report(1, 0, DELIVERED), report(2, 1, DELIVERED)]);
    table.state.open(TWO);
    assert_eq!(table.takes(TWO, 10), [3], "the bind has the others");
    table.settles(ONE, &[1], ReportOutcome::Accepted);
    table.settles(ONE, &[2], ReportOutcome::RetryLater);
    table.passes(100);
    assert_eq!(table.takes(TWO, 10), [2]);
}

#[test]
fn report_given_up_in_flight_can_still_be_accepted() {
    let mut table = Table::with_ports(&[ONE]);
    let id = table.writes(1, DELIVERED);
    assert_eq!(table.takes(ONE, 10), [id]);
    table.gives_up(id);
    let settled = table.state.settle(ONE, vec![(ReportId(id), ReportOutcome::Accepted)], table.now);
    assert_eq!(settled.accepted, [ReportId(id)], "so that it is not listed as given up");
}

#[test]
fn report_deleted_during_a_read_is_not_sent() {
    for is_given_up in [true, false] {
        let mut table = Table::with_ports(&[]);
        for message in 0..3 {
            table.writes(message, DELIVERED);
        }
        table.state.open(ONE);
        assert_eq!(table.takes(ONE, 1), [1]);
        table.closes(ONE, true);
        table.state.open(TWO);
        // The first is deferred. It is released into the tables while no port is open, and read again.
        table.closes(TWO, true);
        table.passes(30);
        table.state.open(ONE);
        let NextReports::Read(refill) = table.state.take(ONE, 10, 1_000, table.now) else { panic!("a read") };
        let rows = table.rows.clone();
        if is_given_up {
            table.gives_up(2);
        } else {
            table.state.supersede(ReportId(2));
            let superseded = table.state.take_superseded();
            table.ends(superseded);
        }
        assert!(!table.rows.contains_key(&ReportId(2)));
        let now = std::mem::replace(&mut table.rows, rows);
        table.reads(refill);
        table.rows = now;
        table.state.read_ended();
        assert_eq!(table.takes(ONE, 10), [1, 3]);
        table.settles(ONE, &[1, 3], ReportOutcome::Accepted);
        assert_eq!(table.state.in_memory(), 0, "nothing is kept in mind for nothing");
    }
}

#[test]
fn answered_report_is_not_sent_again_while_the_disk_is_full() {
    let mut table = Table::with_ports(&[ONE]);
    let reports = 3_000;
    for message in 0..reports {
        table.writes(message, DELIVERED);
    }
    table.is_full = true;
    let answered = table.takes(ONE, 2_500);
    table.settles(ONE, &answered, ReportOutcome::Accepted);
    let rest: Vec<u64> = (2_501..=3_000).collect();
    for port in [TWO, PortNo(3)] {
        table.closes(ONE, true);
        table.closes(TWO, true);
        table.state.open(port);
        assert_eq!(table.takes(port, 10_000), rest);
        table.settles(port, &rest, ReportOutcome::NotSent);
    }
    table.is_full = false;
    table.ends(vec![]);
    assert_eq!(table.takes(PortNo(3), 10_000), rest);
    table.settles(PortNo(3), &rest, ReportOutcome::Accepted);
    assert_eq!((table.rows.len(), table.state.in_memory()), (0, 0));
}

#[test]
fn unwritten_ends_use_memory_until_they_are_written() {
    let mut table = Table::with_ports(&[ONE]);
    table.is_full = true;
    let reports = u64::try_from(REPORTS_IN_MEMORY_MAX).unwrap() * 2;
    for message in 0..reports.cast_signed() {
        table.writes(message, DELIVERED);
    }
    let mut sent = 0;
    loop {
        let ids = table.takes(ONE, 100);
        if ids.is_empty() {
            break;
        }
        sent += ids.len();
        table.settles(ONE, &ids, ReportOutcome::Accepted);
    }
    assert_eq!(sent, REPORTS_IN_MEMORY_MAX);
    table.is_full = false;
    table.ends(vec![]);
    assert_eq!(table.takes(ONE, 1), [u64::try_from(sent).unwrap() + 1]);
}

#[test]
fn late_response_prevents_a_second_sending() {
    for (waits, late, is_done) in [
        (0, ReportOutcome::Accepted, true),
        (31, ReportOutcome::Accepted, true),
        (0, ReportOutcome::Refused(8), true),
        (0, ReportOutcome::RetryLater, false),
        (31, ReportOutcome::NotSent, false),
    ] {
        let mut table = Table::with_ports(&[ONE, TWO]);
        table.writes(1, DELIVERED);
        assert_eq!(table.takes(ONE, 1), [1]);
        table.settles(ONE, &[1], ReportOutcome::RetryLater);
        table.passes(waits);
        table.settles(TWO, &[1], late);
        assert_eq!(table.rows.len(), 1, "the second port does not have it");
        table.settles(ONE, &[1], late);
        assert_eq!(table.rows.is_empty(), is_done, "{late:?} after {waits} s");
        table.passes(31);
        assert_eq!(table.takes(TWO, 1).is_empty(), is_done, "{late:?} after {waits} s");
    }
}

#[test]
fn late_response_to_an_intermediate_report_releases_the_next_one() {
    let mut table = Table::with_ports(&[ONE]);
    table.writes(1, ReportStatus::Enroute);
    assert_eq!(table.takes(ONE, 1), [1]);
    table.settles(ONE, &[1], ReportOutcome::RetryLater);
    table.settles(ONE, &[1], ReportOutcome::Accepted);
    table.writes(1, DELIVERED);
    assert_eq!(table.takes(ONE, 1), [2]);
    assert!(!table.rows.contains_key(&ReportId(1)));
}

#[test]
fn customer_that_defers_everything_still_gets_new_reports() {
    let mut table = Table::with_ports(&[ONE]);
    let stuck = 6_000;
    for message in 0..stuck {
        table.writes(message, DELIVERED);
    }
    loop {
        let ids = table.takes(ONE, 100);
        if ids.is_empty() {
            break;
        }
        table.settles(ONE, &ids, ReportOutcome::RetryLater);
    }
    assert_eq!(table.state.in_memory(), DEFERRED_IN_MEMORY_MAX);
    let fresh = table.writes(stuck, DELIVERED);
    assert_eq!(table.takes(ONE, 100), [fresh]);
    table.settles(ONE, &[fresh], ReportOutcome::Accepted);
    // All others are sent again in time, in memory or not, and new reports always come first.
    let mut sent = 0;
    for round in 0..200 {
        table.passes(31);
        let fresh = table.writes(stuck + 1 + round, DELIVERED);
        let mut seen = false;
        loop {
            let ids = table.takes(ONE, 100);
            if ids.is_empty() {
                break;
            }
            seen |= ids.contains(&fresh);
            sent += ids.len();
            table.settles(ONE, &ids, ReportOutcome::Accepted);
        }
        assert!(seen, "round {round}");
    }
    assert_eq!((sent, table.rows.len()), (6_200, 0));
    assert_eq!(table.state.in_memory(), 0);
}

#[test]
fn overflowed_intermediate_report_is_dropped_after_the_final_one() {
    let mut table = Table::with_ports(&[ONE]);
    let filled = i64::try_from(DEFERRED_IN_MEMORY_MAX).unwrap();
    for message in 0..filled {
        table.writes(message, DELIVERED);
    }
    let notices = [table.writes(filled, ReportStatus::Enroute), table.writes(filled + 1, UNKNOWN)];
    let alone = table.writes(filled + 2, ReportStatus::Enroute);
    loop {
        let ids = table.takes(ONE, 100);
        if ids.is_empty() {
            break;
        }
        table.settles(ONE, &ids, ReportOutcome::RetryLater);
    }
    let ends = [table.writes(filled, DELIVERED), table.writes(filled + 1, DELIVERED)];
    assert_eq!(table.takes(ONE, 100), ends);
    table.settles(ONE, &ends, ReportOutcome::Accepted);
    let mut sent = Vec::new();
    for _ in 0..40 {
        table.passes(31);
        let ids = table.takes(ONE, 10_000);
        table.settles(ONE, &ids, ReportOutcome::Accepted);
        sent.extend(ids);
    }
    assert!(sent.contains(&alone) && notices.iter().all(|notice| !sent.contains(notice)), "{sent:?}");
    assert!(table.rows.is_empty());
}

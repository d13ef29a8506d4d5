//! The rules of an outbox, with a map in place of the tables.

mod ends;
mod table;

use super::PortNo;
use super::{NextReports, Outbox};
use crate::ops::{REPORTS_IN_MEMORY_MAX, ReportId, ReportOutcome};
use hermod_domain::ids::MessageId;
use hermod_domain::receipt::ReportStatus;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use table::{DELIVERED, ONE, TWO, Table, UNKNOWN};

#[test]
fn reports_are_sent_in_order_to_the_waiting_port_with_the_fewest_in_flight() {
    let mut table = Table::with_ports(&[ONE, TWO]);
    for message in 0..4 {
        table.writes(message, DELIVERED);
    }
    assert_eq!(table.takes(ONE, 3), [1, 2, 3], "no other port waits");
    assert_eq!(table.takes(TWO, 3), [4]);
    assert!(table.takes(ONE, 3).is_empty() && table.takes(TWO, 3).is_empty());
    table.writes(9, DELIVERED);
    assert_eq!(table.state.next_to_wake(), Some(TWO));
    table.settles(ONE, &[1, 2, 3], ReportOutcome::Accepted);
    assert_eq!(table.state.next_to_wake(), Some(ONE), "now the first has less to do");
    for message in 10..15 {
        table.writes(message, DELIVERED);
    }
    assert_eq!(table.takes(ONE, 100), [5, 6, 7], "the other one waits for its share");
    assert_eq!(table.takes(TWO, 100), [8, 9, 10]);
}

#[test]
fn later_report_waits_for_an_earlier_one_of_its_message_in_flight() {
    for (delivery, then) in [
        (ReportOutcome::Accepted, vec![2]),
        (ReportOutcome::Refused(8), vec![2]),
        (ReportOutcome::NotSent, vec![1]),
        // A later report supersedes one that was not accepted.
        (ReportOutcome::RetryLater, vec![2]),
    ] {
        for first in [ReportStatus::Enroute, ReportStatus::Accepted, UNKNOWN] {
            let mut table = Table::with_ports(&[ONE, TWO]);
            table.writes(1, first);
            table.writes(1, DELIVERED);
            table.writes(2, DELIVERED);
            assert_eq!(table.takes(ONE, 10), [1, 3]);
            assert!(table.takes(TWO, 10).is_empty());
            table.settles(ONE, &[1], delivery);
            assert_eq!(table.takes(TWO, 10), then, "{first:?} {delivery:?}");
        }
    }
}

#[test]
fn deferred_report_is_superseded_by_a_later_one_of_its_message() {
    let mut table = Table::with_ports(&[ONE]);
    table.writes(1, ReportStatus::Enroute);
    let first = table.takes(ONE, 1);
    table.settles(ONE, &first, ReportOutcome::RetryLater);
    let last = table.writes(1, DELIVERED);
    assert_eq!(table.takes(ONE, 1), [last]);
    table.settles(ONE, &[last], ReportOutcome::Accepted);
    assert!(table.rows.is_empty(), "both are done with");
    table.passes(100_000);
    assert!(table.takes(ONE, 1).is_empty());
}

#[test]
fn deferred_report_is_sent_again_on_the_schedule() {
    let mut table = Table::with_ports(&[ONE]);
    table.writes(1, DELIVERED);
    for wait in [30, 60, 300, 900, 3_600, 3_600] {
        let id = table.takes(ONE, 1);
        assert_eq!(id, [1]);
        table.settles(ONE, &id, ReportOutcome::RetryLater);
        table.passes(wait - 1);
        assert!(table.takes(ONE, 1).is_empty(), "not before {wait} s");
        table.passes(1);
    }
    assert_eq!(table.takes(ONE, 1), [1]);
}

#[test]
fn only_the_port_that_has_a_report_can_finish_it() {
    let mut table = Table::with_ports(&[ONE, TWO]);
    table.writes(1, DELIVERED);
    assert_eq!(table.takes(ONE, 1), [1]);
    table.settles(TWO, &[1, 77], ReportOutcome::Accepted);
    assert_eq!(table.rows.len(), 1);
    table.settles(ONE, &[1], ReportOutcome::Accepted);
    table.settles(ONE, &[1], ReportOutcome::Accepted);
    assert!(table.rows.is_empty());
}

#[test]
fn closed_port_returns_its_reports_after_a_wait_and_frees_memory() {
    let mut table = Table::with_ports(&[ONE]);
    for message in 0..100 {
        table.writes(message, DELIVERED);
    }
    assert_eq!(table.takes(ONE, 2), [1, 2]);
    table.settles(ONE, &[2], ReportOutcome::NotSent);
    table.state.close(ONE, table.now);
    assert_eq!(table.state.in_memory(), 1, "only what waits for its time");
    table.writes(100, DELIVERED);
    table.state.open(TWO);
    assert_eq!(table.takes(TWO, 3), [2, 3, 4]);
    table.passes(30);
    assert_eq!(table.takes(TWO, 3), [1, 5, 6]);
    table.state.close(TWO, table.now);
    assert!(!table.state.is_idle());
    table.passes(60);
    assert!(table.state.is_idle(), "what is due is in the tables");
    table.state.open(ONE);
    assert_eq!(table.takes(ONE, 200), (1..=101).collect::<Vec<_>>());
}

#[test]
fn reports_beyond_memory_are_read_back_in_order() {
    let mut table = Table::with_ports(&[ONE]);
    let reports = u64::try_from(REPORTS_IN_MEMORY_MAX).unwrap() * 3;
    for message in 0..reports.cast_signed() {
        table.writes(message, DELIVERED);
    }
    assert_eq!(table.state.in_memory(), REPORTS_IN_MEMORY_MAX);
    let mut sent = Vec::new();
    while sent.len() < usize::try_from(reports).unwrap() {
        let ids = table.takes(ONE, 100);
        table.settles(ONE, &ids, ReportOutcome::Accepted);
        sent.extend(ids);
    }
    assert_eq!(sent, (1..=reports).collect::<Vec<_>>());
    // From here on no read is needed.
    let id = table.writes(0, DELIVERED);
    assert!(
        matches!(table.state.take(ONE, 1, 0, table.now), NextReports::Reports(reports) if reports[0].id.0 == id)
    );
}

#[test]
fn report_written_during_a_read_is_read_after_the_short_page() {
    let mut table = Table::with_ports(&[]);
    table.writes(0, DELIVERED);
    table.state.open(ONE);
    let NextReports::Read(refill) = table.state.take(ONE, 10, 1_000, table.now) else { panic!("a read") };
    assert_eq!(refill.until, ReportId(1), "what the read must have seen");
    let snapshot = table.rows.clone();
    let later = table.writes(1, DELIVERED);
    let rows = std::mem::replace(&mut table.rows, snapshot);
    table.reads(refill);
    table.rows = rows;
    table.state.read_ended();
    assert_eq!(table.takes(ONE, 10), [1]);
    assert_eq!(table.takes(ONE, 10), [later], "the short page was not the end");
}

#[test]
fn failed_read_is_retried_only_after_read_again() {
    let mut table = Table::with_ports(&[]);
    table.state = Outbox::with_rows_up_to(ReportId(5));
    table.state.open(ONE);
    assert!(matches!(table.state.take(ONE, 1, 0, table.now), NextReports::Read(_)));
    table.state.read_failed();
    assert!(matches!(table.state.take(ONE, 1, 0, table.now), NextReports::Nothing));
    assert!(table.state.next_to_wake().is_none());
    table.state.read_again();
    assert!(table.state.next_to_wake().is_some());
}

#[derive(Clone, Debug)]
enum Happens {
    Written(i64),
    Taken(bool, usize),
    Settled(bool, ReportOutcome, usize),
    Opened(bool),
    Closed(bool),
    Passes(u64),
    GivenUp,
    DiskFull(bool),
}

fn happens() -> impl Strategy<Value = Happens> {
    let delivery = prop_oneof![
        4 => Just(ReportOutcome::Accepted),
        2 => Just(ReportOutcome::RetryLater),
        1 => Just(ReportOutcome::Refused(8)),
        1 => Just(ReportOutcome::NotSent),
    ];
    prop_oneof![
        8 => (0..6_i64).prop_map(Happens::Written),
        6 => (any::<bool>(), 1..5_usize).prop_map(|(port, most)| Happens::Taken(port, most)),
        6 => (any::<bool>(), delivery, 1..4_usize).prop_map(|(port, how, most)| Happens::Settled(port, how, most)),
        2 => any::<bool>().prop_map(Happens::Opened),
        1 => any::<bool>().prop_map(Happens::Closed),
        1 => any::<bool>().prop_map(Happens::DiskFull),
        2 => prop_oneof![Just(10), Just(31), Just(4_000)].prop_map(Happens::Passes),
        1 => Just(Happens::GivenUp),
    ]
}

/// A bind; each one opens under a new port number.
struct Bind {
    port: Option<PortNo>,
    holds: Vec<u64>,
}

proptest! {
    #[test]
    fn no_report_is_lost_and_each_message_has_at_most_one_in_flight(
        story in prop::collection::vec(happens(), 1..120)
    ) {
        let mut table = Table::with_ports(&[]);
        let mut binds = [Bind { port: None, holds: vec![] }, Bind { port: None, holds: vec![] }];
        let (mut ports, mut notices, mut given_up) = (0, HashSet::new(), HashSet::new());
        let mut all = BTreeMap::new();
        for step in story {
            match step {
                Happens::Written(message) => {
                    // An intermediate report, UNKNOWN, the final one; then the next message.
                    let round = (0..).find(|round| !notices.contains(&(message, *round))).unwrap();
                    notices.insert((message, round));
                    let sent = [ReportStatus::Enroute, UNKNOWN, DELIVERED][round % 3];
                    let message = message + 10 * i64::try_from(round / 3).unwrap();
                    all.insert(table.writes(message, sent), message);
                }
                Happens::Taken(second, most) => {
                    let bind = &mut binds[usize::from(second)];
                    if let Some(port) = bind.port {
                        let taken = table.takes(port, most);
                        prop_assert!(taken.iter().all(|id| !given_up.contains(id)), "what was given up comes back");
                        bind.holds.extend(taken);
                    }
                }
                Happens::Settled(second, delivery, most) => {
                    let bind = &mut binds[usize::from(second)];
                    if let Some(port) = bind.port {
                        let ids: Vec<u64> = bind.holds.drain(..most.min(bind.holds.len())).collect();
                        table.settles(port, &ids, delivery);
                    }
                }
                Happens::Opened(second) => {
                    let bind = &mut binds[usize::from(second)];
                    if bind.port.is_none() {
                        ports += 1;
                        table.state.open(PortNo(ports));
                        bind.port = Some(PortNo(ports));
                    }
                }
                Happens::Closed(second) => {
                    let bind = &mut binds[usize::from(second)];
                    if let Some(port) = bind.port.take() {
                        bind.holds.clear();
                        table.closes(port, second);
                    }
                }
                Happens::Passes(seconds) => table.passes(seconds),
                Happens::DiskFull(is_full) => {
                    table.is_full = is_full;
                    table.ends(vec![]);
                }
                Happens::GivenUp => {
                    if let Some(id) = table.rows.keys().next().copied() {
                        given_up.insert(id.0);
                        table.gives_up(id.0);
                    }
                }
            }
            let out: Vec<u64> = binds.iter().flat_map(|bind| bind.holds.clone()).collect();
            let messages: HashSet<_> = out.iter().map(|id| all[id]).collect();
            prop_assert_eq!(messages.len(), out.len(), "one thing at a time");
            prop_assert!(table.answered.iter().all(|id| !out.contains(&id.0)), "not what was answered");
        }
        table.is_full = false;
        table.ends(vec![]);
        finish(&mut table, &binds)?;
    }
}

/// Closes all binds, opens one that takes everything, and checks that nothing is left and each message is in order.
fn finish(table: &mut Table, binds: &[Bind]) -> Result<(), TestCaseError> {
    binds.iter().filter_map(|bind| bind.port).for_each(|port| table.closes(port, true));
    let last = PortNo(u64::MAX);
    table.state.open(last);
    let mut sent: BTreeMap<MessageId, u64> = BTreeMap::new();
    for _ in 0..10 {
        table.passes(4_000);
        loop {
            let ids = table.takes(last, 3);
            if ids.is_empty() {
                break;
            }
            for id in &ids {
                let message = table.rows[&ReportId(*id)].message;
                prop_assert!(sent.insert(message, *id).is_none_or(|before| before < *id), "in order");
            }
            table.settles(last, &ids, ReportOutcome::Accepted);
        }
    }
    prop_assert!(table.rows.is_empty(), "left over: {:?}", table.rows.keys());
    prop_assert_eq!(table.state.in_memory(), 0);
    Ok(())
}

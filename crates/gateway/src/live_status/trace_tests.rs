//! Unit tests of `trace.rs`.

use super::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

#[test]
fn trace_keeps_lines_while_enabled_and_reads_after_a_number() {
    let trace = Trace::default();
    let note = |line: &str, ms| trace.note(1, PduDirection::Out, line.to_owned(), at(ms));
    note("not enabled", 1);
    assert!(!trace.is_on() && trace.read(0).is_empty());
    trace.enable(at(100));
    note("one", 2);
    note("two", 3);
    assert_eq!(trace.read(0).len(), 2);
    let last = trace.read(1);
    assert_eq!((last[0].seq, last[0].line.as_str()), (2, "two"));
    assert_eq!(trace.read(2), []);
    note("too late", 100);
    assert!(!trace.is_on());
    assert_eq!((trace.until(), trace.read(0).len()), (None, 2));
    let an_hour = 3_600_000;
    assert!(!trace.expire(at(2 + an_hour)) && trace.read(0).len() == 2);
    assert!(trace.expire(at(3 + an_hour)) && trace.read(0).is_empty(), "old lines are deleted");
}

#[test]
fn nodes_send_each_other_their_lines_once() {
    let [here, there] = [(); 2].map(|()| Trace::default());
    [&here, &there].into_iter().for_each(|trace| trace.enable(at(100)));
    here.note(1, PduDirection::In, "one".to_owned(), at(1));
    there.note(1, PduDirection::In, "two".to_owned(), at(2));
    here.note(1, PduDirection::In, "three".to_owned(), at(3));
    here.note_elsewhere("b", there.take_new());
    let lines: Vec<_> = here.read(0).into_iter().map(|line| (line.seq, line.node, line.line)).collect();
    let expected = [(1, None, "one"), (3, Some("b"), "two"), (2, None, "three")];
    assert_eq!(lines, expected.map(|(seq, node, line)| (seq, node.map(str::to_owned), line.to_owned())));
    assert_eq!(here.take_new().len(), 2, "what came from another node is not sent");
    assert_eq!((here.take_new(), there.take_new()), (vec![], vec![]));
}

#[test]
fn trace_keeps_at_most_its_limit_of_lines() {
    let trace = Trace::default();
    trace.enable(at(i64::MAX));
    for _ in 0..TRACE_LINES_MAX + 5 {
        trace.note(1, PduDirection::In, "enquire_link".to_owned(), at(1));
    }
    let lines = trace.read(0);
    assert_eq!((lines.len(), lines[0].seq), (TRACE_LINES_MAX, 6));
    let (newest, kept) = trace.newest(2);
    assert_eq!((newest[0].seq, newest.len(), kept), (TRACE_LINES_MAX as u64 + 5, 2, TRACE_LINES_MAX));
}

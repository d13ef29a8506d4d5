//! Unit tests of `move_reports.rs`.

use super::*;

#[test]
fn connections_take_turns_after_the_last_one() {
    let mover = ReportMover::default();
    let of = |numbers: &[u32]| numbers.iter().copied().map(ConnectionId::new).collect::<Vec<_>>();
    assert_eq!(mover.in_turn(of(&[5, 1, 3])), of(&[1, 3, 5]));
    for (last, expect) in [(1, [3, 5, 1]), (3, [5, 1, 3]), (4, [5, 1, 3]), (5, [1, 3, 5]), (9, [1, 3, 5])] {
        mover.set_last(ConnectionId::new(last));
        assert_eq!(mover.in_turn(of(&[5, 1, 3])), of(&expect), "after {last}");
    }
    assert_eq!(mover.in_turn(Vec::new()), []);
}

#[test]
fn scan_is_due_after_the_clock_was_set_back() {
    let at = Timestamp::from_millis;
    let mover = ReportMover::default();
    assert!(mover.is_time(at(0)));
    mover.schedule_scan(at(50_000));
    for (now, expect) in [(49_999, false), (49_000, false), (50_000, true), (48_999, true), (0, true)] {
        assert_eq!(mover.is_time(at(now)), expect, "at {now}");
    }
}

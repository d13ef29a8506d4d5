//! Unit tests of `schedule.rs`.

use super::*;
use crate::runtime::now;

fn schedule(pace: SendPace, bound: Bound) -> (SendSchedule, Instant) {
    let started = now();
    (SendSchedule::new(pace, bound, started, Duration::from_secs(1)), started)
}

#[test]
fn run_without_a_limit_is_rejected() {
    assert_eq!(Bound::new(None, None), Err(BoundRefusal::Endless));
}

#[test]
fn closed_loop_ends_after_its_count() {
    let (schedule, started) = schedule(SendPace::ClosedLoop, Bound::requests(3));
    let positions: Vec<u64> = (0..5).filter_map(|_| schedule.take(started)).map(|a| a.position).collect();
    assert_eq!(positions, [0, 1, 2]);
    assert_eq!(schedule.unsent(), 0);
}

#[test]
fn closed_loop_ends_at_its_deadline() {
    let (schedule, started) = schedule(SendPace::ClosedLoop, Bound::duration(Duration::from_secs(2)));
    assert!(schedule.take(started + Duration::from_millis(1999)).is_some());
    assert_eq!(schedule.take(started + Duration::from_secs(2)), None);
}

#[test]
fn open_loop_spaces_its_messages_evenly() {
    let (schedule, started) = schedule(SendPace::OpenLoop { per_second: 4.0 }, Bound::requests(100));
    let dues: Vec<u128> = (0..4)
        .filter_map(|_| schedule.take(started))
        .map(|a| (a.due.expect("an open loop has due times") - started).as_millis())
        .collect();
    assert_eq!(dues, [0, 250, 500, 750]);
}

#[test]
fn open_loop_sends_late_messages_until_the_overrun_limit() {
    let bound = Bound::duration(Duration::from_secs(1));
    let (schedule, started) = schedule(SendPace::OpenLoop { per_second: 10.0 }, bound);
    for _ in 0..7 {
        assert!(schedule.take(started + Duration::from_millis(1500)).is_some());
    }
    assert_eq!(schedule.take(started + Duration::from_secs(2)), None);
    assert_eq!(schedule.unsent(), 3);
}

#[test]
fn stopped_run_has_no_more_messages_and_none_unsent() {
    let (schedule, started) = schedule(SendPace::OpenLoop { per_second: 10.0 }, Bound::requests(10));
    schedule.stop();
    assert_eq!(schedule.take(started), None);
    assert_eq!(schedule.unsent(), 0);
}

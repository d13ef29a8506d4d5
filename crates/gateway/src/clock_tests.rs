//! Unit tests of `clock.rs`.

use super::*;

#[test]
fn real_clock_starts_at_the_machine_time_and_keeps_pace() {
    let clock = Clock::real();
    for _ in 0..3 {
        let apart = clock.now().as_millis() - clock.machine_time().as_millis();
        assert!(apart.abs() < 500, "{apart} ms");
        assert_eq!(clock.observe(), ClockObservation::InStep);
    }
    let (before, other) = (clock.now(), clock.clone());
    assert!(other.now() >= before, "clones share one count");
}

#[test]
fn manual_clock_advances_and_its_machine_time_can_jump() {
    let start = Timestamp::from_millis(1_794_700_800_000);
    let (clock, hour) = (Clock::manual(start), Duration::from_secs(3_600));
    clock.advance(hour);
    assert_eq!((clock.now(), clock.observe()), (start.plus(hour), ClockObservation::InStep));
    clock.set_wall(start.plus(3 * hour));
    assert_eq!(clock.now(), start.plus(hour));
    assert_eq!(clock.observe(), ClockObservation::Jumped { ahead_ms: 7_200_000 });
    clock.advance(10 * Duration::from_secs(1));
    assert_eq!(clock.now(), start.plus(hour + Duration::from_secs(11)));
    assert_eq!(clock.machine_time(), start.plus(3 * hour + Duration::from_secs(10)));
}

//! Unit tests of `timeouts.rs`.

use super::*;
use hermod_domain::time::Timestamp;

const LIMITS: HttpLimits = HttpLimits {
    connections_max: 1,
    per_address_max: 1,
    half_open_max: 1,
    handshake_max: Duration::from_secs(10),
    header_read_max: Duration::from_secs(10),
    body_read_max: Duration::from_secs(30),
    idle_max: Duration::from_secs(75),
    drain_max: Duration::from_secs(5),
};

/// Enters a stage at second 100 and returns the action at `second`.
fn action(stage: Stage, second: u64) -> String {
    let clock = Clock::manual(Timestamp::from_millis(0));
    clock.advance(Duration::from_secs(100));
    let timeouts = ConnectionTimeouts::new(clock);
    timeouts.enter(stage);
    match timeouts.check(&LIMITS, Moment(second * 1000)) {
        TimeoutAction::CheckAgain(at) => format!("again at {}", at.0 / 1000),
        TimeoutAction::GiveUpOnBody(at) => format!("give up on body, again at {}", at.0 / 1000),
        TimeoutAction::Close => "close".to_owned(),
    }
}

#[test]
fn each_stage_has_its_own_timeout() {
    assert_eq!(action(Stage::Head, 109), "again at 110");
    assert_eq!(action(Stage::Head, 110), "close");
    assert_eq!(action(Stage::Body, 125), "again at 130");
    assert_eq!(action(Stage::Body, 130), "give up on body, again at 140");
    assert_eq!(action(Stage::Overdue, 110), "close");
    assert_eq!(action(Stage::Idle, 174), "again at 175");
    assert_eq!(action(Stage::Idle, 175), "close");
    assert_eq!(action(Stage::Serving, 99_999), "again at 100009");
}

#[test]
fn next_check_is_never_later_than_the_shortest_timeout() {
    assert_eq!(action(Stage::Idle, 100), "again at 110");
    assert_eq!(action(Stage::Body, 100), "again at 110");
}

#[test]
fn bytes_begin_a_request_only_on_an_idle_connection() {
    let timeouts = ConnectionTimeouts::new(Clock::manual(Timestamp::from_millis(0)));
    for (before, after) in [
        (Stage::Idle, Stage::Head),
        (Stage::Head, Stage::Head),
        (Stage::Body, Stage::Body),
        (Stage::Serving, Stage::Serving),
        (Stage::Overdue, Stage::Overdue),
    ] {
        timeouts.enter(before);
        timeouts.on_bytes();
        assert_eq!(timeouts.now().0, after);
    }
}

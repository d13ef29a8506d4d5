//! Unit tests of `backoff.rs`.

use super::*;

fn lost_after(seconds: u64) -> Ended {
    let bound_for = Duration::from_secs(seconds);
    Ended::Closed { reason: CloseReason::ConnectionLost, bound_for, answered: false }
}

#[test]
fn waits_grow_to_a_minute_and_reset_after_a_link_that_stayed_bound() {
    let mut reconnect = ReconnectBackoff::default();
    let most = |reconnect: &mut ReconnectBackoff, ended| reconnect.wait_after(&ended, u32::MAX).as_secs();
    let waits: Vec<u64> = (0..9).map(|_| most(&mut reconnect, lost_after(1))).collect();
    assert!(waits.is_sorted(), "{waits:?}");
    assert!(waits[0] <= 1 && waits[8] >= 59 && waits[8] <= 60, "{waits:?}");
    assert!(most(&mut reconnect, lost_after(61)) <= 1);
}

#[test]
fn session_that_answered_a_submit_resets_the_wait() {
    let mut reconnect = ReconnectBackoff::default();
    let bound_for = Duration::from_secs(2);
    for _ in 0..20 {
        let ended = Ended::Closed { reason: CloseReason::ConnectionLost, bound_for, answered: true };
        assert!(reconnect.wait_after(&ended, u32::MAX).as_secs() <= 1);
    }
    (0..8).for_each(|_| assert!(!reconnect.wait_after(&lost_after(1), u32::MAX).is_zero()));
    let ended = Ended::WriteTimeout { bound_for, answered: true };
    assert!(reconnect.wait_after(&lost_after(1), u32::MAX).as_secs() >= 59);
    assert!(reconnect.wait_after(&ended, u32::MAX).as_secs() <= 1);
}

#[test]
fn binds_start_a_second_apart() {
    let turns = BindTurns::default();
    let at = |ms| turns.take(Moment(ms)).0;
    assert_eq!([at(500), at(500), at(700), at(2_600), at(9_000)], [500, 1_500, 2_500, 3_500, 9_000]);
}

#[test]
fn bind_rejection_that_needs_the_operator_raises_an_alarm() {
    let refused = |status| Ended::BindRefused(status).alarm();
    for status in [CommandStatus::INVPASWD, CommandStatus::INVSYSID, CommandStatus::INVSYSTYP] {
        assert_eq!(refused(status), Some(AlarmKind::BindRefused), "{status}");
    }
    assert_eq!(refused(CommandStatus::ALYBND), Some(AlarmKind::AlreadyBound));
    assert_eq!(refused(CommandStatus::BINDFAIL), None, "it is temporary");
    assert_eq!(lost_after(1).alarm(), None);
}

#[test]
fn rejected_credentials_wait_five_minutes_and_already_bound_65_seconds() {
    let mut reconnect = ReconnectBackoff::default();
    let mut check = |status, seconds| {
        assert_eq!(reconnect.wait_after(&Ended::BindRefused(status), 0).as_secs(), seconds, "{status}");
    };
    check(CommandStatus::INVPASWD, 300);
    check(CommandStatus::INVSYSID, 300);
    check(CommandStatus::INVSYSTYP, 300);
    check(CommandStatus::ALYBND, 65);
}

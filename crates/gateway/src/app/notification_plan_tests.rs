//! Unit tests of `notification_plan.rs`.

use super::*;
use crate::live_status::{AlarmKind, Alarms};
use hermod_domain::time::Timestamp;

const QUIET: Duration = Duration::from_secs(900);

fn minute(minutes: u64) -> Moment {
    Moment(minutes * 60_000)
}

fn told(plan: &mut NotificationPlan, alarms: &Alarms, minutes: u64) -> Vec<String> {
    let planned = plan.next(&alarms.list(), minute(minutes)).into_iter();
    let shown = planned.map(|planned| match planned {
        PlannedNotification::Raised(alarm) => format!("raised {} {}", alarm.carrier, alarm.kind.as_str()),
        PlannedNotification::Over(alarm) => {
            format!("over {} {}: {}", alarm.carrier, alarm.kind.as_str(), alarm.detail)
        }
    });
    shown.collect()
}

fn raise(alarms: &Alarms, kind: AlarmKind, carrier: &str, detail: &str) {
    alarms.raise(kind, carrier, "", detail, Timestamp::from_millis(1));
}

#[test]
fn alarm_is_told_once_when_raised_and_once_when_over() {
    let (mut plan, alarms) = (NotificationPlan::new(Severity::Notice, QUIET), Alarms::default());
    assert!(told(&mut plan, &alarms, 0).is_empty());
    raise(&alarms, AlarmKind::CarrierDown, "acme", "first");
    assert_eq!(told(&mut plan, &alarms, 1), ["raised acme carrier-down"]);
    raise(&alarms, AlarmKind::CarrierDown, "acme", "latest");
    assert!(told(&mut plan, &alarms, 2).is_empty());
    assert!(told(&mut plan, &alarms, 60).is_empty(), "it persists");
    raise(&alarms, AlarmKind::CarrierDown, "beta", "another");
    assert_eq!(told(&mut plan, &alarms, 61), ["raised beta carrier-down"]);
    alarms.clear(AlarmKind::CarrierDown, "acme");
    assert_eq!(told(&mut plan, &alarms, 62), ["over acme carrier-down: latest"]);
    assert!(told(&mut plan, &alarms, 63).is_empty());
}

#[test]
fn alarm_that_comes_and_goes_is_told_once_per_quiet_time() {
    let (mut plan, alarms) = (NotificationPlan::new(Severity::Notice, QUIET), Alarms::default());
    let down = AlarmKind::CarrierDown;
    for (minutes, is_raised, expect) in [
        (0, true, &["raised acme carrier-down"][..]),
        (1, false, &["over acme carrier-down: x"]),
        (2, true, &[]),
        (3, false, &[]),
        (14, true, &[]),
        // It is still raised when the quiet time is over.
        (15, true, &["raised acme carrier-down"]),
        (16, false, &["over acme carrier-down: x"]),
        (31, true, &["raised acme carrier-down"]),
    ] {
        match is_raised {
            true => raise(&alarms, down, "acme", "x"),
            false => alarms.clear(down, "acme"),
        }
        assert_eq!(told(&mut plan, &alarms, minutes), expect, "minute {minutes}");
    }
}

#[test]
fn only_alarms_of_the_least_severity_and_above_are_told() {
    let alarms = Alarms::default();
    raise(&alarms, AlarmKind::CarrierDown, "acme", "");
    raise(&alarms, AlarmKind::QueueAge, "acme", "");
    raise(&alarms, AlarmKind::ReviewsOpen, "", "");
    for (least, expect) in [(Severity::Notice, 3), (Severity::Warning, 2), (Severity::Critical, 1)] {
        let mut plan = NotificationPlan::new(least, QUIET);
        assert_eq!(told(&mut plan, &alarms, 0).len(), expect, "{least:?}");
        alarms.clear(AlarmKind::QueueExpiring, "acme");
        assert!(told(&mut plan, &alarms, 1).is_empty());
    }
}

#[test]
fn acknowledged_alarm_is_over_and_raised_again_after_the_quiet_time() {
    let (mut plan, alarms) = (NotificationPlan::new(Severity::Notice, QUIET), Alarms::default());
    raise(&alarms, AlarmKind::DiskLow, "", "x");
    assert_eq!(told(&mut plan, &alarms, 0), ["raised  disk-low"]);
    alarms.acknowledge(None);
    assert_eq!(told(&mut plan, &alarms, 1), ["over  disk-low: x"]);
    raise(&alarms, AlarmKind::DiskLow, "", "x");
    assert!(told(&mut plan, &alarms, 2).is_empty());
    assert_eq!(told(&mut plan, &alarms, 15), ["raised  disk-low"]);
}

#[test]
fn notifications_of_one_check_and_known_alarms_are_bounded() {
    let (mut plan, alarms) = (NotificationPlan::new(Severity::Notice, QUIET), Alarms::default());
    raise(&alarms, AlarmKind::CarrierDown, "acme", "");
    let one = alarms.list().remove(0);
    let many: Vec<Alarm> =
        (0..=TOLD_MAX).map(|number| Alarm { carrier: number.to_string(), ..one.clone() }).collect();
    for raised in [&many[..], &[]] {
        let mut told = 0;
        for _ in 0..=TOLD_MAX / TOLD_AT_ONCE_MAX {
            let planned = plan.next(raised, minute(1)).len();
            assert!(planned <= TOLD_AT_ONCE_MAX, "{planned}");
            told += planned;
        }
        assert_eq!(told, many.len(), "each is told, and told to be over");
    }
    assert!(plan.told.len() <= TOLD_MAX);
}

#[test]
fn most_urgent_alarms_are_told_first() {
    let (mut plan, alarms) = (NotificationPlan::new(Severity::Notice, QUIET), Alarms::default());
    raise(&alarms, AlarmKind::ReviewsOpen, "", "");
    raise(&alarms, AlarmKind::DiskLow, "", "");
    let planned = plan.next(&alarms.list(), minute(0));
    let severities: Vec<Severity> = planned
        .iter()
        .map(|planned| match planned {
            PlannedNotification::Raised(alarm) | PlannedNotification::Over(alarm) => alarm.severity(),
        })
        .collect();
    assert_eq!(severities, [Severity::Critical, Severity::Notice]);
}

//! Decides which notifications about alarms are sent: one when an alarm is raised and one when it is over, and others about the
//! same alarm only after a quiet time. It compares the raised alarms with the notifications, so that none is lost between
//! two checks.

use crate::clock::Moment;
use crate::live_status::{Alarm, AlarmKey, Severity};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Alarms of which it is known when they were told. Beyond that, those that are over are forgotten and may be told again early.
const TOLD_MAX: usize = 5_000;

/// Notifications of one check. The others are made at the next one, the most urgent first.
const TOLD_AT_ONCE_MAX: usize = 20;

/// What to tell about an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedNotification {
    Raised(Alarm),
    /// As it was when it was last raised.
    Over(Alarm),
}

/// An alarm of which there was a notification.
struct Told {
    alarm: Alarm,
    at: Moment,
    /// There was also a notification of its end.
    is_over: bool,
}

pub struct NotificationPlan {
    least: Severity,
    quiet: Duration,
    told: BTreeMap<AlarmKey, Told>,
}

impl NotificationPlan {
    pub fn new(least: Severity, quiet: Duration) -> NotificationPlan {
        NotificationPlan { least, quiet, told: BTreeMap::new() }
    }

    /// Returns what to tell, given the alarms that are raised now.
    pub fn next(&mut self, raised: &[Alarm], now: Moment) -> Vec<PlannedNotification> {
        let mut planned = Vec::new();
        let mut keys = BTreeSet::new();
        let mut raised: Vec<&Alarm> = raised.iter().filter(|alarm| alarm.severity() >= self.least).collect();
        raised.sort_by_key(|alarm| Reverse(alarm.severity()));
        for alarm in raised {
            let key = (alarm.carrier.clone(), alarm.kind, alarm.about.clone());
            keys.insert(key.clone());
            match self.told.get_mut(&key) {
                Some(told) if !told.is_over => told.alarm.clone_from(alarm),
                Some(told) if now < told.at.plus(self.quiet) => {}
                Some(_) | None if planned.len() >= TOLD_AT_ONCE_MAX => {}
                Some(_) | None => {
                    self.told.insert(key, Told { alarm: alarm.clone(), at: now, is_over: false });
                    planned.push(PlannedNotification::Raised(alarm.clone()));
                }
            }
        }
        let quiet = self.quiet;
        self.told.retain(|key, told| {
            if keys.contains(key) {
                return true;
            }
            if !told.is_over && planned.len() >= TOLD_AT_ONCE_MAX {
                return true;
            }
            if !std::mem::replace(&mut told.is_over, true) {
                planned.push(PlannedNotification::Over(told.alarm.clone()));
            }
            now < told.at.plus(quiet)
        });
        if self.told.len() > TOLD_MAX {
            self.told.retain(|_, told| !told.is_over);
        }
        planned
    }
}

#[cfg(test)]
#[path = "notification_plan_tests.rs"]
mod tests;

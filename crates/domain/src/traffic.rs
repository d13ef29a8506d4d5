//! Traffic controls: limits on an account's messages and spend. Daily totals are counted in the store with the charge;
//! messages per recipient, number range and country are counted in bounded memory. A control either enforces its limit
//! or only watches and reports what it would have refused.

use crate::ids::AccountId;
use crate::keyed_pace::{Allowance, KeyedPace};
use crate::money::Money;
use crate::numbers::{Country, Numbers};
use crate::phone::Msisdn;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// Recipients, ranges and countries that are counted at a time, over all accounts.
pub const VELOCITY_KEYS_MAX: usize = 200_000;

/// Numbers in a range, which ends in four arbitrary digits. Traffic pumping goes through whole ranges.
const RANGE_NUMBERS: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Enforce,
    Watch,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "limit", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficRule {
    /// Per UTC day.
    SpendPerDay {
        most: Money,
    },
    MessagesPerDay {
        most: u64,
    },
    /// Messages to one number.
    PerRecipient {
        most: u32,
        per_ms: u64,
    },
    /// Messages to numbers that differ in their last four digits only.
    PerRange {
        most: u32,
        per_ms: u64,
    },
    /// Messages to one country, other than the excepted ones.
    PerCountry {
        most: u32,
        per_ms: u64,
        except: Vec<Country>,
    },
}

/// A control that applies to an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    pub name: Arc<str>,
    pub mode: Mode,
    pub rule: TrafficRule,
    /// Identifies the control's counts. Derived from its name, because its index changes when controls are added or
    /// removed.
    key: u64,
}

impl Control {
    pub fn new(name: &str, mode: Mode, rule: TrafficRule) -> Control {
        let mut hash = DefaultHasher::new();
        (name, std::mem::discriminant(&rule)).hash(&mut hash);
        Control { name: name.into(), mode, rule, key: hash.finish() }
    }
}

/// The counter that a message counts towards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct VelocityKey {
    account: AccountId,
    control: u64,
    number: u64,
}

/// The limit of one control for one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VelocityLimit {
    key: VelocityKey,
    most: u32,
    per_ms: u64,
    mode: Mode,
}

impl VelocityLimit {
    fn allowance(self) -> Allowance {
        Allowance { most: self.most, per: Duration::from_millis(self.per_ms) }
    }
}

/// Returns the limits that a message counts towards, in the order of the controls.
pub fn velocity_limits(account: AccountId, controls: &[Control], to: Msisdn) -> Vec<VelocityLimit> {
    controls.iter().filter_map(|control| velocity_limit(account, control, to)).collect()
}

/// An enforced control that refuses a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverVelocity {
    control: u64,
    /// Until it would admit one.
    pub wait: Duration,
}

impl OverVelocity {
    /// Returns the name of the control, if the account still has it.
    pub fn control(self, controls: &[Control]) -> Option<&Arc<str>> {
        controls.iter().find(|control| control.key == self.control).map(|control| &control.name)
    }
}

/// The watching controls that would have refused a message: one bit for each of its first 64 limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedVelocity(u64);

impl WatchedVelocity {
    /// Returns the names of the controls.
    pub fn controls(self, account: AccountId, controls: &[Control], to: Msisdn) -> Vec<Arc<str>> {
        if self == WatchedVelocity::default() {
            return Vec::new();
        }
        let limited = controls.iter().filter(|control| velocity_limit(account, control, to).is_some());
        let watched = (0..u64::BITS).zip(limited).filter(|(bit, _)| self.0 >> bit & 1 == 1);
        watched.map(|(_, control)| control.name.clone()).collect()
    }
}

/// Recent messages per recipient, range and country.
#[derive(Debug)]
pub struct Velocity(KeyedPace<VelocityKey>);

impl Default for Velocity {
    fn default() -> Velocity {
        Velocity(KeyedPace::new(VELOCITY_KEYS_MAX))
    }
}

impl Velocity {
    /// Returns the enforced control that refuses a message now. Counts nothing.
    pub fn refusal(&self, limits: &[VelocityLimit], now: Timestamp) -> Option<OverVelocity> {
        let mut enforced = limits.iter().filter(|limit| limit.mode == Mode::Enforce);
        enforced.find_map(|limit| {
            let wait = self.0.wait(limit.key, limit.allowance(), now)?;
            Some(OverVelocity { control: limit.key.control, wait })
        })
    }

    /// Counts a message that no control refuses. Watching controls whose limit is used up do not count it. Calls `counted`
    /// with each limit that did.
    pub fn count(
        &mut self,
        limits: &[VelocityLimit],
        now: Timestamp,
        mut counted: impl FnMut(VelocityLimit),
    ) -> WatchedVelocity {
        let mut watched = 0;
        for (bit, limit) in (0..).zip(limits) {
            match self.0.admit(limit.key, limit.allowance(), now) {
                Ok(()) => counted(*limit),
                Err(_) => watched |= 1_u64.checked_shl(bit).unwrap_or(0),
            }
        }
        WatchedVelocity(watched)
    }

    /// Undoes the count of a message that was not accepted.
    pub fn give_back(&mut self, counted: VelocityLimit) {
        self.0.give_back(counted.key, counted.allowance());
    }
}

fn velocity_limit(account: AccountId, control: &Control, to: Msisdn) -> Option<VelocityLimit> {
    let (number, most, per_ms) = match control.rule {
        TrafficRule::PerRecipient { most, per_ms } => (to.number(), most, per_ms),
        TrafficRule::PerRange { most, per_ms } => (to.number() / RANGE_NUMBERS, most, per_ms),
        TrafficRule::PerCountry { most, per_ms, ref except } => (country_key(to, except)?, most, per_ms),
        TrafficRule::SpendPerDay { .. } | TrafficRule::MessagesPerDay { .. } => return None,
    };
    let key = VelocityKey { account, control: control.key, number };
    Some(VelocityLimit { key, most, per_ms, mode: control.mode })
}

/// Returns the key of a recipient's country; `None` for an excepted one. Numbers that belong to no country share key 0.
fn country_key(to: Msisdn, except: &[Country]) -> Option<u64> {
    match Numbers::embedded().find(to).country {
        Some(country) if except.contains(&country) => None,
        Some(country) => Some(country.as_str().bytes().fold(0, |key, letter| key << 8 | u64::from(letter))),
        None => Some(0),
    }
}

/// The enforced daily limits: the lowest of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Daily {
    pub messages_max: Option<u64>,
    pub spend_max: Option<Money>,
}

pub fn enforced_daily(controls: &[Control]) -> Daily {
    let mut daily = Daily::default();
    for control in controls.iter().filter(|control| control.mode == Mode::Enforce) {
        match control.rule {
            TrafficRule::MessagesPerDay { most } => {
                daily.messages_max = Some(daily.messages_max.map_or(most, |max| max.min(most)));
            }
            TrafficRule::SpendPerDay { most } => {
                daily.spend_max = Some(daily.spend_max.map_or(most, |max| max.min(most)));
            }
            TrafficRule::PerRecipient { .. }
            | TrafficRule::PerRange { .. }
            | TrafficRule::PerCountry { .. } => {}
        }
    }
    daily
}

/// Returns the watching controls whose limit the day's totals, including this message, exceed.
pub fn watched_daily(controls: &[Control], messages: u64, spend: Money) -> impl Iterator<Item = &Arc<str>> {
    let beyond = move |control: &&Control| match control.rule {
        TrafficRule::MessagesPerDay { most } => messages > most,
        TrafficRule::SpendPerDay { most } => spend > most,
        TrafficRule::PerRecipient { .. } | TrafficRule::PerRange { .. } | TrafficRule::PerCountry { .. } => {
            false
        }
    };
    let watching = controls.iter().filter(|control| control.mode == Mode::Watch);
    watching.filter(beyond).map(|control| &control.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACME: AccountId = AccountId::new(1);

    fn control(name: &str, mode: Mode, rule: TrafficRule) -> Control {
        Control::new(name, mode, rule)
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
    }

    fn to(number: &str) -> Msisdn {
        Msisdn::parse(number).unwrap()
    }

    /// Counts a message that is not refused. Returns `+` or the refusing control, and after `~` the watching ones.
    fn admit(velocity: &mut Velocity, controls: &[Control], number: &str, seconds: i64) -> String {
        let limits = velocity_limits(ACME, controls, to(number));
        if let Some(over) = velocity.refusal(&limits, at(seconds)) {
            return format!("{} {}", over.control(controls).unwrap(), over.wait.as_secs());
        }
        let watched = velocity.count(&limits, at(seconds), |_| {});
        let names = watched.controls(ACME, controls, to(number));
        names.iter().fold("+".to_owned(), |text, name| format!("{text}~{name}"))
    }

    #[test]
    fn recipient_and_range_have_separate_allowances() {
        let controls = [
            control("same", Mode::Enforce, TrafficRule::PerRecipient { most: 2, per_ms: 60_000 }),
            control("range", Mode::Enforce, TrafficRule::PerRange { most: 3, per_ms: 60_000 }),
        ];
        let mut velocity = Velocity::default();
        assert_eq!(admit(&mut velocity, &controls, "+4915112340001", 0), "+");
        assert_eq!(admit(&mut velocity, &controls, "+4915112340001", 0), "+");
        assert_eq!(admit(&mut velocity, &controls, "+4915112340001", 0), "same 30");
        assert_eq!(admit(&mut velocity, &controls, "+4915112340002", 0), "+");
        assert_eq!(admit(&mut velocity, &controls, "+4915112340003", 0), "range 20");
        assert_eq!(admit(&mut velocity, &controls, "+4915112350003", 0), "+", "another range");
        velocity_limits(ACME, &controls, to("+4915112340002"))
            .into_iter()
            .for_each(|limit| velocity.give_back(limit));
        assert_eq!(
            admit(&mut velocity, &controls, "+4915112340003", 0),
            "+",
            "what was refused later counts not"
        );
    }

    #[test]
    fn counts_of_a_control_survive_changes_of_other_controls() {
        let rule = |most| TrafficRule::PerRecipient { most, per_ms: 60_000 };
        let [many, few] =
            [("many", 10), ("few", 1)].map(|(name, most)| control(name, Mode::Enforce, rule(most)));
        let mut velocity = Velocity::default();
        for _ in 0..5 {
            assert_eq!(admit(&mut velocity, std::slice::from_ref(&many), "+4915112340001", 0), "+");
        }
        assert_eq!(admit(&mut velocity, &[few.clone(), many.clone()], "+4915112340001", 0), "+");
        assert_eq!(admit(&mut velocity, &[few, many], "+4915112340001", 0), "few 60");
    }

    #[test]
    fn watching_control_that_did_not_count_is_not_undone() {
        let rule = TrafficRule::PerRecipient { most: 1, per_ms: 60_000 };
        let controls = [control("watch", Mode::Watch, rule)];
        let mut velocity = Velocity::default();
        assert_eq!(admit(&mut velocity, &controls, "+4915112340001", 0), "+");
        let mut counted = Vec::new();
        let limits = velocity_limits(ACME, &controls, to("+4915112340001"));
        velocity.count(&limits, at(0), |limit| counted.push(limit));
        assert!(counted.is_empty(), "{counted:?}");
        assert_eq!(admit(&mut velocity, &controls, "+4915112340001", 0), "+~watch");
    }

    #[test]
    fn watching_control_refuses_no_message() {
        let controls = [control("watch", Mode::Watch, TrafficRule::PerRecipient { most: 1, per_ms: 60_000 })];
        let mut velocity = Velocity::default();
        assert_eq!(admit(&mut velocity, &controls, "+4915112340001", 0), "+");
        assert_eq!(admit(&mut velocity, &controls, "+4915112340001", 0), "+~watch");
    }

    #[test]
    fn lowest_enforced_daily_limit_applies_and_watching_controls_report() {
        let money = |text| Money::parse(text).unwrap();
        let controls = [
            control("a", Mode::Enforce, TrafficRule::MessagesPerDay { most: 100 }),
            control("b", Mode::Enforce, TrafficRule::MessagesPerDay { most: 50 }),
            control("c", Mode::Watch, TrafficRule::MessagesPerDay { most: 10 }),
            control("d", Mode::Watch, TrafficRule::SpendPerDay { most: money("1.5") }),
        ];
        assert_eq!(enforced_daily(&controls), Daily { messages_max: Some(50), spend_max: None });
        let watched = |messages, spend| -> Vec<String> {
            watched_daily(&controls, messages, money(spend)).map(|name| name.to_string()).collect()
        };
        assert_eq!(watched(10, "1.5"), Vec::<String>::new());
        assert_eq!(watched(11, "1.500001"), ["c", "d"]);
    }
}

#[cfg(test)]
#[path = "pumping_tests.rs"]
mod pumping_tests;

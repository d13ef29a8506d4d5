//! Traffic controls: what an account may send before somebody should look. Daily totals are counted with the charge, in
//! the store; how often one recipient, one range of numbers or one country is written to is counted in memory, which is bounded. A
//! control enforces its limit, or only watches and says what it would have refused.

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

/// Recipients, ranges and countries remembered at a time, over all accounts.
pub const VELOCITY_KEYS_MAX: usize = 200_000;

/// A range is a number without its last digits: pumping walks through one.
const RANGE_NUMBERS: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Enforce,
    Watch,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "limit", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficRule {
    /// UTC days.
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
    /// Messages to one country that is not among those the account usually sends to.
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
    /// What is counted for it is counted by its name: its place changes whenever another control comes or goes.
    counted_as: u64,
}

impl Control {
    pub fn new(name: &str, mode: Mode, rule: TrafficRule) -> Control {
        let mut hash = DefaultHasher::new();
        (name, std::mem::discriminant(&rule)).hash(&mut hash);
        Control { name: name.into(), mode, rule, counted_as: hash.finish() }
    }
}

/// What a message counts towards in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Counted {
    account: AccountId,
    control: u64,
    number: u64,
}

/// How often recipients, ranges and countries were written to lately.
#[derive(Debug)]
pub struct Velocity(KeyedPace<Counted>);

impl Default for Velocity {
    fn default() -> Velocity {
        Velocity(KeyedPace::new(VELOCITY_KEYS_MAX))
    }
}

/// What admitting a message came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    /// The enforced control that refuses it, and for how long.
    pub refused: Option<(Arc<str>, Duration)>,
    /// Controls that only watch and would have refused it.
    pub watched: Vec<Arc<str>>,
}

impl Velocity {
    /// Counts one message, unless an enforced control refuses it: then nothing is counted.
    pub fn admit(
        &mut self,
        account: AccountId,
        controls: &[Control],
        to: Msisdn,
        now: Timestamp,
    ) -> Admitted {
        let mut admitted = Admitted::default();
        for (place, control) in controls.iter().enumerate() {
            let Some((counted, allowance)) = counted(account, control, to) else { continue };
            match (self.0.admit(counted, allowance, now), control.mode) {
                (Ok(()), _) => {}
                (Err(_), Mode::Watch) => admitted.watched.push(control.name.clone()),
                (Err(wait), Mode::Enforce) => {
                    self.give_back(account, &controls[..place], to, &admitted.watched);
                    admitted.refused = Some((control.name.clone(), wait));
                    return admitted;
                }
            }
        }
        admitted
    }

    /// The message was not accepted after all. Those that only watched took nothing for it.
    pub fn give_back(&mut self, account: AccountId, controls: &[Control], to: Msisdn, watched: &[Arc<str>]) {
        for control in controls.iter().filter(|control| !watched.contains(&control.name)) {
            if let Some((counted, allowance)) = counted(account, control, to) {
                self.0.give_back(counted, allowance);
            }
        }
    }
}

fn counted(account: AccountId, control: &Control, to: Msisdn) -> Option<(Counted, Allowance)> {
    let (number, most, per_ms) = match control.rule {
        TrafficRule::PerRecipient { most, per_ms } => (to.number(), most, per_ms),
        TrafficRule::PerRange { most, per_ms } => (to.number() / RANGE_NUMBERS, most, per_ms),
        TrafficRule::PerCountry { most, per_ms, ref except } => (country_key(to, except)?, most, per_ms),
        TrafficRule::SpendPerDay { .. } | TrafficRule::MessagesPerDay { .. } => return None,
    };
    let control = control.counted_as;
    Some((Counted { account, control, number }, Allowance { most, per: Duration::from_millis(per_ms) }))
}

/// What a country is counted as, or nothing for an excepted one. Numbers of no country are counted together, as 0.
fn country_key(to: Msisdn, except: &[Country]) -> Option<u64> {
    match Numbers::embedded().find(to).country {
        Some(country) if except.contains(&country) => None,
        Some(country) => Some(country.as_str().bytes().fold(0, |key, letter| key << 8 | u64::from(letter))),
        None => Some(0),
    }
}

/// The daily limits that are enforced: the lowest of each kind.
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

/// Controls that only watch and that a day's totals, this message counted, are beyond.
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

    /// `+`, or the control that refused, and after `~` those that watched.
    fn told(velocity: &mut Velocity, controls: &[Control], number: &str, seconds: i64) -> String {
        let Admitted { refused, watched } = velocity.admit(ACME, controls, to(number), at(seconds));
        let refused = refused.map_or("+".to_owned(), |(name, wait)| format!("{name} {}", wait.as_secs()));
        watched.iter().fold(refused, |told, name| format!("{told}~{name}"))
    }

    #[test]
    fn one_recipient_and_one_range_have_their_own_allowance() {
        let controls = [
            control("same", Mode::Enforce, TrafficRule::PerRecipient { most: 2, per_ms: 60_000 }),
            control("range", Mode::Enforce, TrafficRule::PerRange { most: 3, per_ms: 60_000 }),
        ];
        let mut velocity = Velocity::default();
        assert_eq!(told(&mut velocity, &controls, "+4915112340001", 0), "+");
        assert_eq!(told(&mut velocity, &controls, "+4915112340001", 0), "+");
        assert_eq!(told(&mut velocity, &controls, "+4915112340001", 0), "same 30");
        assert_eq!(told(&mut velocity, &controls, "+4915112340002", 0), "+");
        assert_eq!(told(&mut velocity, &controls, "+4915112340003", 0), "range 20");
        assert_eq!(told(&mut velocity, &controls, "+4915112350003", 0), "+", "another range");
        velocity.give_back(ACME, &controls, to("+4915112340002"), &[]);
        assert_eq!(
            told(&mut velocity, &controls, "+4915112340003", 0),
            "+",
            "what was refused later counts not"
        );
    }

    #[test]
    fn what_was_counted_for_a_control_stays_its_own_when_others_come_and_go() {
        let rule = |most| TrafficRule::PerRecipient { most, per_ms: 60_000 };
        let [many, few] =
            [("many", 10), ("few", 1)].map(|(name, most)| control(name, Mode::Enforce, rule(most)));
        let mut velocity = Velocity::default();
        for _ in 0..5 {
            assert_eq!(told(&mut velocity, std::slice::from_ref(&many), "+4915112340001", 0), "+");
        }
        assert_eq!(told(&mut velocity, &[few.clone(), many.clone()], "+4915112340001", 0), "+");
        assert_eq!(told(&mut velocity, &[few, many], "+4915112340001", 0), "few 60");
    }

    #[test]
    fn a_control_that_only_watched_gets_nothing_back() {
        let rule = TrafficRule::PerRecipient { most: 1, per_ms: 60_000 };
        let controls = [control("watch", Mode::Watch, rule)];
        let mut velocity = Velocity::default();
        assert_eq!(told(&mut velocity, &controls, "+4915112340001", 0), "+");
        let Admitted { watched, .. } = velocity.admit(ACME, &controls, to("+4915112340001"), at(0));
        velocity.give_back(ACME, &controls, to("+4915112340001"), &watched);
        assert_eq!(told(&mut velocity, &controls, "+4915112340001", 0), "+~watch");
    }

    #[test]
    fn a_watching_control_refuses_nobody() {
        let controls = [control("watch", Mode::Watch, TrafficRule::PerRecipient { most: 1, per_ms: 60_000 })];
        let mut velocity = Velocity::default();
        assert_eq!(told(&mut velocity, &controls, "+4915112340001", 0), "+");
        assert_eq!(told(&mut velocity, &controls, "+4915112340001", 0), "+~watch");
    }

    #[test]
    fn the_lowest_enforced_daily_limit_counts_and_watching_ones_tell() {
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

//! Alarms: conditions that need the operator. An alarm is identified by carrier, kind and subject; raising it again
//! only counts it.

use super::alarm_kind::{AlarmKind, Severity};
use hermod_domain::time::Timestamp;
use metrics::{counter, gauge};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use tracing::Level;

/// Alarms that are kept. Beyond that new ones are only counted and logged.
const ALARMS_MAX: usize = 1_000;
/// Alarms of one kind for one carrier. Further ones are merged into one alarm, so that a carrier with many different
/// errors does not use up all of them.
const ALARMS_OF_A_KIND_MAX: usize = 50;
/// The subject of the merged alarm.
const OTHERS: &str = "others";
/// Carriers and accounts that the metric names, by kind, since the start. Further ones are counted without their names.
const SERIES_MAX: usize = 1_000;
/// The longest detail in characters; the rest is cut.
const DETAIL_CHARS_MAX: usize = 300;

/// An alarm that has been raised and not cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    pub kind: AlarmKind,
    /// The name of the carrier; empty for an alarm about this machine or a customer.
    pub carrier: String,
    /// The subject that distinguishes alarms of one kind: a status code, an account's webhook, a certificate file;
    /// often empty.
    pub about: String,
    /// A description of the latest occurrence.
    pub detail: String,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub count: u64,
}

impl Alarm {
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// Returns the account that it is about; empty if it is not about one.
    pub fn account(&self) -> &str {
        account_in(self.kind, &self.about)
    }
}

/// Carrier, kind and subject.
pub type AlarmKey = (String, AlarmKind, String);
/// The labels of the metric: kind, carrier and account.
type Series = (AlarmKind, String, String);

#[derive(Debug)]
pub struct Alarms {
    raised: Mutex<Raised>,
}

#[derive(Debug, Default)]
struct Raised {
    alarms: BTreeMap<AlarmKey, Alarm>,
    /// The number of raised alarms, as the metric shows it.
    shown: BTreeMap<Series, u32>,
}

/// Starts without alarms. The metric is set to zero for every kind, so that alerting rules have a value.
impl Default for Alarms {
    fn default() -> Alarms {
        let mut raised = Raised::default();
        for kind in AlarmKind::ALL {
            let series = (*kind, String::new(), String::new());
            show(&series, 0);
            raised.shown.insert(series, 0);
        }
        Alarms { raised: Mutex::new(raised) }
    }
}

impl Alarms {
    /// Raises an alarm, or counts it again. Logs it the first time only.
    pub fn raise(&self, kind: AlarmKind, carrier: &str, about: &str, detail: &str, now: Timestamp) {
        self.raise_times(kind, carrier, about, detail, 1, now);
    }

    /// Raises an alarm for `times` occurrences.
    pub fn raise_times(
        &self,
        kind: AlarmKind,
        carrier: &str,
        about: &str,
        detail: &str,
        times: u64,
        now: Timestamp,
    ) {
        count_raised(kind, carrier, times);
        let mut raised = self.raised.lock();
        let mut key = (carrier.to_owned(), kind, about.to_owned());
        if !raised.alarms.contains_key(&key) && raised.is_crowded(&key) {
            OTHERS.clone_into(&mut key.2);
        }
        if let Some(alarm) = raised.alarms.get_mut(&key) {
            alarm.count += times;
            alarm.last_at = now;
            alarm.detail = shortened(detail);
            return;
        }
        raised.add(key, detail, times, now);
    }

    /// Makes the alarms of a kind match the causes that a periodic check found: raises new ones, updates the details of
    /// existing ones, clears the others. A cause is a subject and a detail. A cause that persists is not counted again.
    pub fn replace(&self, kind: AlarmKind, carrier: &str, causes: &[(String, String)], now: Timestamp) {
        let (named, others) = causes.split_at(causes.len().min(ALARMS_OF_A_KIND_MAX));
        let others = (!others.is_empty()).then(|| {
            (OTHERS.to_owned(), format!("{} more; the first of them: {}", others.len(), others[0].1))
        });
        let causes: BTreeMap<&str, &str> =
            named.iter().chain(&others).map(|(about, detail)| (about.as_str(), detail.as_str())).collect();
        let mut raised = self.raised.lock();
        raised.clear_where(|(whose, what, about)| {
            whose == carrier && *what == kind && !causes.contains_key(about.as_str())
        });
        for (about, detail) in causes {
            let key = (carrier.to_owned(), kind, about.to_owned());
            if let Some(alarm) = raised.alarms.get_mut(&key) {
                (alarm.last_at, alarm.detail) = (now, shortened(detail));
                continue;
            }
            count_raised(kind, carrier, 1);
            raised.add(key, detail, 1, now);
        }
    }

    /// Clears every alarm of the kind for this carrier.
    pub fn clear(&self, kind: AlarmKind, carrier: &str) {
        self.raised.lock().clear_where(|(whose, what, _)| whose == carrier && *what == kind);
    }

    /// Clears every alarm of these kinds, of all carriers and accounts.
    pub fn clear_kinds(&self, kinds: &[AlarmKind]) {
        self.raised.lock().clear_where(|(_, what, _)| kinds.contains(what));
    }

    /// Removes the alarms of one carrier, or all, and returns how many. For the operator.
    pub fn acknowledge(&self, carrier: Option<&str>) -> usize {
        self.raised.lock().remove_where(|(whose, ..)| carrier.is_none_or(|carrier| whose == carrier)).len()
    }

    pub fn is_raised(&self, kind: AlarmKind, carrier: &str) -> bool {
        self.raised.lock().alarms.keys().any(|(whose, what, _)| whose == carrier && *what == kind)
    }

    /// Returns the alarms, sorted by carrier.
    pub fn list(&self) -> Vec<Alarm> {
        self.raised.lock().alarms.values().cloned().collect()
    }
}

impl Raised {
    fn add(&mut self, key: AlarmKey, detail: &str, count: u64, now: Timestamp) {
        let (carrier, kind, about) = key.clone();
        let detail = shortened(detail);
        // The level of an event is a constant.
        match kind.severity().log_level() {
            Level::INFO => {
                tracing::info!(alarm = kind.as_str(), carrier.name = carrier, about, %detail, "Alarm")
            }
            Level::WARN => {
                tracing::warn!(alarm = kind.as_str(), carrier.name = carrier, about, %detail, "Alarm")
            }
            _ => tracing::error!(alarm = kind.as_str(), carrier.name = carrier, about, %detail, "Alarm"),
        }
        if self.alarms.len() < ALARMS_MAX {
            let series = self.series_of(&key);
            let count_shown = self.shown.entry(series.clone()).or_default();
            *count_shown += 1;
            show(&series, *count_shown);
            self.alarms
                .insert(key, Alarm { kind, carrier, about, detail, first_at: now, last_at: now, count });
        }
    }

    fn clear_where(&mut self, is_over: impl Fn(&AlarmKey) -> bool) {
        for (carrier, kind, about) in self.remove_where(is_over) {
            tracing::info!(alarm = kind.as_str(), carrier.name = carrier, about, "Alarm cleared");
        }
    }

    /// Removes alarms, and returns their keys.
    fn remove_where(&mut self, is_over: impl Fn(&AlarmKey) -> bool) -> Vec<AlarmKey> {
        let over: Vec<AlarmKey> = self.alarms.keys().filter(|key| is_over(key)).cloned().collect();
        for key in &over {
            self.alarms.remove(key);
            let series = self.series_of(key);
            if let Some(count) = self.shown.get_mut(&series) {
                *count = count.saturating_sub(1);
                show(&series, *count);
            }
        }
        over
    }

    /// Returns the labels under which an alarm is counted: the same for an alarm that is removed as when it was added, because
    /// labels are never forgotten.
    fn series_of(&self, (carrier, kind, about): &AlarmKey) -> Series {
        let series = (*kind, carrier.clone(), account_in(*kind, about).to_owned());
        if self.shown.contains_key(&series) || self.shown.len() < SERIES_MAX {
            return series;
        }
        (*kind, String::new(), String::new())
    }

    fn is_crowded(&self, (carrier, kind, _): &AlarmKey) -> bool {
        let of_its_kind = (carrier.clone(), *kind, String::new())..;
        let same = self.alarms.range(of_its_kind);
        same.take_while(|((whose, what, _), _)| whose == carrier && what == kind).count()
            >= ALARMS_OF_A_KIND_MAX
    }
}

/// Returns the account that an alarm is about. Those that were merged have none.
fn account_in(kind: AlarmKind, about: &str) -> &str {
    kind.account_in(about).filter(|_| about != OTHERS).unwrap_or_default()
}

fn count_raised(kind: AlarmKind, carrier: &str, times: u64) {
    counter!("hermod_alarms_raised_total", "alarm" => kind.as_str(), "carrier" => carrier.to_owned())
        .increment(times);
}

fn show((kind, carrier, account): &Series, count: u32) {
    gauge!(
        "hermod_alarms",
        "alarm" => kind.as_str(),
        "severity" => kind.severity().as_str(),
        "carrier" => carrier.clone(),
        "account" => account.clone()
    )
    .set(count);
}

fn shortened(detail: &str) -> String {
    detail.chars().take(DETAIL_CHARS_MAX).collect()
}

#[cfg(test)]
#[path = "alarms_tests.rs"]
mod tests;

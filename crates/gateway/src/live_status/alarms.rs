//! Alarms: conditions that need the operator. An alarm is identified by carrier, kind and subject; raising it again
//! only counts it.

use hermod_domain::time::Timestamp;
use metrics::{counter, gauge};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing::Level;

/// Alarms that are kept. Beyond that new ones are only counted and logged.
const ALARMS_MAX: usize = 1_000;
/// Alarms of one kind for one carrier. Further ones are merged into one alarm, so that a carrier with many different
/// errors does not use up all of them.
const ALARMS_OF_A_KIND_MAX: usize = 50;
/// The subject of the merged alarm.
const OTHERS: &str = "others";
/// The longest detail in characters; the rest is cut.
const DETAIL_CHARS_MAX: usize = 300;

/// The kinds of alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlarmKind {
    /// A carrier rejects our system_id, password or system_type.
    BindRefused,
    /// A carrier answers that we are already bound.
    AlreadyBound,
    /// No link to a carrier was bound for ten seconds, or messages wait and the carrier answers none.
    CarrierDown,
    /// A carrier answers nothing while messages wait for it.
    CarrierStalled,
    /// Messages wait too long for a carrier.
    QueueAge,
    /// A carrier was stopped after too many protocol errors.
    CarrierStopped,
    /// A carrier answered with a protocol error.
    ProtocolError,
    /// A carrier answered with an unknown status.
    UnknownStatus,
    /// A receipt has an unknown `stat`.
    UnknownStat,
    /// Receipts match no part: the carrier's id conversion is probably set wrongly.
    UnmatchedReceipts,
    /// A receipt matches more than one part.
    AmbiguousReceipt,
    /// A carrier gave the same message id to several parts.
    ReusedMessageId,
    /// A carrier accepted parts without a usable message id.
    MissingMessageId,
    /// Parts got no response, and no resend is left.
    UnconfirmedParts,
    /// A carrier's settings are invalid, or its password cannot be decrypted.
    BadSettings,
    /// The clock of this machine jumped.
    ClockJumped,
    /// The write-ahead log of the database is too large, because a reader blocks the checkpoint.
    StoreLogLarge,
    /// Rows of the database are corrupt; their messages are not sent.
    RowsSetAside,
    /// The clock of this machine is behind the newest stored time.
    ClockBehind,
    /// The disk of the data folder is nearly full.
    DiskLow,
    /// The gateway is held until the operator releases it.
    GatewayHeld,
    /// Messages held by screening wait for review.
    ReviewsOpen,
    /// The record is far behind the message store.
    RecordBehind,
    /// A customer's webhook endpoint has accepted no post for a while.
    WebhookFailing,
    /// Mails to users cannot be sent.
    MailFailing,
    /// A certificate expires within a month.
    CertificateExpiring,
    /// A certificate has expired.
    CertificateExpired,
}

impl AlarmKind {
    pub const ALL: [AlarmKind; 27] = [
        AlarmKind::BindRefused,
        AlarmKind::AlreadyBound,
        AlarmKind::CarrierDown,
        AlarmKind::CarrierStalled,
        AlarmKind::QueueAge,
        AlarmKind::CarrierStopped,
        AlarmKind::ProtocolError,
        AlarmKind::UnknownStatus,
        AlarmKind::UnknownStat,
        AlarmKind::UnmatchedReceipts,
        AlarmKind::AmbiguousReceipt,
        AlarmKind::ReusedMessageId,
        AlarmKind::MissingMessageId,
        AlarmKind::UnconfirmedParts,
        AlarmKind::BadSettings,
        AlarmKind::ClockJumped,
        AlarmKind::StoreLogLarge,
        AlarmKind::RowsSetAside,
        AlarmKind::ClockBehind,
        AlarmKind::DiskLow,
        AlarmKind::GatewayHeld,
        AlarmKind::ReviewsOpen,
        AlarmKind::RecordBehind,
        AlarmKind::WebhookFailing,
        AlarmKind::MailFailing,
        AlarmKind::CertificateExpiring,
        AlarmKind::CertificateExpired,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            AlarmKind::BindRefused => "bind-refused",
            AlarmKind::AlreadyBound => "already-bound",
            AlarmKind::CarrierDown => "carrier-down",
            AlarmKind::CarrierStalled => "carrier-stalled",
            AlarmKind::QueueAge => "queue-age",
            AlarmKind::CarrierStopped => "carrier-stopped",
            AlarmKind::ProtocolError => "protocol-error",
            AlarmKind::UnknownStatus => "unknown-status",
            AlarmKind::UnknownStat => "unknown-stat",
            AlarmKind::UnmatchedReceipts => "unmatched-receipts",
            AlarmKind::AmbiguousReceipt => "ambiguous-receipt",
            AlarmKind::ReusedMessageId => "reused-message-id",
            AlarmKind::MissingMessageId => "missing-message-id",
            AlarmKind::UnconfirmedParts => "unconfirmed-parts",
            AlarmKind::BadSettings => "bad-settings",
            AlarmKind::ClockJumped => "clock-jumped",
            AlarmKind::StoreLogLarge => "store-log-large",
            AlarmKind::RowsSetAside => "rows-set-aside",
            AlarmKind::ClockBehind => "clock-behind",
            AlarmKind::DiskLow => "disk-low",
            AlarmKind::GatewayHeld => "gateway-held",
            AlarmKind::ReviewsOpen => "reviews-open",
            AlarmKind::RecordBehind => "record-behind",
            AlarmKind::WebhookFailing => "webhook-failing",
            AlarmKind::MailFailing => "mail-failing",
            AlarmKind::CertificateExpiring => "certificate-expiring",
            AlarmKind::CertificateExpired => "certificate-expired",
        }
    }

    /// Returns the level at which an alarm of this kind is logged: open cases are the operator's work and no fault, and a webhook
    /// that fails is a fault of the customer's receiver.
    pub(super) fn log_level(self) -> Level {
        if self == AlarmKind::ReviewsOpen {
            Level::INFO
        } else if self == AlarmKind::WebhookFailing {
            Level::WARN
        } else {
            Level::ERROR
        }
    }
}

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

type Key = (String, AlarmKind, String);

#[derive(Debug)]
pub struct Alarms {
    raised: Mutex<BTreeMap<Key, Alarm>>,
}

/// Starts without alarms. The metric is set to zero for every kind, so that alerting rules have a value.
impl Default for Alarms {
    fn default() -> Alarms {
        let raised = BTreeMap::new();
        show_counts(&raised);
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
        let mut raised = self.raised();
        let mut key = (carrier.to_owned(), kind, about.to_owned());
        if !raised.contains_key(&key) && is_crowded(&raised, &key) {
            OTHERS.clone_into(&mut key.2);
        }
        if let Some(alarm) = raised.get_mut(&key) {
            alarm.count += times;
            alarm.last_at = now;
            alarm.detail = shortened(detail);
            return;
        }
        add(&mut raised, key, detail, times, now);
        show_counts(&raised);
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
        let mut raised = self.raised();
        let before = raised.len();
        raised.retain(|(whose, what, about), _| {
            whose != carrier || *what != kind || causes.contains_key(about.as_str())
        });
        let mut changed = raised.len() < before;
        if changed {
            tracing::info!(alarm = kind.as_str(), carrier.name = carrier, "Alarm cleared");
        }
        for (about, detail) in causes {
            let key = (carrier.to_owned(), kind, about.to_owned());
            if let Some(alarm) = raised.get_mut(&key) {
                (alarm.last_at, alarm.detail) = (now, shortened(detail));
                continue;
            }
            count_raised(kind, carrier, 1);
            add(&mut raised, key, detail, 1, now);
            changed = true;
        }
        if changed {
            show_counts(&raised);
        }
    }

    /// Clears every alarm of the kind for this carrier.
    pub fn clear(&self, kind: AlarmKind, carrier: &str) {
        let mut raised = self.raised();
        let before = raised.len();
        raised.retain(|(whose, what, _), _| whose != carrier || *what != kind);
        if raised.len() < before {
            tracing::info!(alarm = kind.as_str(), carrier.name = carrier, "Alarm cleared");
            show_counts(&raised);
        }
    }

    /// Removes the alarms of one carrier, or all, and returns how many. For the operator.
    pub fn acknowledge(&self, carrier: Option<&str>) -> usize {
        let mut raised = self.raised();
        let before = raised.len();
        raised.retain(|(whose, ..), _| carrier.is_some_and(|carrier| whose != carrier));
        show_counts(&raised);
        before - raised.len()
    }

    pub fn is_raised(&self, kind: AlarmKind, carrier: &str) -> bool {
        self.raised().keys().any(|(whose, what, _)| whose == carrier && *what == kind)
    }

    /// Returns the alarms, sorted by carrier.
    pub fn list(&self) -> Vec<Alarm> {
        self.raised().values().cloned().collect()
    }

    fn raised(&self) -> MutexGuard<'_, BTreeMap<Key, Alarm>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(raised: &mut BTreeMap<Key, Alarm>, key: Key, detail: &str, count: u64, now: Timestamp) {
    let (carrier, kind, about) = key.clone();
    let detail = shortened(detail);
    // The level of an event is a constant.
    match kind.log_level() {
        Level::INFO => tracing::info!(alarm = kind.as_str(), carrier.name = carrier, about, %detail, "Alarm"),
        Level::WARN => tracing::warn!(alarm = kind.as_str(), carrier.name = carrier, about, %detail, "Alarm"),
        _ => tracing::error!(alarm = kind.as_str(), carrier.name = carrier, about, %detail, "Alarm"),
    }
    if raised.len() < ALARMS_MAX {
        raised.insert(key, Alarm { kind, carrier, about, detail, first_at: now, last_at: now, count });
    }
}

fn count_raised(kind: AlarmKind, carrier: &str, times: u64) {
    counter!("hermod_alarms_raised_total", "alarm" => kind.as_str(), "carrier" => carrier.to_owned())
        .increment(times);
}

fn show_counts(raised: &BTreeMap<Key, Alarm>) {
    for kind in AlarmKind::ALL {
        let count = raised.keys().filter(|(_, what, _)| *what == kind).count();
        gauge!("hermod_alarms", "alarm" => kind.as_str()).set(u32::try_from(count).unwrap_or(u32::MAX));
    }
}

fn shortened(detail: &str) -> String {
    detail.chars().take(DETAIL_CHARS_MAX).collect()
}

fn is_crowded(raised: &BTreeMap<Key, Alarm>, (carrier, kind, _): &Key) -> bool {
    let of_its_kind = (carrier.clone(), *kind, String::new())..;
    raised.range(of_its_kind).take_while(|((whose, what, _), _)| whose == carrier && what == kind).count()
        >= ALARMS_OF_A_KIND_MAX
}

#[cfg(test)]
#[path = "alarms_tests.rs"]
mod tests;

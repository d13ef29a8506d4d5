//! Raises and clears the alarms that do not belong to one carrier: clock, disk, write-ahead log, unconfirmed parts,
//! certificates, review cases, corrupt rows, the record. Each check finds all causes, so an alarm is cleared when its cause is
//! gone.

use super::operator_url::OperatorUrl;
use crate::app::alarm_carrier_counts;
use crate::gateway::{Gateway, hold_in_words};
use crate::live_status::AlarmKind;
use crate::telemetry;
use crate::tls::{EXPIRY_WARNING, Tls};
use hermod_domain::time::Timestamp;
use hermod_store::record::{RecordStatus, RecordTrouble};
use hermod_store::{DiskSpace, OpenReviews, SetAsideCount, StoreError};
use metrics::gauge;
use std::sync::Arc;
use std::time::Duration;

/// A smaller lag behind the stored times is a correction by NTP.
const BEHIND_MIN: Duration = Duration::from_secs(60);
/// A smaller lag of the record passes by itself.
const RECORD_LAG_MIN: Duration = Duration::from_secs(60);
/// The node with the engine raises them. One that was it no more knows when they are over.
const ALARMS_OF_ENGINE: [AlarmKind; 3] =
    [AlarmKind::QueueAge, AlarmKind::QueueExpiring, AlarmKind::CreditLow];
const DAY_SECONDS: u64 = 24 * 3_600;

/// Runs the checks of every second, and folds the metrics.
pub(super) fn run_checks(gateway: &Gateway) {
    telemetry::figures().fold();
    gateway.follow_machine_clock();
    alarm_carrier_counts(gateway);
    if !gateway.store.runs_engine() {
        gateway.alarms.clear_kinds(&ALARMS_OF_ENGINE);
    }
    let now = gateway.clock.now();
    gateway.binds.expire_traces(now);
    let behind = gateway.store.newest_at_open().and_then(|newest| clock_behind(newest, now));
    gateway.alarms.replace(AlarmKind::ClockBehind, "", &about_this_machine(behind), now);

    let held = gateway.hold().map(hold_in_words);
    gateway.alarms.replace(AlarmKind::GatewayHeld, "", &about_this_machine(held), now);

    gateway.store.measure_disk();
    gateway.watch_store_log();
    let disk = gateway.store.disk_space();
    show_disk(disk);
    let raised = gateway.alarms.is_raised(AlarmKind::DiskLow, "");
    gateway.alarms.replace(AlarmKind::DiskLow, "", &about_this_machine(disk_low(disk, raised)), now);
}

/// Runs the checks of every few seconds.
pub(super) async fn run_slow_checks(
    gateway: Arc<Gateway>,
    certificates: Arc<[Arc<Tls>]>,
    operator_url: Option<Arc<OperatorUrl>>,
) -> Result<(), StoreError> {
    check_certificates(&gateway, &certificates, operator_url.as_deref());
    let open = gateway.store.reviews().count_open().await?;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    gauge!("hermod_reviews_open").set(open.count as f64);
    gateway.alarms.replace(
        AlarmKind::ReviewsOpen,
        "",
        &about_this_machine(reviews_open(open)),
        gateway.clock.now(),
    );
    let set_aside = rows_set_aside(gateway.store.rows_set_aside().count().await?);
    gateway.alarms.replace(AlarmKind::RowsSetAside, "", &about_this_machine(set_aside), gateway.clock.now());
    let behind = about_this_machine(record_behind(gateway.store.record().status()));
    gateway.alarms.replace(AlarmKind::RecordBehind, "", &behind, gateway.clock.now());
    Ok(())
}

/// Reloads renewed certificates, tells commands on this machine which one is in use, and raises alarms about expiry.
pub(super) fn check_certificates(
    gateway: &Gateway,
    certificates: &[Arc<Tls>],
    operator_url: Option<&OperatorUrl>,
) {
    let now = gateway.clock.now();
    let (mut expiring, mut expired) = (Vec::new(), Vec::new());
    for tls in certificates {
        drop(tls.look(now));
        let (expires, about) = (tls.expires(), tls.certificate_file().display().to_string());
        #[expect(clippy::cast_precision_loss, reason = "seconds of this century are exact in a double")]
        let seconds = expires.map_or(f64::NAN, |at| (at.as_millis() / 1_000) as f64);
        gauge!("hermod_tls_certificate_expires_timestamp_seconds", "certificate" => about.clone())
            .set(seconds);
        let Some(expires) = expires else { continue };
        if expires <= now {
            expired.push((about, format!("the certificate expired on {expires}: customers reject it")));
        } else if expires <= now.plus(EXPIRY_WARNING) {
            let days = expires.since(now).as_secs() / DAY_SECONDS;
            expiring.push((about, format!("the certificate expires on {expires}, in {days} days")));
        }
    }
    if let Some(Err(error)) = operator_url.map(OperatorUrl::write) {
        tracing::warn!(%error, "Could not write operator.url, by which commands on this machine find the gateway");
    }
    gateway.alarms.replace(AlarmKind::CertificateExpiring, "", &expiring, now);
    gateway.alarms.replace(AlarmKind::CertificateExpired, "", &expired, now);
}

fn about_this_machine(detail: Option<String>) -> Vec<(String, String)> {
    detail.map(|detail| (String::new(), detail)).into_iter().collect()
}

fn clock_behind(newest: Timestamp, now: Timestamp) -> Option<String> {
    let behind = newest.since(now);
    (behind >= BEHIND_MIN)
        .then(|| format!("the newest stored message is dated {newest}, {} s in the future", behind.as_secs()))
}

/// Raised below twice the low-water mark, so that there is time to act before messages are rejected. Cleared a tenth
/// above that, so that the size of the write-ahead log does not toggle it.
fn disk_low(disk: DiskSpace, raised: bool) -> Option<String> {
    let DiskSpace { free_bytes, low_water_bytes, accepting } = disk;
    let warning = low_water_bytes.saturating_mul(2);
    let enough = if raised { warning.saturating_add(warning / 10) } else { warning };
    let (free, low) = (mebibytes(free_bytes), mebibytes(low_water_bytes));
    if !accepting {
        return Some(format!(
            "new messages are rejected with 503: {free} MiB are free, {low} MiB are needed"
        ));
    }
    (free_bytes < enough)
        .then(|| format!("{free} MiB are free; below {low} MiB new messages are rejected with 503"))
}

const fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

fn show_disk(disk: DiskSpace) {
    let DiskSpace { free_bytes, low_water_bytes, accepting } = disk;
    #[expect(clippy::cast_precision_loss, reason = "figures for a chart")]
    let (free, low) = (free_bytes as f64, low_water_bytes as f64);
    gauge!("hermod_disk_free_bytes").set(free);
    gauge!("hermod_disk_low_water_bytes").set(low);
    gauge!("hermod_store_accepting").set(u32::from(accepting));
}

fn reviews_open(open: OpenReviews) -> Option<String> {
    let OpenReviews { count, oldest } = open;
    let since = oldest.map(|oldest| format!(", the oldest since {}", oldest.to_iso())).unwrap_or_default();
    match count {
        0 => None,
        1 => Some(format!("1 held message waits for review{since}")),
        several => Some(format!("{several} held messages wait for review{since}")),
    }
}

fn rows_set_aside(SetAsideCount { rows, last_at }: SetAsideCount) -> Option<String> {
    let since = last_at.map(|last_at| format!(", the last one at {}", last_at.to_iso())).unwrap_or_default();
    match rows {
        0 => None,
        1 => Some(format!("1 corrupt row of the database is set aside{since}")),
        several => Some(format!("{several} corrupt rows of the database are set aside{since}")),
    }
}

fn record_behind(RecordStatus { lag, catching_up, is_off, trouble }: RecordStatus) -> Option<String> {
    match trouble {
        Some(RecordTrouble::Unusable) => {
            return Some(
                "the record cannot be opened or written: searches and statistics fail or lack messages"
                    .to_owned(),
            );
        }
        Some(RecordTrouble::Rebuilding) => {
            return Some(format!(
                "the record could not be used and was moved aside; {catching_up} messages are still to be read from the message store"
            ));
        }
        Some(RecordTrouble::Checking) => {
            return Some(
                "the record was not closed by an orderly stop and is being checked: searches and statistics fail until then"
                    .to_owned(),
            );
        }
        None => {}
    }
    let left = match catching_up {
        0 => String::new(),
        left => format!(" and has to read {left} messages from the message store"),
    };
    (!is_off && lag >= RECORD_LAG_MIN).then(|| {
        format!(
            "the record is {} s behind{left}: searches and statistics lack what was sent since",
            lag.as_secs()
        )
    })
}

#[cfg(test)]
#[path = "alarm_checks_tests.rs"]
mod tests;

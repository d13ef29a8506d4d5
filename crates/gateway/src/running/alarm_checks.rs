//! Looks at what is not a single carrier's and raises or clears its alarms: the clock, the disk, the store's log, parts
//! without an answer, the certificates, the review cases, rows that make no sense. Each look finds all causes there are, so an alarm goes when its cause does.

use crate::app::alarm_unconfirmed;
use crate::board::AlarmKind;
use crate::telemetry;
use crate::tls::{EXPIRY_WARNING, Tls};
use crate::world::World;
use hermod_domain::time::Timestamp;
use hermod_store::{DiskSpace, OpenReviews, SetAsideCount, StoreError};
use metrics::gauge;
use std::sync::Arc;
use std::time::Duration;

/// A clock that is behind what is stored by less than this is one that a time server has corrected.
const BEHIND_MIN: Duration = Duration::from_secs(60);
const DAY_SECONDS: u64 = 24 * 3_600;

/// Looks once, every second. Raises and clears alarms, and folds the figures of the metrics.
pub(super) fn look(world: &World) {
    telemetry::figures().fold();
    world.follow_the_clock();
    alarm_unconfirmed(world);
    let now = world.clock.now();
    let behind = world.store.newest_at_open().and_then(|newest| clock_behind(newest, now));
    world.alarms.replace(AlarmKind::ClockBehind, "", &about_this_machine(behind), now);

    world.store.measure_disk();
    world.watch_store_log();
    let disk = world.store.disk_space();
    show_disk(disk);
    let raised = world.alarms.is_raised(AlarmKind::DiskLow, "");
    world.alarms.replace(AlarmKind::DiskLow, "", &about_this_machine(disk_low(disk, raised)), now);
}

/// Every few seconds.
pub(super) async fn look_slowly(world: Arc<World>, certificates: Arc<[Arc<Tls>]>) -> Result<(), StoreError> {
    look_at_certificates(&world, &certificates);
    let open = world.store.open_reviews().await?;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    gauge!("hermod_reviews_open").set(open.count as f64);
    world.alarms.replace(
        AlarmKind::ReviewsOpen,
        "",
        &about_this_machine(reviews_open(open)),
        world.clock.now(),
    );
    let set_aside = rows_set_aside(world.store.count_set_aside().await?);
    world.alarms.replace(AlarmKind::RowsSetAside, "", &about_this_machine(set_aside), world.clock.now());
    Ok(())
}

/// Takes renewed certificates, and says which of those in use end soon.
pub(super) fn look_at_certificates(world: &World, certificates: &[Arc<Tls>]) {
    let now = world.clock.now();
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
            expired.push((about, format!("the certificate expired on {expires}: customers refuse it")));
        } else if expires <= now.plus(EXPIRY_WARNING) {
            let days = expires.since(now).as_secs() / DAY_SECONDS;
            expiring.push((about, format!("the certificate expires on {expires}, in {days} days")));
        }
    }
    world.alarms.replace(AlarmKind::CertificateExpiring, "", &expiring, now);
    world.alarms.replace(AlarmKind::CertificateExpired, "", &expired, now);
}

fn about_this_machine(detail: Option<String>) -> Vec<(String, String)> {
    detail.map(|detail| (String::new(), detail)).into_iter().collect()
}

fn clock_behind(newest: Timestamp, now: Timestamp) -> Option<String> {
    let behind = newest.since(now);
    (behind >= BEHIND_MIN).then(|| {
        format!("the newest stored message is dated {newest}, which is still {} s away", behind.as_secs())
    })
}

/// Raised below twice the low-water mark, so that there is time to act before messages are refused. Cleared a tenth above
/// that, so that it does not come and go with the store's log.
fn disk_low(disk: DiskSpace, raised: bool) -> Option<String> {
    let DiskSpace { free_bytes, low_water_bytes, accepting } = disk;
    let warning = low_water_bytes.saturating_mul(2);
    let enough = if raised { warning.saturating_add(warning / 10) } else { warning };
    let (free, low) = (mebibytes(free_bytes), mebibytes(low_water_bytes));
    if !accepting {
        return Some(format!("new messages are refused with 503: {free} MiB are free, {low} MiB are needed"));
    }
    (free_bytes < enough)
        .then(|| format!("{free} MiB are free; below {low} MiB new messages are refused with 503"))
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
        1 => Some(format!("a held text waits for a decision{since}")),
        several => Some(format!("{several} held texts wait for a decision{since}")),
    }
}

fn rows_set_aside(SetAsideCount { rows, last_at }: SetAsideCount) -> Option<String> {
    let since = last_at.map(|last_at| format!(", the last one at {}", last_at.to_iso())).unwrap_or_default();
    match rows {
        0 => None,
        1 => Some(format!("a row of the database makes no sense and is set aside{since}")),
        several => Some(format!("{several} rows of the database make no sense and are set aside{since}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn disk_alarm_comes_before_messages_are_refused_and_goes_with_some_distance() {
        let told = |free: u64, raised: bool| {
            let accepting = free >= 256;
            let disk = DiskSpace { free_bytes: free * MIB, low_water_bytes: 256 * MIB, accepting };
            disk_low(disk, raised)
        };
        assert_eq!(told(512, false), None);
        let low = "511 MiB are free; below 256 MiB new messages are refused with 503";
        assert_eq!(told(511, false).as_deref(), Some(low));
        assert!(told(560, true).is_some(), "not yet far enough above the mark");
        assert_eq!(told(564, true), None);
        let refused = "new messages are refused with 503: 255 MiB are free, 256 MiB are needed";
        assert_eq!(told(255, true).as_deref(), Some(refused));
    }

    #[test]
    fn clock_is_behind_only_if_the_store_holds_messages_of_later() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        assert_eq!(clock_behind(at(1_000), at(1_000)), None);
        assert_eq!(clock_behind(at(1_059), at(1_000)), None);
        assert!(clock_behind(at(4_600), at(1_000)).is_some_and(|told| told.contains("3600 s away")));
    }
}

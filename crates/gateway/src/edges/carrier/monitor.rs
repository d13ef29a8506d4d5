//! Checks a carrier every second: updates its health, and raises or clears its alarms.

use super::health::{
    CarrierCheck, STALLED_AFTER, StallInputs, StallWatch, ids_do_not_match, receipts_are_missing, works,
};
use super::link_group::LinkGroup;
use super::receipt_ids::UnmatchedCause;
use crate::clock::Moment;
use crate::live_status::AlarmKind;
use hermod_domain::ids::RemoteId;
use hermod_store::StoreError;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const CHECK_EVERY: Duration = Duration::from_secs(1);
/// A carrier without a link for this long raises `carrier-down`, ...
const DOWN_FOR: Duration = Duration::from_secs(10);
/// ... and one that is bound and answers nothing while messages wait.
const SILENT_FOR: Duration = Duration::from_secs(60);
/// How often the store is queried for unmatched receipts while there are too many of them.
const RECEIPTS_CHECK_EVERY: Duration = Duration::from_secs(10);
const FIVE_MINUTES: Duration = Duration::from_secs(300);
/// A receipt may arrive this long before the response that carries its id.
const ANSWER_GRACE: Duration = Duration::from_secs(10);
/// Parked receipts read at once.
const PAGE_ROWS: usize = 1_000;
/// Ids of each kind that are compared to find why receipts do not match.
const IDS_COMPARED: u32 = 50;

/// Checks the carrier until `stopping` is cancelled.
pub(super) async fn monitor_carrier(group: &LinkGroup, stopping: &CancellationToken) {
    let clock = &group.gateway.clock;
    let mut monitor = CarrierMonitor::new(group, clock.moment());
    while !stopping.is_cancelled() {
        if let Err(fault) = monitor.check(clock.moment()).await {
            tracing::warn!(%fault, carrier.name = group.name(), "Could not check a carrier's receipts");
        }
        tokio::select! {
            () = clock.sleep(CHECK_EVERY) => {}
            () = stopping.cancelled() => {}
        }
    }
}

pub(super) struct CarrierMonitor<'a> {
    group: &'a LinkGroup,
    /// Since when the carrier does not work.
    idle_since: Option<Moment>,
    /// Responses counted at the last check.
    answered: u64,
    stall: StallWatch,
    /// Alarms that are raised.
    down: bool,
    unmatched: bool,
    missing: bool,
    stopped: bool,
    receipts_checked_at: Option<Moment>,
}

impl<'a> CarrierMonitor<'a> {
    pub(super) fn new(group: &'a LinkGroup, now: Moment) -> CarrierMonitor<'a> {
        CarrierMonitor {
            group,
            idle_since: Some(now),
            answered: group.state.totals().answered(),
            stall: StallWatch::starting_at(group.state.totals().answered()),
            down: false,
            unmatched: false,
            missing: false,
            stopped: false,
            receipts_checked_at: None,
        }
    }

    pub(super) async fn check(&mut self, now: Moment) -> Result<(), StoreError> {
        let group = self.group;
        group.state.look(now, group.gateway.clock.now());
        self.check_stall(now);
        group.update_health();
        self.check_links(now);
        let stopped = group.state.stopped().is_some();
        if self.stopped && !stopped {
            group.clear(AlarmKind::CarrierStopped);
        }
        self.stopped = stopped;
        self.check_missing_receipts(now);
        self.check_receipts(now).await
    }

    fn check_missing_receipts(&mut self, now: Moment) {
        let group = self.group;
        let recent = group.state.recent(now);
        let missing = receipts_are_missing(self.missing, &recent);
        if std::mem::replace(&mut self.missing, missing) == missing {
            return;
        }
        if missing {
            let per_cent = |per_mille: Option<u64>| per_mille.unwrap_or_default() / 10;
            let detail = format!(
                "{} receipts for the {} parts of the last ten minutes, {} %; before it was {} %",
                recent.ten_minutes.receipts,
                recent.ten_minutes.accepted,
                per_cent(recent.ten_minutes.receipted_per_mille()),
                per_cent(recent.before.receipted_per_mille())
            );
            group.raise(AlarmKind::ReceiptsMissing, "", &detail);
        } else {
            group.clear(AlarmKind::ReceiptsMissing);
        }
    }

    fn check_stall(&mut self, now: Moment) {
        let group = self.group;
        let inputs = StallInputs {
            answered: group.state.totals().answered(),
            out: group.state.out(),
            messages_wait: group.state.queue().oldest_for_slot.is_some(),
        };
        let is_stalled = self.stall.check(inputs, now);
        if !group.set_stalled(is_stalled) {
            return;
        }
        if is_stalled {
            let (out, wait) = (inputs.out, STALLED_AFTER.as_secs());
            let detail = format!("{out} parts are sent, none was answered for {wait} s, and messages wait");
            group.raise(AlarmKind::CarrierStalled, "", &detail);
        } else {
            group.clear(AlarmKind::CarrierStalled);
        }
    }

    fn check_links(&mut self, now: Moment) {
        let group = self.group;
        let answered = group.state.totals().answered();
        let check = CarrierCheck {
            stopped: group.state.stopped().is_some(),
            bound: group.state.sending_links_bound() > 0,
            messages_wait: group.state.queue().oldest_for_slot.is_some(),
            answers: answered > std::mem::replace(&mut self.answered, answered),
        };
        if works(check) {
            if self.down {
                group.clear(AlarmKind::CarrierDown);
            }
            (self.idle_since, self.down) = (None, false);
            return;
        }
        let since = *self.idle_since.get_or_insert(now);
        let most = if check.bound { SILENT_FOR } else { DOWN_FOR };
        if since.plus(most) <= now && !std::mem::replace(&mut self.down, true) {
            let errors = group.state.links();
            let error =
                errors.iter().filter_map(|link| link.show(now).last_error).max_by_key(|error| error.at);
            let why = error.map_or(String::new(), |error| format!(": {}", error.text));
            let what = if check.messages_wait {
                "messages wait and the carrier answered none for a minute"
            } else {
                "no link has been bound for ten seconds"
            };
            group.raise(AlarmKind::CarrierDown, "", &format!("{what}{why}"));
        }
    }

    /// Counts the receipts that are still parked: a receipt that came before its submit_sm_resp is matched later and
    /// is no problem.
    async fn check_receipts(&mut self, now: Moment) -> Result<(), StoreError> {
        let group = self.group;
        let five_minutes = group.state.recent(now).five_minutes;
        if !ids_do_not_match(five_minutes.receipts, five_minutes.unmatched) {
            if std::mem::take(&mut self.unmatched) {
                group.clear(AlarmKind::UnmatchedReceipts);
            }
            return Ok(());
        }
        if self.receipts_checked_at.is_some_and(|at| now < at.plus(RECEIPTS_CHECK_EVERY)) {
            return Ok(());
        }
        self.receipts_checked_at = Some(now);
        let (store, wall) = (&group.gateway.store, group.gateway.clock.now());
        let parked = store.receipts().parked(group.id(), u32::try_from(PAGE_ROWS).expect("a page")).await?;
        let lately = wall.minus(FIVE_MINUTES)..wall.minus(ANSWER_GRACE);
        let waiting: Vec<_> = parked.iter().filter(|receipt| lately.contains(&receipt.at)).collect();
        let count = u64::try_from(waiting.len()).unwrap_or(u64::MAX);
        // A full page means that there may be more.
        let unmatched = ids_do_not_match(five_minutes.receipts, count) || waiting.len() == PAGE_ROWS;
        if unmatched && !self.unmatched {
            let answers = store.receipts().recent_carrier_ids(group.id(), IDS_COMPARED).await?;
            let answers: Vec<RemoteId> = answers.into_iter().map(|tied| tied.remote).collect();
            let most = usize::try_from(IDS_COMPARED).expect("a few");
            let receipts: Vec<RemoteId> =
                waiting.iter().take(most).map(|receipt| receipt.remote.clone()).collect();
            let cause = UnmatchedCause::of(group.profile().ids, &answers, &receipts);
            let ids = (answers.first(), receipts.first());
            let detail = describe_unmatched(five_minutes.receipts, count, ids, cause);
            group.raise(AlarmKind::UnmatchedReceipts, "", &detail);
        }
        if self.unmatched && !unmatched {
            group.clear(AlarmKind::UnmatchedReceipts);
        }
        self.unmatched = unmatched;
        Ok(())
    }
}

/// Describes unmatched receipts with an id of each kind, of a response and of a receipt, and the likely cause.
fn describe_unmatched(
    receipts: u64,
    unmatched: u64,
    (answer, receipt): (Option<&RemoteId>, Option<&RemoteId>),
    cause: UnmatchedCause,
) -> String {
    let shape = |id: Option<&RemoteId>| id.map_or("(none)".to_owned(), |id| format!("{:?}", id.to_text()));
    format!(
        "{unmatched} of {receipts} receipts in five minutes match no part: example id in a submit_sm_resp {}, in a receipt {}; {}",
        shape(answer),
        shape(receipt),
        cause.advice()
    )
}

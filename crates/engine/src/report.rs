//! Reports the status of messages to customers. A report's row is written in the transaction of the change that it
//! reports, and is deleted when the customer has accepted it or when it is given up. Where to report is kept in memory
//! with the message (`state/report_target.rs`), so the end of a message needs no read, and a message without reports
//! writes nothing.

use crate::batch::{ALL_ROWS, Batch};
use crate::ops::{
    AnsweredReport, DlrReport, FinishedReports, GIVEN_UP_KEPT, GivenUpReport, REPORT_KEPT, Report,
    ReportContent, ReportGiveUpReason, ReportId,
};
use crate::set_aside;
use crate::state::report_target::{Customer, ReportTarget};
use crate::steps::StepKind;
use crate::tables::{
    MessageKey, ReportChange, ReportRange, RowChange, StoredReport, TableError, Tables, UnreadableReport,
};
use crate::webhooks::{self, StatusChange, has_webhook};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId, PartNo};
use hermod_domain::lifecycle::{MessageState, PartEvent, PartState, Progress, StateChange};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;

/// Reports that are given up or deleted in one transaction.
pub const REPORTS_PER_WRITE: usize = 500;

/// Returns the highest id that a stored or given-up report has; 0 if there is none. Ids start after it.
pub fn last_id(tables: &Tables<'_>) -> Result<u64, TableError> {
    let last = tables.read()?.last_report()?.max(tables.read()?.last_given_up_report()?);
    Ok(last.map_or(0, |id| id.0))
}

/// How a status is reported to a customer who submits over SMPP.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReportChannel {
    /// Over the binds of the connection, if registered_delivery asks for it.
    Bind,
    /// By webhook, independent of registered_delivery: the customer only transmits and has no receiver bound.
    Webhook,
    Both,
}

/// Returns the status that an event makes reportable, whether or not a customer asked for it; none if the customer's
/// view does not change.
pub fn status_to_report(event: PartEvent, before: &Progress, moved: &StateChange) -> Option<ReportStatus> {
    let StateChange { after, dlr, .. } = moved;
    let code = (*dlr)?;
    if after.state.is_final() {
        return Some(ReportStatus::Final(code));
    }
    if event == PartEvent::ReceiptOverdue {
        // Once for the message, not for each of its parts.
        let first = !before.parts.iter().any(|part| part.state == PartState::Overdue);
        return first.then_some(ReportStatus::Final(DlrCode::Unknown));
    }
    if before.state == after.state || after.state != MessageState::Enroute {
        return None;
    }
    Some(match event {
        PartEvent::Receipt(verdict) => verdict.notice(),
        // Another part was enroute before, and only now all parts are accepted.
        PartEvent::Claimed
        | PartEvent::Released
        | PartEvent::Accepted
        | PartEvent::Deferred
        | PartEvent::Rejected(_)
        | PartEvent::NoResponse(_)
        | PartEvent::ValidityEnded
        | PartEvent::ReceiptOverdue
        | PartEvent::Withdrawn => ReportStatus::Enroute,
    })
}

/// Writes the report or the webhook event about a status, if the customer gets one. Reads the report target from
/// the message's row if it is not in memory.
pub fn write_status(
    batch: &mut Batch<'_>,
    key: MessageKey,
    status: ReportStatus,
    after: &Progress,
    err: u16,
    report_target: &mut ReportTarget,
) -> Result<(), TableError> {
    if matches!(report_target, ReportTarget::Unread) {
        *report_target = match batch.tables.read()?.message_origin(key.message) {
            Ok(origin) => ReportTarget::of_row(origin),
            Err(error) => {
                set_aside::list_unreadable(batch, key, error)?;
                ReportTarget::None
            }
        };
    }
    let customer = match report_target {
        ReportTarget::Customer(customer) => customer,
        ReportTarget::Web(connection) => {
            if has_webhook(&batch.catalogue, key.account, WebhookKind::Dlr) {
                webhooks::add_dlr(batch, status_change(batch, key, *connection, status, err))?;
            }
            return Ok(());
        }
        ReportTarget::None | ReportTarget::Unread => return Ok(()),
    };
    let Customer { connection, alias, origin, parts } = &**customer;
    let channel = channel_for(batch, key.account, customer, status);
    if channel != ReportChannel::Bind {
        webhooks::add_dlr(batch, status_change(batch, key, *connection, status, err))?;
    }
    if channel == ReportChannel::Webhook || !origin.registered_delivery.asks_for(status) {
        return Ok(());
    }
    let content = ReportContent::Dlr(DlrReport {
        alias: *alias,
        origin: origin.clone(),
        status,
        err,
        parts: *parts,
        delivered: delivered(after, *parts),
    });
    write(batch, key.account, *connection, key.message, content, channel)
}

/// Writes a report for the binds of a connection.
pub fn write(
    batch: &mut Batch<'_>,
    account: AccountId,
    connection: ConnectionId,
    message: MessageId,
    content: ReportContent,
    channel: ReportChannel,
) -> Result<(), TableError> {
    batch.state.last_report += 1;
    let id = ReportId(batch.state.last_report);
    let has_webhook_event = match &content {
        ReportContent::Dlr(_) => channel == ReportChannel::Both,
        ReportContent::Inbound(_) => true,
    };
    if let ReportContent::Dlr(DlrReport { status, .. }) = &content {
        let step = StepKind::Reported { connection, report: id, status: *status };
        batch.add_step(message, PartNo::FIRST, step);
    }
    let report = Report { id, account, connection, message, at: batch.now, content };
    batch.tables.write(ReportChange::Add { report: report.clone(), has_webhook_event });
    batch.results.tally.reports += 1;
    batch.results.reports.push(report);
    Ok(())
}

fn status_change(
    batch: &Batch<'_>,
    key: MessageKey,
    connection: ConnectionId,
    status: ReportStatus,
    err: u16,
) -> StatusChange {
    let MessageKey { account, message, .. } = key;
    StatusChange { account, message, connection, status, err, at: batch.now }
}

/// Returns how a status is reported to a customer.
fn channel_for(
    batch: &Batch<'_>,
    account: AccountId,
    customer: &Customer,
    status: ReportStatus,
) -> ReportChannel {
    let Customer { connection, origin, .. } = customer;
    let receivers = batch.receivers;
    // A status that registered_delivery does not ask for is never a row, so it cannot move to the webhook later.
    let has_no_receiver = || {
        receivers.away_since(*connection, batch.now).is_some()
            || (!origin.registered_delivery.asks_for(status) && !receivers.is_bound(*connection))
    };
    if !has_webhook(&batch.catalogue, account, WebhookKind::Dlr) {
        ReportChannel::Bind
    } else if origin.on_transmitter && has_no_receiver() {
        ReportChannel::Webhook
    } else if batch.catalogue.connection(*connection).is_some_and(|found| found.webhooks_too) {
        ReportChannel::Both
    } else {
        ReportChannel::Bind
    }
}

/// Deletes the reports that customers accepted, and gives up those that they refused.
pub fn finish(batch: &mut Batch<'_>, finished: &FinishedReports) -> Result<(), TableError> {
    let FinishedReports { connection, accepted, refused, answered, now } = finished;
    batch.advance_to(*now);
    for run in accepted.chunk_by(|one, next| one.0 + 1 == next.0) {
        let (first, last) = (run[0], run[run.len() - 1]);
        batch.accepted_reports.push(ReportRange { connection: *connection, first, last });
    }
    if !refused.is_empty() {
        delete_accepted(batch)?;
    }
    let mut gone = 0;
    for (id, status) in refused {
        gone += give_up(batch, *connection, *id, ReportGiveUpReason::Refused(*status))?;
    }
    for AnsweredReport { report, message, status } in answered.iter().copied() {
        let connection = *connection;
        batch.add_step(message, PartNo::FIRST, StepKind::ReportAnswered { connection, report, status });
    }
    batch.note_reports_gone(*connection, gone);
    Ok(())
}

/// Deletes the reports that were accepted so far in this batch, all together: on a server each read is a round trip.
pub fn delete_accepted(batch: &mut Batch<'_>) -> Result<(), TableError> {
    let ranges = joined(std::mem::take(&mut batch.accepted_reports));
    if ranges.is_empty() {
        return Ok(());
    }
    let counts = batch.tables.read()?.count_reports(&ranges)?;
    for (range, deleted) in ranges.into_iter().zip(counts) {
        let ReportRange { connection, first, last } = range;
        batch.tables.write(ReportChange::Delete { connection, first, last });
        if deleted < range.ids() {
            // Given up while it was in flight, and accepted after all.
            let ids = first.0.cast_signed()..=last.0.cast_signed();
            let of = i64::from(connection.get());
            batch.tables.write(RowChange::<GivenUpReport>::delete_in([("connection", of..=of), ("id", ids)]));
        }
        batch.results.tally.reports_accepted += deleted;
        batch.note_reports_gone(connection, deleted);
    }
    Ok(())
}

/// Gives up a report: deletes it and lists it as given up, if its account is known. Returns 1, or 0 if there is no
/// such report.
fn give_up(
    batch: &mut Batch<'_>,
    connection: ConnectionId,
    id: ReportId,
    reason: ReportGiveUpReason,
) -> Result<u64, TableError> {
    match batch.tables.read()?.report(connection, id) {
        Ok(Some(StoredReport { account: Some(account), message, status, at, .. })) => {
            let given_up_at = batch.now;
            let given_up =
                GivenUpReport { id, account, connection, message, status, at, given_up_at, reason };
            batch.tables.write(RowChange::Put(given_up));
        }
        Ok(Some(StoredReport { account: None, .. })) => {}
        Ok(None) => return Ok(0),
        Err(error) if error.is_unreadable() => {
            batch.results.unreadable_reports.push(UnreadableReport { connection, report: id, error });
        }
        Err(error) => return Err(error),
    }
    batch.tables.write(ReportChange::Delete { connection, first: id, last: id });
    batch.results.tally.reports_given_up += 1;
    Ok(1)
}

/// Gives up the reports of a connection that waited longer than [`REPORT_KEPT`], a bounded number of them. Returns
/// which. Ids are in the order of time, so the search ends at the first younger report.
pub fn give_up_old(
    batch: &mut Batch<'_>,
    connection: ConnectionId,
    now: Timestamp,
) -> Result<Vec<ReportId>, TableError> {
    batch.advance_to(now);
    let oldest = batch.tables.read()?.first_reports(connection, now.minus(REPORT_KEPT), REPORTS_PER_WRITE)?;
    let mut gone = 0;
    for id in &oldest {
        gone += give_up(batch, connection, *id, ReportGiveUpReason::TooOld)?;
    }
    batch.note_reports_gone(connection, gone);
    if oldest.is_empty() && !batch.tables.read()?.has_reports(connection)? {
        batch.results.reports_gone.push((connection, ALL_ROWS));
    }
    Ok(oldest)
}

/// Deletes some reports that were listed as given up for [`GIVEN_UP_KEPT`]. Returns how many. They are found by
/// their creation time, which is the order of their ids; they were given up at most [`REPORT_KEPT`] later.
pub fn forget_given_up(batch: &mut Batch<'_>, now: Timestamp) -> Result<usize, TableError> {
    batch.advance_to(now);
    let too_old = now.minus(GIVEN_UP_KEPT + REPORT_KEPT);
    let oldest = batch.tables.read()?.first_given_up_reports(too_old, REPORTS_PER_WRITE)?;
    if let (Some(first), Some(last)) = (oldest.first(), oldest.last()) {
        let ids = first.0.cast_signed()..=last.0.cast_signed();
        batch.tables.write(RowChange::<GivenUpReport>::delete_in([("id", ids)]));
    }
    Ok(oldest.len())
}

/// Joins ranges that touch or overlap. Customers mostly answer in the order of the reports, so few are left.
fn joined(mut ranges: Vec<ReportRange>) -> Vec<ReportRange> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let joins = range.connection == next.connection && next.first.0 <= range.last.0 + 1;
        if joins {
            range.last = range.last.max(next.last);
        }
        joins
    });
    ranges
}

/// Returns how many of the parts that the customer was charged for were delivered. A carrier that takes a message whole
/// has one part for all of them.
fn delivered(after: &Progress, parts: u8) -> u8 {
    if after.state == MessageState::Delivered {
        return parts;
    }
    let delivered = after.parts.iter().filter(|part| part.state == PartState::Delivered).count();
    u8::try_from(delivered).unwrap_or(u8::MAX).min(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_or_overlap_are_joined() {
        let range = |connection, first, last| ReportRange {
            connection: ConnectionId::new(connection),
            first: ReportId(first),
            last: ReportId(last),
        };
        let ranges = [(1, 17, 32), (2, 33, 40), (1, 1, 16), (1, 34, 34), (2, 1, 1), (1, 30, 31), (2, 33, 35)];
        let ranges = ranges.map(|(connection, first, last)| range(connection, first, last)).to_vec();
        assert_eq!(joined(ranges), [range(1, 1, 32), range(1, 34, 34), range(2, 1, 1), range(2, 33, 40)]);
    }
}

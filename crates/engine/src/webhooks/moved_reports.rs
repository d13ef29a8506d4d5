//! Moves reports of connections without a receiver to the account's webhook.

use crate::batch::Batch;
use crate::ops::ReportId;
use crate::tables::{ReportChange, StoredReport, TableError, UnreadableReport};
use crate::webhooks::{self, StatusChange, tells_by_webhook};
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;

/// Replaces reports of a connection by webhook events. Returns which were moved; none at all, without looking at
/// them, if a receiver is bound again or the account has no webhook any more.
pub fn move_to_webhook(
    batch: &mut Batch<'_>,
    connection: ConnectionId,
    reports: &[ReportId],
    now: Timestamp,
) -> Result<Option<Vec<ReportId>>, TableError> {
    batch.advance_to(now);
    let away = batch.receivers.away_since(connection, now).is_some();
    if !away || !tells_by_webhook(&batch.catalogue, connection) {
        return Ok(None);
    }
    let mut moved = Vec::with_capacity(reports.len());
    for report in reports {
        let change = match status_change_of(batch, connection, *report) {
            Ok(Some(change)) => change,
            Ok(None) => continue,
            // It must not hold up the others. It waits for a bind, and is given up in the end.
            Err(error) if error.is_unreadable() => {
                batch.results.unreadable_reports.push(UnreadableReport {
                    connection,
                    report: *report,
                    error,
                });
                continue;
            }
            Err(error) => return Err(error),
        };
        webhooks::add_dlr(batch, change)?;
        batch.tables.write(ReportChange::Delete { connection, first: *report, last: *report });
        moved.push(*report);
    }
    let gone = u64::try_from(moved.len()).unwrap_or(0);
    batch.results.tally.reports_moved += gone;
    batch.note_reports_gone(connection, gone);
    Ok(Some(moved))
}

/// Returns the status change that a report is about; none if the report is gone, or reports no status.
fn status_change_of(
    batch: &Batch<'_>,
    connection: ConnectionId,
    report: ReportId,
) -> Result<Option<StatusChange>, TableError> {
    let Some(found) = batch.tables.read()?.report(connection, report)? else { return Ok(None) };
    let StoredReport { account: Some(account), message, status: Some(status), err, at } = found else {
        return Ok(None);
    };
    Ok(Some(StatusChange { account, message, connection, status, err, at }))
}

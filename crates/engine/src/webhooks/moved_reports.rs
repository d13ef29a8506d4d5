//! Reports that nobody is there to take become webhook events.

use crate::batch::Batch;
use crate::ops::ReportId;
use crate::tables::{ReportChange, StoredReport, TableError, UnreadableReport};
use crate::webhooks::{StatusChange, tells_by_webhook};
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    /// In one transaction each is a report no more and an event instead. Nothing, if somebody came meanwhile, or there is no
    /// webhook any more: then they were not even looked at.
    pub fn move_to_webhook(
        &mut self,
        connection: ConnectionId,
        reports: &[ReportId],
        now: Timestamp,
    ) -> Result<Option<Vec<ReportId>>, TableError> {
        self.advance_to(now);
        let away = self.receivers.away_since(connection, now).is_some();
        if !away || !tells_by_webhook(&self.catalogue, connection) {
            return Ok(None);
        }
        let mut moved = Vec::with_capacity(reports.len());
        for report in reports {
            let change = match self.status_change_of(connection, *report) {
                Ok(Some(change)) => change,
                Ok(None) => continue,
                // It must not keep the others from being status. It waits for a bind, and is given up in the end.
                Err(error) if error.is_unreadable() => {
                    self.unreadable_reports.push(UnreadableReport { connection, report: *report, error });
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.add_dlr_event(change)?;
            self.tables.write(ReportChange::Delete { connection, first: *report, last: *report });
            moved.push(*report);
        }
        self.tally.reports_moved += u64::try_from(moved.len()).unwrap_or(0);
        self.reports_gone(connection, moved.len());
        Ok(Some(moved))
    }

    /// Nothing if it has been taken or given up meanwhile, or its message is not kept any more.
    fn status_change_of(&self, connection: ConnectionId, report: ReportId) -> Result<Option<StatusChange>, TableError> {
        let Some(found) = self.tables.read()?.report(connection, report)? else { return Ok(None) };
        let StoredReport { account: Some(account), message, status: Some(status), err, at } = found else {
            return Ok(None);
        };
        Ok(Some(StatusChange { account, message, connection, status, err, at }))
    }
}

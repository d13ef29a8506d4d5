//! Reports that wait for a bind.

use super::{MemoryTables, Rows};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Report, ReportContent, ReportId};
use hermod_engine::tables::{ReportChange, ReportRange, ReportRows, StoredReport, TableError};
use std::collections::BTreeSet;

/// The row of a report.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) message: MessageId,
    told: Option<ReportStatus>,
    err: u16,
    delivered: u8,
    at: Timestamp,
    /// Only of a report that brings an MO message.
    pub(super) account: Option<AccountId>,
    pub(super) inbound: Option<u64>,
    has_webhook_event: bool,
}

impl Row {
    fn new(report: &Report, has_webhook_event: bool) -> Row {
        let Report { id: _, account, connection: _, message, at, content: news } = report;
        let (message, at) = (*message, *at);
        match news {
            ReportContent::Dlr(news) => Row {
                message,
                told: Some(news.status),
                err: news.err,
                delivered: news.delivered,
                at,
                account: None,
                inbound: None,
                has_webhook_event,
            },
            ReportContent::Inbound(number) => Row {
                message,
                told: None,
                err: 0,
                delivered: 0,
                at,
                account: Some(*account),
                inbound: Some(*number),
                has_webhook_event,
            },
        }
    }
}

impl Rows {
    /// Returns the reports of a connection from one id to another, both included.
    fn reports_between(
        &self,
        connection: ConnectionId,
        first: ReportId,
        last: ReportId,
    ) -> impl Iterator<Item = (&(u32, u64), &Row)> {
        // Ids that are the wrong way round name no report.
        let last = last.0;
        self.report
            .range((connection.get(), first.0)..=(connection.get(), u64::MAX))
            .take_while(move |((_, id), _)| *id <= last)
    }
}

impl ReportRows for MemoryTables {
    fn change_report(&self, change: &ReportChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            ReportChange::Add { report, has_webhook_event } => {
                rows.report.add((report.connection.get(), report.id.0), Row::new(report, *has_webhook_event));
            }
            ReportChange::Delete { connection, first, last } => {
                let keys = rows.reports_between(*connection, *first, *last).map(|(key, _)| *key).collect();
                rows.report.delete_all(keys);
            }
        }
        Ok(())
    }

    fn connections_with_reports(&self) -> Result<Vec<ConnectionId>, TableError> {
        let rows = self.read();
        let connections: BTreeSet<u32> = rows.report.keys().map(|(connection, _)| *connection).collect();
        Ok(connections.into_iter().map(ConnectionId::new).collect())
    }

    fn last_report(&self) -> Result<Option<ReportId>, TableError> {
        Ok(self.read().report.keys().map(|(_, id)| ReportId(*id)).max())
    }

    fn has_reports(&self, connection: ConnectionId) -> Result<bool, TableError> {
        let rows = self.read();
        Ok(rows.reports_between(connection, ReportId(0), ReportId(u64::MAX)).next().is_some())
    }

    fn report(&self, connection: ConnectionId, id: ReportId) -> Result<Option<StoredReport>, TableError> {
        let rows = self.read();
        let Some(row) = rows.report.get(&(connection.get(), id.0)) else { return Ok(None) };
        let of_message = || rows.message.get(&row.message.as_i64()).map(|message| message.account);
        let account = row.account.or_else(of_message);
        Ok(Some(StoredReport { account, message: row.message, status: row.told, err: row.err, at: row.at }))
    }

    fn count_reports(&self, ranges: &[ReportRange]) -> Result<Vec<u64>, TableError> {
        let rows = self.read();
        let count = |ReportRange { connection, first, last }: &ReportRange| {
            u64::try_from(rows.reports_between(*connection, *first, *last).count()).expect("a few")
        };
        Ok(ranges.iter().map(count).collect())
    }

    fn first_reports(
        &self,
        connection: ConnectionId,
        newest: Timestamp,
        limit: usize,
    ) -> Result<Vec<ReportId>, TableError> {
        let rows = self.read();
        let reports = rows.reports_between(connection, ReportId(0), ReportId(u64::MAX));
        let first = reports.take(limit).take_while(|(_, row)| row.at <= newest);
        Ok(first.map(|((_, id), _)| ReportId(*id)).collect())
    }
}

//! Test support: an outbox, the rows of its connection in a map, and a clock.

use crate::ops::{DlrReport, REPORTS_IN_MEMORY_MAX, Report, ReportContent, ReportId, ReportOutcome};
use crate::outbox::{NextReports, Outbox, PortNo, REPORTS_IN_ALL_MAX, Refill};
use crate::tables::ReportPage;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::origin::{Origin, RegisteredDelivery, SmppAddress};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::time::Timestamp;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) const DELIVERED: ReportStatus = ReportStatus::Final(DlrCode::Delivrd);
pub(super) const UNKNOWN: ReportStatus = ReportStatus::Final(DlrCode::Unknown);
pub(super) const ONE: PortNo = PortNo(1);
pub(super) const TWO: PortNo = PortNo(2);

pub(super) fn report(id: u64, message: i64, status: ReportStatus) -> Report {
    Report {
        id: ReportId(id),
        account: AccountId::new(1),
        connection: ConnectionId::new(1),
        message: MessageId::from_i64(1_000_000_000_000_000 + message).expect("an id"),
        at: Timestamp::EPOCH,
        content: ReportContent::Dlr(DlrReport {
            alias: None,
            origin: Arc::new(Origin {
                registered_delivery: RegisteredDelivery::from_octet(0x11),
                short_id: false,
                on_transmitter: false,
                reference: None,
                source: SmppAddress::default(),
                destination: SmppAddress::default(),
                quote: smallvec::SmallVec::new(),
            }),
            status,
            err: 0,
            parts: 1,
            delivered: 0,
        }),
    }
}

/// An outbox, the rows of its connection and a clock.
pub(super) struct Table {
    pub(super) state: Outbox,
    pub(super) rows: BTreeMap<ReportId, Report>,
    pub(super) now: Timestamp,
    written: u64,
    /// The disk is full: ends are not written.
    pub(super) is_full: bool,
    pub(super) answered: Vec<ReportId>,
    /// Messages that have ended, for reads of the overflow.
    ended: HashSet<MessageId>,
}

impl Table {
    pub(super) fn with_ports(ports: &[PortNo]) -> Table {
        let mut state = Outbox::with_rows_up_to(ReportId(0));
        ports.iter().for_each(|port| state.open(*port));
        let (rows, answered, ended) = (BTreeMap::new(), Vec::new(), HashSet::new());
        Table { state, rows, now: Timestamp::EPOCH, written: 0, is_full: false, answered, ended }
    }

    pub(super) fn writes(&mut self, message: i64, status: ReportStatus) -> u64 {
        self.written += 1;
        let report = report(self.written, message, status);
        if status == DELIVERED {
            self.ended.insert(report.message);
        }
        self.rows.insert(report.id, report.clone());
        self.state.put(report, REPORTS_IN_ALL_MAX);
        assert!(self.state.in_memory() <= REPORTS_IN_MEMORY_MAX);
        self.written
    }

    pub(super) fn takes(&mut self, port: PortNo, most: usize) -> Vec<u64> {
        loop {
            match self.state.take(port, most, REPORTS_IN_ALL_MAX, self.now) {
                NextReports::Reports(reports) => return reports.iter().map(|report| report.id.0).collect(),
                NextReports::Read(refill) => {
                    self.reads(refill);
                    self.state.read_ended();
                }
                NextReports::Nothing => return Vec::new(),
            }
        }
    }

    pub(super) fn reads(&mut self, refill: Refill) {
        let behind = self.rows.range(ReportId(refill.after.0 + 1)..);
        let reports: Vec<Report> = behind.take(refill.limit).map(|(_, report)| report.clone()).collect();
        let ended = reports.iter().filter(|report| self.ended.contains(&report.message));
        let ended = ended.map(|report| (report.id, DELIVERED)).collect();
        let (rows, last) = (reports.len(), reports.last().map(|report| report.id));
        self.state.refill(refill, ReportPage { reports, rows, last, ended }, self.now);
        assert!(self.state.in_memory() <= REPORTS_IN_MEMORY_MAX);
    }

    pub(super) fn settles(&mut self, port: PortNo, ids: &[u64], delivery: ReportOutcome) {
        let outcomes = ids.iter().map(|id| (ReportId(*id), delivery)).collect();
        let settled = self.state.settle(port, outcomes, self.now);
        let refused = settled.refused.iter().map(|(id, _)| *id);
        self.ends(settled.accepted.iter().copied().chain(refused).collect());
    }

    /// The writer writes these ends, unless the disk is full.
    pub(super) fn ends(&mut self, ids: Vec<ReportId>) {
        self.answered.extend(ids);
        if !self.is_full {
            self.answered.iter().for_each(|id| drop(self.rows.remove(id)));
            self.state.written(self.answered.drain(..));
        }
    }

    /// Closes a port. `can_tell`: whether the writer learns what was superseded.
    pub(super) fn closes(&mut self, port: PortNo, can_tell: bool) {
        self.state.close(port, self.now);
        if can_tell {
            let superseded = self.state.take_superseded();
            self.ends(superseded);
        }
    }

    pub(super) fn gives_up(&mut self, id: u64) {
        self.rows.remove(&ReportId(id));
        self.state.drop_report(ReportId(id));
    }

    pub(super) fn passes(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
        self.state.release_due(self.now);
    }
}

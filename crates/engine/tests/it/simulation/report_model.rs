//! The model of reports over binds: each waits until its customer accepts or rejects it, until it is too old, or until it
//! moves to a webhook.

use super::model::Model;
use super::report_channels::Telling;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::commands::MoveToWebhook;
use hermod_engine::ops::{
    Endpoint, FinishedReports, GIVEN_UP_KEPT, REPORT_KEPT, Report, ReportContent, ReportId,
};
use std::collections::BTreeMap;

/// Reports given up or forgotten by one command.
const REPORTS_PER_COMMAND: usize = 500;

/// A report that waits.
#[derive(Clone, Copy)]
pub(super) struct WaitingReport {
    pub(super) telling: Telling,
    pub(super) at: Timestamp,
    /// Whether it may move to the webhook while no receiver is bound.
    pub(super) can_move: bool,
}

/// A report that must be among those of a batch.
struct Expected {
    connection: ConnectionId,
    telling: Telling,
    can_move: bool,
}

#[derive(Default)]
pub(super) struct ReportModel {
    pub(super) waiting: BTreeMap<(ConnectionId, ReportId), WaitingReport>,
    pub(super) given_up: BTreeMap<ReportId, (ConnectionId, Timestamp)>,
    expected: Vec<Expected>,
}

impl ReportModel {
    pub(super) fn expect(&mut self, connection: ConnectionId, telling: Telling, can_move: bool) {
        self.expected.push(Expected { connection, telling, can_move });
    }

    /// Checks that the reports of a batch are exactly the expected ones.
    pub(super) fn check_batch(&mut self, reports: &[Report]) {
        for report in reports {
            let telling = match &report.content {
                ReportContent::Dlr(dlr) => Telling::Became(report.message, dlr.status),
                ReportContent::Inbound(number) => Telling::Mo(report.account, *number),
            };
            let is_it =
                |expected: &Expected| (expected.connection, expected.telling) == (report.connection, telling);
            let place = self.expected.iter().position(is_it);
            let place = place.unwrap_or_else(|| panic!("an unexpected report: {report:?}"));
            let Expected { connection, can_move, .. } = self.expected.remove(place);
            let row = WaitingReport { telling, at: report.at, can_move };
            let there = self.waiting.insert((connection, report.id), row);
            assert!(there.is_none(), "{:?} waits and is given again", report.id);
        }
        let missing: Vec<_> = self.expected.iter().map(|expected| expected.telling).collect();
        assert!(missing.is_empty(), "not reported: {missing:?}");
    }

    /// Returns the first reports of a connection.
    pub(super) fn first(&self, connection: ConnectionId) -> impl Iterator<Item = (ReportId, &WaitingReport)> {
        let all = (connection, ReportId(0))..=(connection, ReportId(u64::MAX));
        self.waiting.range(all).map(|((_, id), report)| (*id, report))
    }
}

impl Model {
    /// Applies the customer's responses to reports.
    pub(super) fn end_reports(&mut self, ends: &FinishedReports) {
        let FinishedReports { connection, accepted: taken, refused, .. } = ends;
        for run in taken.chunk_by(|one, next| one.0 + 1 == next.0) {
            let removed: usize = run
                .iter()
                .map(|id| usize::from(self.reports.waiting.remove(&(*connection, *id)).is_some()))
                .sum();
            if removed < run.len() {
                run.iter().for_each(|id| {
                    self.reports.given_up.remove(id);
                });
            }
        }
        for (id, _) in refused {
            self.give_up_report(*connection, *id);
        }
    }

    /// Lists a report as given up, if its account is known.
    fn give_up_report(&mut self, connection: ConnectionId, id: ReportId) {
        let Some(report) = self.reports.waiting.remove(&(connection, id)) else { return };
        let is_known = match report.telling {
            Telling::Became(message, _) => self.messages.contains_key(&message),
            Telling::Mo(..) => true,
        };
        if is_known {
            self.reports.given_up.insert(id, (connection, report.at));
        }
    }

    /// Gives up the reports of a connection that are too old. Returns their ids.
    pub(super) fn give_up_old_reports(&mut self, connection: ConnectionId) -> Vec<ReportId> {
        let newest = self.now.minus(REPORT_KEPT);
        let first = self.reports.first(connection).take(REPORTS_PER_COMMAND);
        let old: Vec<ReportId> =
            first.take_while(|(_, report)| report.at <= newest).map(|(id, _)| id).collect();
        old.iter().for_each(|id| self.give_up_report(connection, *id));
        old
    }

    /// Deletes reports that were given up long ago. Returns the count.
    pub(super) fn forget_given_up(&mut self) -> usize {
        let newest = self.now.minus(GIVEN_UP_KEPT + REPORT_KEPT);
        let given_up = self.reports.given_up.iter().take(REPORTS_PER_COMMAND);
        let old: Vec<ReportId> =
            given_up.take_while(|(_, (_, at))| *at <= newest).map(|(id, _)| *id).collect();
        self.reports.given_up.retain(|id, _| !old.contains(id));
        old.len()
    }

    /// Moves reports to the webhook. Returns their ids.
    pub(super) fn move_to_webhook(&mut self, command: &MoveToWebhook) -> Option<Vec<ReportId>> {
        let MoveToWebhook { connection, reports, .. } = command;
        let account = AccountId::new(connection.get());
        if !self.receivers.is_away(*connection) || !self.setup().has_webhook(account, WebhookKind::Dlr) {
            return None;
        }
        let mut moved = Vec::new();
        for id in reports {
            let Some(report) = self.reports.waiting.get(&(*connection, *id)) else { continue };
            let Telling::Became(message, _) = report.telling else { continue };
            if !self.messages.contains_key(&message) {
                continue;
            }
            self.webhooks.expect(Endpoint { account, kind: WebhookKind::Dlr }, report.telling);
            self.reports.waiting.remove(&(*connection, *id));
            moved.push(*id);
        }
        Some(moved)
    }
}

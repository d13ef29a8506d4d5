//! What customers are to be told. A report's row is written in the transaction of the change it tells, and goes when its
//! customer has answered, or when it is given up. Whom to tell is remembered with the message while it is under way, so
//! that its end costs no look-up, and nothing at all where nobody asked.

use crate::batch::Batch;
use crate::ops::{GivenUp, GivenUpWhy, MessageNews, News, Report, ReportEnds, ReportId};
use crate::state::audience::{Audience, Customer};
use crate::steps::StepKind;
use crate::tables::{
    GivenUpReportChange, Place, ReportChange, StoredReport, TableError, Tables, UnreadableReport,
};
use crate::webhooks::{Became, has_webhook};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId, PartNo};
use hermod_domain::lifecycle::{Event, MessageState, Moved, PartState, Progress};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::webhook::WebhookKind;

/// Returns the highest id that was ever given to a report and is still known.
pub fn last_id(tables: &Tables<'_>) -> Result<u64, TableError> {
    let last = tables.read()?.last_report()?.max(tables.read()?.last_given_up_report()?);
    Ok(last.map_or(0, |id| id.0))
}

/// How a customer who submits over SMPP is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// What they asked for, to whoever is bound.
    Bind,
    /// Everything, by webhook: they only transmit, and nobody is there to take it.
    Webhook,
    Both,
}

/// What an event is worth telling, whether or not anyone asked.
pub fn news(event: Event, before: &Progress, moved: &Moved) -> Option<ReportStatus> {
    let Moved { after, dlr, .. } = moved;
    let code = (*dlr)?;
    if after.state.is_final() {
        return Some(ReportStatus::Final(code));
    }
    if event == Event::ReceiptOverdue {
        // Once for the message, not for each of its parts.
        let first = !before.parts.iter().any(|part| part.state == PartState::Overdue);
        return first.then_some(ReportStatus::Final(DlrCode::Unknown));
    }
    if before.state == after.state || after.state != MessageState::Enroute {
        return None;
    }
    Some(match event {
        Event::Receipt(verdict) => verdict.notice(),
        // Another part was enroute already, and only now all of them have left.
        Event::Claimed
        | Event::Released
        | Event::Accepted
        | Event::Deferred
        | Event::Refused(_)
        | Event::NoAnswer(_)
        | Event::ValidityEnded
        | Event::ReceiptOverdue
        | Event::Withdrawn => ReportStatus::Enroute,
    })
}

impl Batch<'_> {
    /// Writes down that a customer is to be told, if that is news to them.
    pub fn tell(
        &mut self,
        place: Place,
        told: ReportStatus,
        after: &Progress,
        err: u16,
        audience: &mut Audience,
    ) -> Result<(), TableError> {
        if matches!(audience, Audience::Unread) {
            *audience = match self.tables.read()?.message_origin(place.message) {
                Ok(origin) => Audience::of_row(origin),
                Err(error) => {
                    self.set_message_aside(place, error)?;
                    Audience::Nobody
                }
            };
        }
        let customer = match audience {
            Audience::Customer(customer) => customer,
            Audience::Web(connection) => {
                if has_webhook(&self.catalogue, place.account, WebhookKind::Dlr) {
                    self.webhook_dlr(self.became(place, *connection, told, err))?;
                }
                return Ok(());
            }
            Audience::Nobody | Audience::Unread => return Ok(()),
        };
        let Customer { connection, alias, origin, parts } = &**customer;
        let way = self.way_to(place.account, customer, told);
        if way != Way::Bind {
            self.webhook_dlr(self.became(place, *connection, told, err))?;
        }
        if way == Way::Webhook || !origin.wish.wants(told) {
            return Ok(());
        }
        let news = News::Message(MessageNews {
            alias: *alias,
            origin: origin.clone(),
            told,
            err,
            parts: *parts,
            delivered: delivered(after, *parts),
        });
        self.report(place.account, *connection, place.message, news, way)
    }

    /// A customer is to be told something over SMPP.
    pub fn report(
        &mut self,
        account: AccountId,
        connection: ConnectionId,
        message: MessageId,
        news: News,
        way: Way,
    ) -> Result<(), TableError> {
        self.books.last_report += 1;
        let id = ReportId(self.books.last_report);
        let is_hooked = match &news {
            News::Message(_) => way == Way::Both,
            News::Inbound(_) => true,
        };
        if let News::Message(MessageNews { told, .. }) = &news {
            let step = StepKind::Reported { connection, report: id, told: *told };
            self.add_step(message, PartNo::FIRST, step);
        }
        let report = Report { id, account, connection, message, at: self.now, news };
        self.tables.write(ReportChange::Add { report: report.clone(), is_hooked });
        self.tally.reports += 1;
        self.reports.push(report);
        Ok(())
    }

    fn became(&self, place: Place, connection: ConnectionId, told: ReportStatus, err: u16) -> Became {
        let Place { account, message, .. } = place;
        Became { account, message, connection, told, err, at: self.now }
    }

    fn way_to(&self, account: AccountId, customer: &Customer, told: ReportStatus) -> Way {
        let Customer { connection, origin, .. } = customer;
        let receivers = self.receivers;
        // What a bind is not to be told cannot wait for one, and move to the webhook later.
        let nobody = || {
            receivers.away_since(*connection, self.now).is_some()
                || (!origin.wish.wants(told) && !receivers.is_bound(*connection))
        };
        if !has_webhook(&self.catalogue, account, WebhookKind::Dlr) {
            Way::Bind
        } else if origin.on_transmitter && nobody() {
            Way::Webhook
        } else if self.catalogue.connection(*connection).is_some_and(|found| found.webhooks_too) {
            Way::Both
        } else {
            Way::Bind
        }
    }

    /// What customers have answered to.
    pub fn end_reports(&mut self, ends: &ReportEnds) -> Result<(), TableError> {
        let ReportEnds { connection, taken, refused, now } = ends;
        self.at(*now);
        let mut gone = 0;
        // Most often a connection's reports are answered in the order they were told, so few deletions do.
        for run in taken.chunk_by(|one, next| one.0 + 1 == next.0) {
            let (first, last) = (run[0], run[run.len() - 1]);
            let deleted = self.tables.read()?.count_reports(*connection, first, last)?;
            self.tables.write(ReportChange::Delete { connection: *connection, first, last });
            if deleted < run.len() {
                // Given up while it was on its way, and taken after all.
                let connection = *connection;
                self.tables.write(GivenUpReportChange::DeleteRange { connection, first, last });
            }
            gone += deleted;
        }
        self.tally.reports_taken += u64::try_from(gone).unwrap_or(0);
        for (id, status) in refused {
            gone += self.give_up_report(*connection, *id, GivenUpWhy::Refused(*status))?;
        }
        self.reports_gone(*connection, gone);
        Ok(())
    }

    /// Gives up a report: it is listed, if it is known whose it is. Returns 1, or 0 if there is no such report any more.
    pub fn give_up_report(
        &mut self,
        connection: ConnectionId,
        id: ReportId,
        why: GivenUpWhy,
    ) -> Result<usize, TableError> {
        match self.tables.read()?.report(connection, id) {
            Ok(Some(StoredReport { account: Some(account), message, told, at, .. })) => {
                let given_up_at = self.now;
                let given_up = GivenUp { id, account, connection, message, told, at, given_up_at, why };
                self.tables.write(GivenUpReportChange::Put(given_up));
            }
            Ok(Some(StoredReport { account: None, .. })) => {}
            Ok(None) => return Ok(0),
            Err(error) if error.is_unreadable() => {
                self.unreadable_reports.push(UnreadableReport { connection, report: id, error });
            }
            Err(error) => return Err(error),
        }
        self.tables.write(ReportChange::Delete { connection, first: id, last: id });
        self.tally.reports_given_up += 1;
        Ok(1)
    }

    pub fn reports_gone(&mut self, connection: ConnectionId, gone: usize) {
        if gone > 0 {
            self.reports_gone.push((connection, u64::try_from(gone).unwrap_or(0)));
        }
    }
}

/// Of so many parts as the customer was charged for. A carrier that takes a message whole knows of one.
fn delivered(after: &Progress, parts: u8) -> u8 {
    if after.state == MessageState::Delivered {
        return parts;
    }
    let delivered = after.parts.iter().filter(|part| part.state == PartState::Delivered).count();
    u8::try_from(delivered).unwrap_or(u8::MAX).min(parts)
}

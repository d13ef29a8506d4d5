//! What customers are to be told. A report's row is written in the transaction of the change it tells, and goes when its
//! customer has answered, or when it is given up. Whom to tell is remembered with the message while it is under way, so
//! that its end costs no look-up, and nothing at all where nobody asked.

mod rows;

pub(crate) use rows::{
    INBOUND, ReportPage, connections_with_reports, count, has_any, last_id, read_page, stored_told,
};

use crate::embedded::batch::Batch;
use crate::embedded::blobs;
use crate::embedded::hooks::{Became, has_hook};
pub(crate) use crate::embedded::report_ends::ReportEnds;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{Event, MessageState, Moved, PartState, Progress};
use hermod_domain::origin::{Alias, Origin, Told};
use hermod_domain::receipt::DlrCode;
use hermod_domain::webhook::HookKind;
use hermod_engine::ops::{Acceptance, MessageNews, News, Report, ReportId};
use hermod_engine::tables::Place;
use rusqlite::{Connection, OptionalExtension, params};
use std::sync::Arc;

/// Who wants to hear of a message.
#[derive(Clone, Debug)]
pub(crate) enum Audience {
    Nobody,
    /// It came over HTTP, on this connection: the account's webhook, if it has one.
    Web(ConnectionId),
    Customer(Arc<Customer>),
    /// The message's row says.
    Unread,
}

#[derive(Debug)]
pub(crate) struct Customer {
    connection: ConnectionId,
    alias: Option<Alias>,
    origin: Arc<Origin>,
    parts: u8,
}

impl Audience {
    pub(crate) fn of(acceptance: &Acceptance, alias: Option<Alias>) -> Audience {
        let Some(origin) = &acceptance.origin else { return Audience::Web(acceptance.connection) };
        Audience::Customer(Arc::new(Customer {
            connection: acceptance.connection,
            alias,
            origin: origin.clone(),
            parts: acceptance.parts,
        }))
    }

    fn read(connection: &Connection, message: MessageId) -> Result<Audience, StoreFault> {
        let found = connection
            .prepare_cached("SELECT connection, parts, origin FROM message WHERE id = ?1")?
            .query_row([message.as_i64()], |row| {
                let origin = row.get_ref(2)?.as_blob_or_null()?.map(blobs::origin_of);
                Ok((ConnectionId::new(row.get(0)?), row.get(1)?, origin))
            })
            .optional()?;
        let Some((connection, parts, origin)) = found else { return Ok(Audience::Nobody) };
        let Some(origin) = origin else { return Ok(Audience::Web(connection)) };
        let (origin, alias) = origin?;
        Ok(Audience::Customer(Arc::new(Customer { connection, alias, origin: Arc::new(origin), parts })))
    }
}

/// How a customer who submits over SMPP is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// What they asked for, to whoever is bound.
    Bind,
    /// Everything, by webhook: they only transmit, and nobody is there to take it.
    Webhook,
    Both,
}

/// What an event is worth telling, whether or not anyone asked.
pub(crate) fn news(event: Event, before: &Progress, moved: &Moved) -> Option<Told> {
    let Moved { after, dlr, .. } = moved;
    let code = (*dlr)?;
    if after.state.is_final() {
        return Some(Told::Final(code));
    }
    if event == Event::ReceiptOverdue {
        // Once for the message, not for each of its parts.
        let first = !before.parts.iter().any(|part| part.state == PartState::Overdue);
        return first.then_some(Told::Final(DlrCode::Unknown));
    }
    if before.state == after.state || after.state != MessageState::Enroute {
        return None;
    }
    Some(match event {
        Event::Receipt(verdict) => Told::of_notice(verdict),
        // Another part was enroute already, and only now all of them have left.
        Event::Claimed
        | Event::Released
        | Event::Accepted
        | Event::Deferred
        | Event::Refused(_)
        | Event::NoAnswer(_)
        | Event::ValidityEnded
        | Event::ReceiptOverdue
        | Event::Withdrawn => Told::Enroute,
    })
}

impl Batch<'_> {
    /// Writes down that a customer is to be told, if that is news to them.
    pub(crate) fn tell(
        &mut self,
        place: Place,
        told: Told,
        after: &Progress,
        err: u16,
        audience: &mut Audience,
    ) -> Result<(), StoreFault> {
        if matches!(audience, Audience::Unread) {
            *audience = Audience::read(self.connection, place.message)?;
        }
        let customer = match audience {
            Audience::Customer(customer) => customer,
            Audience::Web(connection) => {
                if has_hook(&self.catalogue, place.account, HookKind::Dlr) {
                    self.hook_dlr(self.became(place, *connection, told, err))?;
                }
                return Ok(());
            }
            Audience::Nobody | Audience::Unread => return Ok(()),
        };
        let Customer { connection, alias, origin, parts } = &**customer;
        let way = self.way_to(place.account, customer, told);
        if way != Way::Bind {
            self.hook_dlr(self.became(place, *connection, told, err))?;
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
    pub(crate) fn report(
        &mut self,
        account: AccountId,
        connection: ConnectionId,
        message: MessageId,
        news: News,
        way: Way,
    ) -> Result<(), StoreFault> {
        self.books.last_report += 1;
        let id = ReportId(self.books.last_report);
        let report = Report { id, account, connection, message, at: self.now, news };
        insert(self.connection, &report, way)?;
        self.tally.reports += 1;
        self.reports.push(report);
        Ok(())
    }

    fn became(&self, place: Place, connection: ConnectionId, told: Told, err: u16) -> Became {
        let Place { account, message, .. } = place;
        Became { account, message, connection, told, err, at: self.now }
    }

    fn way_to(&self, account: AccountId, customer: &Customer, told: Told) -> Way {
        let Customer { connection, origin, .. } = customer;
        let receivers = &self.books.receivers;
        // What a bind is not to be told cannot wait for one, and move to the webhook later.
        let nobody = || {
            receivers.away_since(*connection, self.now).is_some()
                || (!origin.wish.wants(told) && receivers.nobody_at(*connection))
        };
        if !has_hook(&self.catalogue, account, HookKind::Dlr) {
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
    pub(crate) fn end_reports(&mut self, ends: &ReportEnds) -> Result<(), StoreFault> {
        let ReportEnds { connection, taken, refused, now } = ends;
        self.at(*now);
        let mut gone = 0;
        // Most often a connection's reports are answered in the order they were told, so few deletions do.
        for run in taken.chunk_by(|one, next| one.0 + 1 == next.0) {
            let (first, last) = (run[0], run[run.len() - 1]);
            let bounds = params![connection.get(), first.0.cast_signed(), last.0.cast_signed()];
            let deleted = self
                .connection
                .prepare_cached("DELETE FROM report WHERE connection = ?1 AND id BETWEEN ?2 AND ?3")?
                .execute(bounds)?;
            if deleted < run.len() {
                // Given up while it was on its way, and taken after all.
                self.connection
                    .prepare_cached("DELETE FROM given_up WHERE connection = ?1 AND id BETWEEN ?2 AND ?3")?
                    .execute(bounds)?;
            }
            gone += deleted;
        }
        self.tally.reports_taken += u64::try_from(gone).unwrap_or(0);
        for (id, status) in refused {
            gone += self.give_up_report(*connection, *id, Some(*status))?;
        }
        self.reports_gone(*connection, gone);
        Ok(())
    }

    /// One that nobody will be told. 1, or 0 if there is no such report any more.
    pub(crate) fn give_up_report(
        &mut self,
        connection: ConnectionId,
        id: ReportId,
        status: Option<u32>,
    ) -> Result<usize, StoreFault> {
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO given_up (id, account, connection, message, told, at, given_up_at, status)
                 SELECT r.id, ifnull(r.account, m.account), r.connection, r.message, r.told, r.at, ?3, ?4
                 FROM report r LEFT JOIN message m ON m.id = r.message
                 WHERE r.connection = ?1 AND r.id = ?2 AND ifnull(r.account, m.account) IS NOT NULL",
            )?
            .execute(params![connection.get(), id.0.cast_signed(), self.now.as_millis(), status])?;
        let gone = self
            .connection
            .prepare_cached("DELETE FROM report WHERE connection = ?1 AND id = ?2")?
            .execute(params![connection.get(), id.0.cast_signed()])?;
        self.tally.reports_given_up += u64::try_from(gone).unwrap_or(0);
        Ok(gone)
    }

    pub(crate) fn reports_gone(&mut self, connection: ConnectionId, gone: usize) {
        if gone > 0 {
            self.reports_gone.push((connection, u64::try_from(gone).unwrap_or(0)));
        }
    }
}

fn insert(connection: &Connection, report: &Report, way: Way) -> Result<(), StoreFault> {
    let Report { id, account, connection: to, message, at, news } = report;
    let (to, id, message, at) = (to.get(), id.0.cast_signed(), message.as_i64(), at.as_millis());
    match news {
        News::Message(MessageNews { told, err, delivered, .. }) => connection
            .prepare_cached(
                "INSERT INTO report (connection, id, message, told, err, delivered, at, hooked)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![to, id, message, told.as_u8(), err, delivered, at, way == Way::Both])?,
        News::Inbound(number) => connection
            .prepare_cached(
                "INSERT INTO report (connection, id, message, told, err, delivered, at, account, inbound, hooked)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7, 1)",
            )?
            .execute(params![to, id, message, INBOUND, at, account.get(), number.cast_signed()])?,
    };
    Ok(())
}

/// Of so many parts as the customer was charged for. A carrier that takes a message whole knows of one.
fn delivered(after: &Progress, parts: u8) -> u8 {
    if after.state == MessageState::Delivered {
        return parts;
    }
    let delivered = after.parts.iter().filter(|part| part.state == PartState::Delivered).count();
    u8::try_from(delivered).unwrap_or(u8::MAX).min(parts)
}

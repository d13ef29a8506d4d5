//! What customers are to be told. A report's row is written in the transaction of the change it tells, and goes when its
//! customer has answered, or when it is given up. Whom to tell is remembered with the message while it is under way, so
//! that its end costs no look-up, and nothing at all where nobody asked.

use crate::embedded::batch::Batch;
use crate::embedded::blobs;
use crate::embedded::hooks::{Became, has_hook};
use crate::embedded::progress::Place;
pub(crate) use crate::embedded::report_ends::ReportEnds;
use crate::fault::StoreFault;
use crate::ops::{Acceptance, Report, ReportId};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{Event, MessageState, Moved, PartState, Progress};
use hermod_domain::origin::{Alias, Origin, Told};
use hermod_domain::receipt::DlrCode;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::HookKind;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;
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
enum Way {
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
        self.books.last_report += 1;
        let report = Report {
            id: ReportId(self.books.last_report),
            account: place.account,
            connection: *connection,
            message: place.message,
            alias: *alias,
            origin: origin.clone(),
            told,
            err,
            parts: *parts,
            delivered: delivered(after, *parts),
            at: self.now,
        };
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
                 SELECT r.id, m.account, r.connection, r.message, r.told, r.at, ?3, ?4
                 FROM report r JOIN message m ON m.id = r.message WHERE r.connection = ?1 AND r.id = ?2",
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
    let Report { id, connection: to, message, told, err, delivered, at, .. } = report;
    connection
        .prepare_cached(
            "INSERT INTO report (connection, id, message, told, err, delivered, at, hooked)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            to.get(),
            id.0.cast_signed(),
            message.as_i64(),
            told.as_u8(),
            err,
            delivered,
            at.as_millis(),
            way == Way::Both
        ])?;
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

/// Rows of a connection behind a place, in order: what could be read of them, how many there were, and the last one.
#[derive(Default)]
pub(crate) struct ReportPage {
    pub reports: Vec<Report>,
    pub rows: usize,
    pub last: Option<ReportId>,
    /// Of those, the ones whose message has ended, and how.
    pub ended: HashMap<ReportId, Told>,
}

pub(crate) fn read_page(
    connection: &Connection,
    of: ConnectionId,
    after: ReportId,
    limit: usize,
) -> Result<ReportPage, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT r.id, r.message, r.told, r.err, r.delivered, r.at, m.account, m.parts, m.origin,
                CASE WHEN m.settled_at IS NOT NULL THEN m.dlr END
         FROM report r LEFT JOIN message m ON m.id = r.message
         WHERE r.connection = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![of.get(), after.0.cast_signed(), limit])?;
    let mut page = ReportPage::default();
    while let Some(row) = rows.next()? {
        let id = ReportId(row.get::<_, i64>(0)?.cast_unsigned());
        page.rows += 1;
        page.last = Some(id);
        match read(row, id, of) {
            Ok(report) => {
                if let Some(code) = row.get::<_, Option<u8>>(9)?.and_then(DlrCode::from_u8) {
                    page.ended.insert(id, Told::Final(code));
                }
                page.reports.push(report);
            }
            // It must not keep the others from being told.
            Err(fault) => {
                tracing::error!(%fault, report.id = id.0, connection.id = %of, "A report cannot be read")
            }
        }
    }
    Ok(page)
}

fn read(row: &Row<'_>, id: ReportId, connection: ConnectionId) -> Result<Report, StoreFault> {
    let (origin, alias) = blobs::origin_of(row.get_ref(8)?.as_blob().map_err(StoreFault::damaged)?)?;
    Ok(Report {
        id,
        account: AccountId::new(row.get(6)?),
        connection,
        message: MessageId::from_i64(row.get(1)?).ok_or_else(|| StoreFault::damaged("a report's message"))?,
        alias,
        origin: Arc::new(origin),
        told: stored_told(row.get(2)?)?,
        err: row.get(3)?,
        parts: row.get(7)?,
        delivered: row.get(4)?,
        at: Timestamp::from_millis(row.get(5)?),
    })
}

pub(crate) fn stored_told(number: u8) -> Result<Told, StoreFault> {
    Told::from_u8(number).ok_or_else(|| StoreFault::damaged(format!("{number} is nothing a report says")))
}

/// Connections that have reports: one look for each, not one for each report.
pub(crate) fn connections_with_reports(connection: &Connection) -> Result<Vec<ConnectionId>, StoreFault> {
    let mut statement =
        connection.prepare_cached("SELECT min(connection) FROM report WHERE connection > ?1")?;
    let (mut found, mut last) = (Vec::new(), -1_i64);
    while let Some(next) = statement.query_row([last], |row| row.get::<_, Option<u32>>(0))? {
        found.push(ConnectionId::new(next));
        last = i64::from(next);
    }
    Ok(found)
}

/// How many rows a connection has.
pub(crate) fn count(connection: &Connection, of: ConnectionId) -> Result<u64, StoreFault> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM report WHERE connection = ?1")?;
    Ok(statement.query_row([of.get()], |row| row.get::<_, i64>(0))?.cast_unsigned())
}

pub(crate) fn has_any(connection: &Connection, of: ConnectionId) -> Result<bool, StoreFault> {
    Ok(connection.prepare_cached("SELECT 1 FROM report WHERE connection = ?1 LIMIT 1")?.exists([of.get()])?)
}

/// The highest id in use: one look for each connection that has reports, not one for each report.
pub(crate) fn last_id(connection: &Connection) -> Result<u64, StoreFault> {
    let last: Option<i64> = connection.query_row(
        "WITH RECURSIVE one (connection) AS (
             SELECT min(connection) FROM report
             UNION ALL
             SELECT (SELECT min(connection) FROM report WHERE connection > one.connection) FROM one
                 WHERE one.connection IS NOT NULL)
         SELECT max(id) FROM (
             SELECT (SELECT max(id) FROM report r WHERE r.connection = one.connection) AS id FROM one
             UNION ALL SELECT max(id) FROM given_up)",
        [],
        |row| row.get(0),
    )?;
    Ok(last.unwrap_or(0).cast_unsigned())
}

//! Searches messages, newest first. The filter says how: by id, by a key, or by reading the messages of the account or of all
//! accounts in order, without the times in which the statistics say that nothing can match.

use crate::record::database::keys::{self, Chunk, KeyStream, NextKey};
use crate::record::database::matching::{Matcher, driver_of};
use crate::record::database::rows::{MESSAGE_COLUMNS, dimension_to_stored, read_message};
use crate::record::database::zones::{Zone, Zones};
use crate::record::database::{Budget, FOUND_ROW, ROW};
use crate::record::tally::Collected;
use crate::record::{Dimension, MessageFilter, RecordedMessage, Scope, SearchLimits, Value};
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;
use std::ops::Range;

/// The most rows of a page.
pub(crate) const PAGE_ROWS_MAX: u32 = 1_000;

/// What a search found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Newest first.
    pub rows: Vec<RecordedMessage>,
    /// Where the next page begins.
    pub next: Option<MessageId>,
    /// How far it came, if it ended early.
    pub searched_to: Option<Timestamp>,
}

/// Why a walk through the matching messages ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// There are no more.
    End,
    /// The visitor wanted no more.
    Enough,
    /// The budget ended. Nothing from this id on is left.
    Stopped(i64),
}

/// What a walk does with each match. Returns whether it wants more.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&Row<'_>) -> Result<bool, TableError>;

/// Returns a page of the messages that a filter finds.
pub(crate) fn search(
    connection: &Connection,
    collected: &Collected,
    scope: Scope,
    filter: &MessageFilter,
    limits: SearchLimits,
) -> Result<Found, TableError> {
    let rows = limits.rows.clamp(1, PAGE_ROWS_MAX) as usize;
    let mut ids = ids_of(filter);
    ids.end = limits.before.map_or(ids.end, |before| ids.end.min(before.as_i64()));
    let mut found = Found::default();
    let mut visit = |row: &Row<'_>| {
        // One more than the page has, to know whether there is another page.
        found.rows.push(read_message(row)?);
        Ok(found.rows.len() <= rows)
    };
    let walk = SearchWalk::new(connection, collected, scope, filter)?;
    let walked = walk.run(ids, &mut Budget::new(), &mut visit)?;
    if found.rows.len() > rows {
        found.rows.truncate(rows);
        found.next = found.rows.last().map(|row| row.id);
    } else if let Walked::Stopped(at) = walked {
        found.next = MessageId::from_i64(at);
        found.searched_to = found.next.map(MessageId::accepted_at);
    }
    Ok(found)
}

/// Returns the ids that the times of a filter allow.
pub(super) fn ids_of(filter: &MessageFilter) -> Range<i64> {
    let first = |at| MessageId::first_at(at).as_i64();
    let end = filter.until.unwrap_or(Timestamp::from_millis(i64::MAX));
    filter.from.map_or(0, first)..first(end)
}

/// A walk through the messages that a filter finds, newest first.
pub(super) struct SearchWalk<'c> {
    connection: &'c Connection,
    collected: &'c Collected,
    /// Narrowed to one account if the filter allows only one.
    scope: Scope,
    filter: &'c MessageFilter,
    chunks: Vec<Chunk>,
}

impl<'c> SearchWalk<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        collected: &'c Collected,
        scope: Scope,
        filter: &'c MessageFilter,
    ) -> Result<SearchWalk<'c>, TableError> {
        let owner = match (scope, filter.connection) {
            (Scope::All, Some(of)) => owner_of(connection, collected, of)?,
            _ => None,
        };
        let scope = owner.map_or(scope, Scope::Account);
        let chunks = if driver_of(filter).is_some() { keys::chunks(connection)? } else { Vec::new() };
        Ok(SearchWalk { connection, collected, scope, filter, chunks })
    }

    /// Visits the matches within a range of ids.
    pub(super) fn run(
        &self,
        ids: Range<i64>,
        budget: &mut Budget,
        visit: Visit<'_>,
    ) -> Result<Walked, TableError> {
        if ids.is_empty() {
            return Ok(Walked::End);
        }
        let matcher = Matcher::new(self.connection, (self.scope, self.filter), ids.clone(), &self.chunks);
        if let Some(id) = self.filter.id {
            return Ok(match self.visit_one(id.as_i64(), &matcher, visit)? {
                true => Walked::End,
                false => Walked::Enough,
            });
        }
        match driver_of(self.filter) {
            Some(driver) => self.by_key(
                KeyStream::new(self.connection, driver, ids, &self.chunks),
                &matcher,
                budget,
                visit,
            ),
            None => self.in_order(ids, &matcher, budget, visit),
        }
    }

    /// Visits a message if it matches. Returns whether the visitor wants more.
    fn visit_one(&self, id: i64, matcher: &Matcher<'_>, visit: Visit<'_>) -> Result<bool, TableError> {
        let mut find = self
            .connection
            .prepare_cached(&format!("SELECT {MESSAGE_COLUMNS} FROM message m WHERE m.id = ?1"))?;
        let mut rows = find.query([id])?;
        match rows.next()? {
            Some(row) if matcher.matches(&row)? => visit(&row),
            _ => Ok(true),
        }
    }

    fn by_key(
        &self,
        mut stream: KeyStream<'_>,
        matcher: &Matcher<'_>,
        budget: &mut Budget,
        visit: Visit<'_>,
    ) -> Result<Walked, TableError> {
        let mut ids = matcher.ids.clone();
        loop {
            match stream.next(budget)? {
                NextKey::End => return Ok(Walked::End),
                NextKey::Stopped(at) => return Ok(Walked::Stopped(at)),
                NextKey::Dense => return self.in_order(ids, matcher, budget, visit),
                NextKey::Message(message) => {
                    if !budget.take(FOUND_ROW) {
                        return Ok(Walked::Stopped(message + 1));
                    }
                    if !self.visit_one(message, matcher, visit)? {
                        return Ok(Walked::Enough);
                    }
                    ids.end = message;
                }
            }
        }
    }

    /// Reads the messages in order, by the zones of the filter.
    fn in_order(
        &self,
        mut ids: Range<i64>,
        matcher: &Matcher<'_>,
        budget: &mut Budget,
        visit: Visit<'_>,
    ) -> Result<Walked, TableError> {
        let Some(zones) = Zones::of(self.connection, self.collected, self.scope, self.filter)? else {
            return self.read_range(&ids, matcher, budget, visit);
        };
        loop {
            let zone = match zones.newest(&ids, budget)? {
                Zone::End => return Ok(Walked::End),
                Zone::Stopped(at) => return Ok(Walked::Stopped(at)),
                Zone::Ids(zone) => zone,
            };
            match self.read_range(&zone, matcher, budget, visit)? {
                Walked::End => ids.end = zone.start,
                ended => return Ok(ended),
            }
        }
    }

    fn read_range(
        &self,
        ids: &Range<i64>,
        matcher: &Matcher<'_>,
        budget: &mut Budget,
        visit: Visit<'_>,
    ) -> Result<Walked, TableError> {
        let (statement, account, cost) = match self.scope {
            Scope::Account(account) => (
                format!(
                    "SELECT {MESSAGE_COLUMNS} FROM by_account b CROSS JOIN message m ON m.id = b.id
                     WHERE b.account = ?3 AND b.id >= ?1 AND b.id < ?2 ORDER BY b.id DESC"
                ),
                Some(account.get()),
                FOUND_ROW,
            ),
            Scope::All => (
                format!(
                    "SELECT {MESSAGE_COLUMNS} FROM message m
                     WHERE m.id >= ?1 AND m.id < ?2 AND ?3 IS NULL ORDER BY m.id DESC"
                ),
                None,
                ROW,
            ),
        };
        let mut statement = self.connection.prepare_cached(&statement)?;
        let mut rows = statement.query(params![ids.start, ids.end, account])?;
        let mut end = ids.end;
        while let Some(row) = rows.next()? {
            if !budget.take(cost) {
                return Ok(Walked::Stopped(end));
            }
            if matcher.matches(&row)? && !visit(&row)? {
                return Ok(Walked::Enough);
            }
            end = row.get(0)?;
        }
        Ok(Walked::End)
    }
}

/// Returns the account of a connection by the statistics; none if they do not name exactly one.
fn owner_of(
    connection: &Connection,
    collected: &Collected,
    of: ConnectionId,
) -> Result<Option<AccountId>, TableError> {
    let bounds = "SELECT min(scope), max(scope) FROM statistic INDEXED BY statistic_by_value
         WHERE resolution = 1 AND dimension = ?1 AND value = ?2";
    let read = |row: &Row<'_>| Ok((row.get::<Option<u32>>(0)?, row.get::<Option<u32>>(1)?));
    let key = params![dimension_to_stored(Dimension::Connection), of.get()];
    let bounds = connection.prepare_cached(bounds)?.query_row(key, read).optional()?.unwrap_or_default();
    let mut owners: Vec<AccountId> = [bounds.0, bounds.1].into_iter().flatten().map(AccountId::new).collect();
    let value = Value::Id(of.get());
    owners.extend(collected.dimensions().filter_map(|(scope, dimension)| match scope {
        Scope::Account(account) if dimension == Dimension::Connection => {
            let series = collected.of_value(scope, dimension, &value);
            (!series.is_empty()).then_some(account)
        }
        Scope::Account(_) | Scope::All => None,
    }));
    owners.dedup();
    Ok(match owners[..] {
        [owner] => Some(owner),
        _ => None,
    })
}

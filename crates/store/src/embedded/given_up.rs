//! Reports that nobody took: too old, or refused for good. They are listed for a while, so that it can be seen what a
//! customer was not told.

use crate::embedded::Embedded;
use crate::embedded::batch::{ALL_ROWS, Batch};
use crate::embedded::reports::{self, INBOUND, stored_told};
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{GIVEN_UP_KEPT, GivenUp, GivenUpWhy, PAGE_ROWS_MAX, REPORT_KEPT, ReportId};
use rusqlite::{Connection, Row, params};

/// Rows looked at in one transaction.
const ROWS_PER_WRITE: usize = 500;

impl Embedded {
    /// Reports that were given up, oldest first, behind one of them: an account's, or everyone's.
    pub async fn given_up(
        &self,
        account: Option<AccountId>,
        after: Option<ReportId>,
        limit: u32,
    ) -> Result<Vec<GivenUp>, StoreFault> {
        self.inner.readers.run(move |connection| list(connection, account, after, limit)).await
    }

    /// How many reports wait for a connection, those under way among them.
    pub async fn reports_waiting(&self, connection: ConnectionId) -> Result<u64, StoreFault> {
        match self.inner.shared.outboxes.waiting(connection) {
            Some(count) => Ok(count),
            None => self.inner.readers.run(move |tables| reports::count(tables, connection)).await,
        }
    }

    /// Gives up what nobody took in time.
    pub(crate) async fn give_up_old_reports(&self, now: Timestamp) -> Result<(), StoreFault> {
        self.inner.shared.outboxes.clock_is(now);
        for connection in self.inner.shared.outboxes.with_reports() {
            loop {
                let given_up = self.request(move |batch| batch.give_up_old_reports(connection, now)).await?;
                self.inner.shared.outboxes.forget(connection, &given_up);
                if given_up.len() < ROWS_PER_WRITE {
                    break;
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn forget_given_up(&self, now: Timestamp) -> Result<(), StoreFault> {
        while self.request(move |batch| batch.forget_given_up(now)).await? == ROWS_PER_WRITE {}
        Ok(())
    }
}

impl Batch<'_> {
    /// Reports come to be in the order of time, so the first that is young enough ends the search.
    fn give_up_old_reports(
        &mut self,
        connection: ConnectionId,
        now: Timestamp,
    ) -> Result<Vec<ReportId>, StoreFault> {
        self.at(now);
        let too_old = now.minus(REPORT_KEPT).as_millis();
        let oldest = oldest(
            self.connection,
            "SELECT id, at FROM report WHERE connection = ?1 ORDER BY id LIMIT ?2",
            i64::from(connection.get()),
            too_old,
        )?;
        let mut gone = 0;
        for id in &oldest {
            gone += self.give_up_report(connection, *id, None)?;
        }
        self.reports_gone(connection, gone);
        if oldest.is_empty() && !reports::has_any(self.connection, connection)? {
            self.reports_gone.push((connection, ALL_ROWS));
        }
        Ok(oldest)
    }

    /// By the time they came to be, which is also the order of their ids: that they were given up is at most
    /// [`REPORT_KEPT`] later.
    fn forget_given_up(&mut self, now: Timestamp) -> Result<usize, StoreFault> {
        self.at(now);
        let too_old = now.minus(GIVEN_UP_KEPT + REPORT_KEPT).as_millis();
        let oldest = oldest(
            self.connection,
            "SELECT id, at FROM given_up WHERE id > ?1 ORDER BY id LIMIT ?2",
            0,
            too_old,
        )?;
        for id in &oldest {
            self.connection
                .prepare_cached("DELETE FROM given_up WHERE id = ?1")?
                .execute([id.0.cast_signed()])?;
        }
        Ok(oldest.len())
    }
}

/// The first rows, as far as they are that old.
fn oldest(
    connection: &Connection,
    query: &str,
    bound: i64,
    too_old: i64,
) -> Result<Vec<ReportId>, StoreFault> {
    let limit = i64::try_from(ROWS_PER_WRITE).expect("a few hundred");
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(params![bound, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? > too_old {
            break;
        }
        found.push(ReportId(row.get::<_, i64>(0)?.cast_unsigned()));
    }
    Ok(found)
}

fn list(
    connection: &Connection,
    account: Option<AccountId>,
    after: Option<ReportId>,
    limit: u32,
) -> Result<Vec<GivenUp>, StoreFault> {
    const COLUMNS: &str = "id, account, connection, message, told, at, given_up_at, status";
    let whose = if account.is_some() { "account = ?3 AND" } else { "?3 IS NULL AND" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM given_up WHERE {whose} id > ?1 ORDER BY id LIMIT ?2"
    ))?;
    let after = after.map_or(0, |id| id.0.cast_signed());
    let bounds = params![after, limit.clamp(1, PAGE_ROWS_MAX), account.map(AccountId::get)];
    let rows = statement.query_map(bounds, |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

fn read(row: &Row<'_>) -> Result<GivenUp, StoreFault> {
    let status: Option<u32> = row.get(7)?;
    let told: u8 = row.get(4)?;
    Ok(GivenUp {
        id: ReportId(row.get::<_, i64>(0)?.cast_unsigned()),
        account: AccountId::new(row.get(1)?),
        connection: ConnectionId::new(row.get(2)?),
        message: MessageId::from_i64(row.get(3)?).ok_or_else(|| StoreFault::damaged("a report's message"))?,
        told: (told != INBOUND).then(|| stored_told(told)).transpose()?,
        at: Timestamp::from_millis(row.get(5)?),
        given_up_at: Timestamp::from_millis(row.get(6)?),
        why: status.map_or(GivenUpWhy::TooOld, GivenUpWhy::Refused),
    })
}

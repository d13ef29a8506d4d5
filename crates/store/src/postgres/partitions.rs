//! The partitions of `message` and `message_text`. Ids are in the order of time, so a partition has the messages of a period.
//! Those of the next periods are made ahead. Old ones are dropped: of texts once the purge has passed them, of messages once
//! they are empty.
//!
//! A row for which there is no partition is in the default partition, so that no insert fails; its partition is made
//! afterwards, with the row. A statement that changes partitions waits shortly for its locks, because all reads and writes of
//! the table wait behind it, and is tried again later. Each table has its own transaction: a transaction with locks on both
//! could wait for a reader that waits for it.

use crate::postgres::{PostgresError, Session, values};
use hermod_domain::ids::MessageId;
use hermod_domain::time::Day;
use rusqlite::ToSql;

type Result<T> = std::result::Result<T, PostgresError>;

/// How long a change of partitions waits for readers that use the table.
const LOCK_WAIT: &str = "SET LOCAL lock_timeout = '100ms'";
/// Fails, by a division by zero, if another process has the right to write.
const STILL_WRITER: &str =
    "SELECT 1 / count(*) FROM (SELECT 1 FROM writer WHERE epoch = ?1 FOR SHARE) AS held";
/// Rows that are moved out of the default partition at once. If a period has more, they stay there and are deleted one by one
/// when they are due: moving them would hold up the writer.
const MOVED_MAX: i64 = 20_000;
/// Periods in the default partition that are looked at in one go.
const PERIODS_REPAIRED_MAX: usize = 8;

/// A table in partitions.
pub(super) struct PartitionedTable {
    name: &'static str,
    /// Its partitions are named by this prefix and the number of their first day.
    prefix: &'static str,
    /// The days of a partition.
    days: i64,
    /// Partitions that are made ahead: enough for a week in which a long transaction holds the table.
    ahead: i64,
    settings: &'static str,
}

/// Four weeks: a change of messages starts with a look at every partition, which costs much with the 60 weeks of 400 days and
/// little with 17 partitions (ADR 28).
pub(super) const MESSAGES: PartitionedTable = PartitionedTable {
    name: "message",
    prefix: "message_from_",
    days: 28,
    ahead: 1,
    settings: "WITH (fillfactor = 80)",
};
pub(super) const TEXTS: PartitionedTable =
    PartitionedTable { name: "message_text", prefix: "message_text_day_", days: 1, ahead: 7, settings: "" };

/// A period of a table, by its first day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Period(Day);

impl PartitionedTable {
    /// Makes the partitions that are missing: of the period of `newest`, of those after it, and of the rows in the default
    /// partition.
    pub(super) fn make_missing(&self, session: &Session, epoch: i64, newest: MessageId) -> Result<()> {
        let existing = self.partitions(session)?;
        let first = self.period_of(newest);
        let next = (0..=self.ahead).map(|number| Period(Day::new(first.0.get() + number * self.days)));
        let mut missing: Vec<Period> = next.chain(self.periods_in_default(session)?).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|period| !existing.contains(period));
        if missing.is_empty() {
            return Ok(());
        }
        in_transaction(session, epoch, |session| {
            missing.into_iter().try_for_each(|period| self.make(session, period))
        })
    }

    /// Makes the partitions for all ids between two, in the transaction of the caller.
    pub(super) fn make_between(&self, session: &Session, first: MessageId, last: MessageId) -> Result<()> {
        let (mut period, last) = (self.period_of(first), self.period_of(last));
        let existing = self.partitions(session)?;
        while period <= last {
            if !existing.contains(&period) {
                self.make(session, period)?;
            }
            period = Period(Day::new(period.0.get() + self.days));
        }
        Ok(())
    }

    /// Drops the partitions before that of `newest` that have no row from `kept_from` on. Partitions that end after `purged`
    /// are looked at only if all before them were dropped. Returns the id at which the first partition ends that the purge has
    /// not passed.
    pub(super) fn drop_old(
        &self,
        session: &Session,
        epoch: i64,
        newest: MessageId,
        (kept_from, purged): (i64, i64),
    ) -> Result<i64> {
        let mut existing = self.partitions(session)?;
        let current = self.period_of(newest);
        existing.retain(|period| *period < current);
        let mut are_all_dropped = true;
        for period in existing {
            let end = self.end_of(period);
            if end > purged && !are_all_dropped {
                return Ok(end);
            }
            if self.has_rows_from(session, period, kept_from)? {
                are_all_dropped = false;
                if end > purged {
                    return Ok(end);
                }
                continue;
            }
            let partition = self.partition(period);
            in_transaction(session, epoch, |session| session.run(&format!("DROP TABLE {partition}")))?;
            tracing::info!(%partition, "Dropped a partition of messages whose retention has ended");
        }
        Ok(self.end_of(current))
    }

    /// Creates the partition of a period with the rows that are in the default partition, and attaches it.
    fn make(&self, session: &Session, period: Period) -> Result<()> {
        let PartitionedTable { name, settings, .. } = self;
        let (start, end) = (self.start_of(period), self.end_of(period));
        let partition = self.partition(period);
        let limit = MOVED_MAX + 1;
        let rows = session.query(
            &format!(
                "SELECT count(*) FROM (SELECT 1 FROM {name}_default WHERE id >= ?1 AND id < ?2 LIMIT ?3) AS counted"
            ),
            &[&start, &end, &limit],
        )?;
        let moved: i64 = rows.first().map_or(Ok(0), |row| values::get(row, 0))?;
        if moved > MOVED_MAX {
            tracing::warn!(%partition, "The default partition has too many rows of a period; they stay there");
            return Ok(());
        }
        if moved > 0 {
            tracing::warn!(%partition, moved, "Messages had no partition; the clock may have jumped. It is made now");
        }
        // The lock first, so that no row comes in between. ATTACH takes it too.
        session.run(&format!(
            "LOCK TABLE {name}_default IN ACCESS EXCLUSIVE MODE;
             CREATE TABLE {partition} (LIKE {name} INCLUDING ALL) {settings};
             INSERT INTO {partition} SELECT * FROM {name}_default WHERE id >= {start} AND id < {end};
             DELETE FROM {name}_default WHERE id >= {start} AND id < {end};
             ALTER TABLE {name} ATTACH PARTITION {partition} FOR VALUES FROM ({start}) TO ({end})"
        ))
    }

    /// Returns the periods of the first rows in the default partition.
    fn periods_in_default(&self, session: &Session) -> Result<Vec<Period>> {
        let query = format!("SELECT min(id) FROM {}_default WHERE id >= ?1", self.name);
        let (mut found, mut from) = (Vec::new(), 0);
        while found.len() < PERIODS_REPAIRED_MAX {
            let rows = session.query(&query, &[&from])?;
            let id: Option<i64> = rows.first().map_or(Ok(None), |row| values::get(row, 0))?;
            let Some(id) = id.and_then(MessageId::from_i64) else { break };
            let period = self.period_of(id);
            from = self.end_of(period);
            found.push(period);
        }
        Ok(found)
    }

    /// Whether a partition has a row with this id or a higher one.
    fn has_rows_from(&self, session: &Session, period: Period, id: i64) -> Result<bool> {
        let partition = self.partition(period);
        let rows =
            session.query(&format!("SELECT EXISTS (SELECT 1 FROM {partition} WHERE id >= ?1)"), &[&id])?;
        Ok(rows.first().map_or(Ok(true), |row| values::get(row, 0))?)
    }

    /// Returns the partitions that exist, oldest first.
    fn partitions(&self, session: &Session) -> Result<Vec<Period>> {
        let rows = session.query(
            "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = to_regclass(?1)",
            &[&self.name],
        )?;
        let names: Vec<String> =
            rows.iter().map(|row| values::get(row, 0)).collect::<rusqlite::Result<_>>()?;
        let day = |name: &String| name.strip_prefix(self.prefix)?.parse().ok();
        let mut periods: Vec<Period> =
            names.iter().filter_map(day).map(|day| Period(Day::new(day))).collect();
        periods.sort_unstable();
        Ok(periods)
    }

    fn period_of(&self, id: MessageId) -> Period {
        let day = id.accepted_at().day().get();
        Period(Day::new(day - day.rem_euclid(self.days)))
    }

    fn partition(&self, period: Period) -> String {
        format!("{}{}", self.prefix, period.0.get())
    }

    /// Returns the lowest id of a period.
    fn start_of(&self, Period(day): Period) -> i64 {
        MessageId::first_at(day.start()).as_i64()
    }

    /// Returns the lowest id after a period.
    fn end_of(&self, Period(day): Period) -> i64 {
        MessageId::first_at(Day::new(day.get() + self.days).start()).as_i64()
    }
}

/// Changes partitions in one transaction, which fails if another process has the right to write.
fn in_transaction(session: &Session, epoch: i64, change: impl FnOnce(&Session) -> Result<()>) -> Result<()> {
    session.begin();
    let changed = session.run(LOCK_WAIT).and_then(|()| change(session));
    if let Err(error) = changed {
        // A connection that was lost is replaced by the next batch.
        drop(session.roll_back());
        return Err(error);
    }
    let epoch: &dyn ToSql = &epoch;
    session.commit(Some((STILL_WRITER, &[epoch])))
}

#[cfg(test)]
#[path = "partitions_tests.rs"]
mod tests;

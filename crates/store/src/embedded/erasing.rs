//! Erasing one phone number on request of the person it belongs to: texts go, and the number is replaced by one that
//! belongs to nobody, in everything that has ended. Ids, states, times and money stay, so that every balance can still be
//! proved. What has not ended yet is left alone and named. Opt-outs stay: they protect the person.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::blobs;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::phone::Msisdn;
use rusqlite::{Connection, params};

/// What stands in place of an erased number: of country code 999, which no country has.
pub const ERASED_NUMBER: u64 = 9_990_000_000;
/// Rows looked at in one read, and rows changed in one transaction.
const ROWS_PER_READ: usize = 10_000;
const ROWS_PER_WRITE: usize = 500;
/// Messages that are named because they have not ended.
const NAMED_MAX: usize = 100;

/// What erasing a number came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    pub messages: u64,
    pub inbound: u64,
    /// Held messages, parked receipts, conversations and messages that are nobody's.
    pub others: u64,
    /// How many messages were left alone because they, or the reports about them, are still being delivered.
    pub in_progress: u64,
    /// The first of those.
    pub named: Vec<MessageId>,
}

/// One page of a table that is looked through: what matched, and where to read on.
struct Page<T> {
    found: Vec<T>,
    last: Option<T>,
}

impl Embedded {
    /// Erases a number, of one account or of all. Walks over every message that is kept, in short reads.
    pub async fn erase_number(
        &self,
        number: Msisdn,
        account: Option<AccountId>,
    ) -> Result<Erased, StoreFault> {
        let mut erased = Erased::default();
        let mut after = Some(0);
        while let Some(from) = after {
            let read = move |connection: &Connection| messages_to(connection, number, account, from);
            let Page { found, last } = self.inner.readers.run(read).await?;
            for ids in found.chunks(ROWS_PER_WRITE) {
                let ids = ids.to_vec();
                let (done, left) = self.request(move |batch| batch.erase_messages(&ids)).await?;
                erased.messages += done;
                erased.in_progress += u64::try_from(left.len()).unwrap_or(u64::MAX);
                let room = NAMED_MAX.saturating_sub(erased.named.len());
                erased.named.extend(left.into_iter().filter_map(MessageId::from_i64).take(room));
            }
            after = last;
        }
        let mut after = Some((0, 0));
        while let Some(from) = after {
            let read = move |connection: &Connection| inbound_from(connection, number, account, from);
            let Page { found, last } = self.inner.readers.run(read).await?;
            for places in found.chunks(ROWS_PER_WRITE) {
                let places = places.to_vec();
                erased.inbound += self.request(move |batch| batch.erase_inbound(&places)).await?;
            }
            after = last;
        }
        erased.others = self.request(move |batch| batch.erase_others(number, account)).await?;
        // The log has the pages as they were before.
        self.inner.shared.want_empty_log();
        Ok(erased)
    }
}

fn account_or_any(account: Option<AccountId>) -> Option<u32> {
    account.map(AccountId::get)
}

fn messages_to(
    connection: &Connection,
    number: Msisdn,
    account: Option<AccountId>,
    after: i64,
) -> Result<Page<i64>, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, dest = ?2 AND (?3 IS NULL OR account = ?3) FROM message WHERE id > ?1 ORDER BY id LIMIT ?4",
    )?;
    let rows_max = i64::try_from(ROWS_PER_READ).expect("a few thousand");
    let asked = params![after, number.number().cast_signed(), account_or_any(account), rows_max];
    let rows = statement.query_map(asked, |row| Ok((row.get(0)?, row.get(1)?)))?;
    page_of(rows)
}

fn inbound_from(
    connection: &Connection,
    number: Msisdn,
    account: Option<AccountId>,
    after: (u32, i64),
) -> Result<Page<(u32, i64)>, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT account, id, ltrim(source, '+') = ?3 AND (?4 IS NULL OR account = ?4) FROM inbound
         WHERE (account, id) > (?1, ?2) ORDER BY account, id LIMIT ?5",
    )?;
    let rows_max = i64::try_from(ROWS_PER_READ).expect("a few thousand");
    let digits = number.number().to_string();
    let asked = params![after.0, after.1, digits, account_or_any(account), rows_max];
    let rows = statement.query_map(asked, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    page_of(rows)
}

fn page_of<T: Copy>(rows: impl Iterator<Item = rusqlite::Result<(T, bool)>>) -> Result<Page<T>, StoreFault> {
    let mut page = Page { found: Vec::new(), last: None };
    let mut read = 0;
    for row in rows {
        let (place, matches) = row?;
        read += 1;
        page.last = Some(place);
        if matches {
            page.found.push(place);
        }
    }
    if read < ROWS_PER_READ {
        page.last = None;
    }
    Ok(page)
}

impl Batch<'_> {
    /// Overwrites what is deleted, instead of leaving it in the free space of pages, while `work` is done.
    fn overwriting<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let set = |connection: &Connection, value: &str| {
            connection.query_row(&format!("PRAGMA secure_delete = {value}"), [], |_| Ok(()))
        };
        set(self.connection, "ON")?;
        let done = work(self);
        set(self.connection, "OFF")?;
        done
    }

    /// Returns how many were erased, and those that are still being delivered.
    fn erase_messages(&mut self, ids: &[i64]) -> Result<(u64, Vec<i64>), StoreFault> {
        self.overwriting(|batch| {
            let (mut done, mut left) = (0, Vec::new());
            for id in ids {
                if batch.is_being_delivered(*id)? {
                    left.push(*id)
                } else {
                    done += batch.erase_message(*id)?
                }
            }
            Ok((done, left))
        })
    }

    /// Itself, or a report about it.
    fn is_being_delivered(&self, id: i64) -> Result<bool, StoreFault> {
        let mut statement = self.connection.prepare_cached(
            "SELECT m.settled_at IS NULL
                 OR EXISTS (SELECT 1 FROM report r WHERE r.connection = m.connection AND r.message = m.id)
                 OR EXISTS (SELECT 1 FROM webhook w WHERE w.account = m.account AND w.message = m.id)
             FROM message m WHERE m.id = ?1",
        )?;
        Ok(statement.query_row([id], |row| row.get(0))?)
    }

    fn erase_message(&self, id: i64) -> Result<u64, StoreFault> {
        let origin: Option<Vec<u8>> = self
            .connection
            .prepare_cached("SELECT origin FROM message WHERE id = ?1")?
            .query_row([id], |row| row.get(0))?;
        let origin = origin.map(|blob| {
            let (mut origin, alias) = blobs::origin_of(&blob)?;
            origin.quote.clear();
            Ok::<_, StoreFault>(blobs::origin_to_blob(&origin, alias))
        });
        let origin = origin.transpose()?;
        // A receipt that would find it by its number comes too late anyway.
        self.connection
            .prepare_cached(
                "DELETE FROM unnamed
                 WHERE (carrier, dest, message) = (SELECT carrier, dest, id FROM message WHERE id = ?1)",
            )?
            .execute([id])?;
        let changed = self
            .connection
            .prepare_cached(
                "UPDATE message SET dest = ?2, text = NULL, tlvs = NULL, shape = NULL, origin = ?3 WHERE id = ?1",
            )?
            .execute(params![id, ERASED_NUMBER.cast_signed(), origin.as_deref()])?;
        Ok(u64::try_from(changed).unwrap_or(0))
    }

    fn erase_inbound(&mut self, places: &[(u32, i64)]) -> Result<u64, StoreFault> {
        self.overwriting(|batch| {
            let mut done = 0;
            for (account, id) in places {
                // What is still to be brought or posted keeps what it brings.
                done += batch
                    .connection
                    .prepare_cached(
                        "UPDATE inbound SET source = '+' || ?3, text = '', wire = NULL
                         WHERE account = ?1 AND id = ?2
                             AND NOT EXISTS (SELECT 1 FROM report r WHERE r.account = ?1 AND r.inbound = ?2)
                             AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.account = ?1 AND w.inbound = ?2)",
                    )?
                    .execute(params![account, id, ERASED_NUMBER.cast_signed()])?;
            }
            Ok(u64::try_from(done).unwrap_or(0))
        })
    }

    fn erase_others(&mut self, number: Msisdn, account: Option<AccountId>) -> Result<u64, StoreFault> {
        self.overwriting(|batch| {
            let (stored, account) = (number.number().cast_signed(), account_or_any(account));
            let mut done = 0;
            for statement in [
                "DELETE FROM review WHERE dest = ?1 AND (?2 IS NULL OR account = ?2)",
                "DELETE FROM conversation WHERE handset = ?1 AND (?2 IS NULL OR account = ?2)",
                "UPDATE parked SET source = NULL WHERE source = ?1 AND ?2 IS NULL",
                "DELETE FROM unowned_inbound WHERE ltrim(source, '+') = CAST(?1 AS TEXT) AND ?2 IS NULL",
            ] {
                done += batch.connection.execute(statement, params![stored, account])?;
            }
            Ok(u64::try_from(done).unwrap_or(0))
        })
    }
}

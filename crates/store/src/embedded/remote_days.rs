//! The tables of carrier ids, one per UTC day, and the rules by which an id in a receipt is found in them.

use crate::embedded::remotes::{Match, PartKey, Tie, Tied, contradicts, split_id};
use crate::embedded::schema;
use crate::fault::StoreFault;
use hermod_domain::carrier::{RECEIPT_WAIT_MAX_S, RemoteKey};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{Asked, TiedId};
use rusqlite::{Connection, Row, params};
use smallvec::SmallVec;

pub(crate) const TABLE: &str = "remote";
/// Validity (3 days), the longest wait for a receipt, late receipts (3), and the day itself.
pub(crate) const DAYS_KEPT: i64 = 3 + (RECEIPT_WAIT_MAX_S / 86_400) as i64 + 3 + 1;
/// Ids with one key that are looked at in a day. Honest carriers have one; beyond that nobody could tell anyway.
const SAME_KEY_MAX: usize = 64;
/// Rows looked at for a sample of ids.
const SAMPLE_ROWS: u32 = 1_000;

type Candidates = SmallVec<[Candidate; 4]>;

/// An id that a receipt may be about.
struct Candidate {
    raw: SmallVec<[u8; 24]>,
    tie: Tie,
}

struct RemoteDay {
    day: Day,
    find_sql: String,
    insert_sql: String,
    replace_sql: String,
}

/// The days that have carrier ids, newest first.
pub(crate) struct RemoteDays {
    days: Vec<RemoteDay>,
}

impl RemoteDays {
    pub(crate) fn load(connection: &Connection) -> Result<RemoteDays, StoreFault> {
        let days = schema::bucket_days(connection, TABLE)?.into_iter().rev();
        Ok(RemoteDays { days: days.map(|day| RemoteDay::new(Day::new(day))).collect() })
    }

    pub(crate) fn find(&self, connection: &Connection, asked: &Asked<'_>) -> Result<Match, StoreFault> {
        let Asked { carrier, ids, remote, source } = *asked;
        let (key, raw) = split_id(remote);
        let mut same_key = Candidates::new();
        for day in &self.days {
            let before = same_key.len();
            day.read(connection, carrier, &key, &mut same_key)?;
            let found = same_key[before..].iter().find(|candidate| candidate.raw.as_slice() == raw);
            // The newest id that is written just so, unless it went to somebody else and an older one did not.
            if let Some(found) = found.filter(|found| !contradicts(&found.tie, source)) {
                return Ok(Match::Part(found.tie));
            }
        }
        let written_so = same_key.iter().find(|candidate| candidate.raw.as_slice() == raw);
        if let Some(found) = written_so {
            return Ok(Match::Part(found.tie));
        }
        if !same_key.is_empty() {
            return Ok(choose(&same_key, source));
        }
        let Some(converted) = ids.key_in_answer(remote) else { return Ok(Match::Nothing) };
        let mut candidates = Candidates::new();
        for day in &self.days {
            day.read(connection, carrier, &converted, &mut candidates)?;
        }
        Ok(choose(&candidates, source))
    }

    pub(crate) fn tie(
        &mut self,
        connection: &Connection,
        carrier: CarrierId,
        key: &RemoteKey,
        raw: &[u8],
        tie: Tie,
    ) -> Result<Tied, StoreFault> {
        let index = self.open(connection, tie.day)?;
        let day = &self.days[index];
        if day.write(connection, &day.insert_sql, carrier, key, raw, &tie)? == 1 {
            return Ok(Tied::New);
        }
        let mut before = Candidates::new();
        day.read(connection, carrier, key, &mut before)?;
        day.write(connection, &day.replace_sql, carrier, key, raw, &tie)?;
        let same = before.iter().any(|known| known.raw.as_slice() == raw && known.tie.part == tie.part);
        Ok(if same { Tied::New } else { Tied::Reused })
    }

    /// Drops the days nobody can ask for any more. True if there were any.
    pub(crate) fn drop_before(&mut self, connection: &Connection, today: Day) -> Result<bool, StoreFault> {
        let is_old = |day: &RemoteDay| day.day.get() + DAYS_KEPT < today.get();
        for day in self.days.iter().filter(|day| is_old(day)) {
            connection.execute_batch(&format!("DROP TABLE {TABLE}_{}", day.day.get()))?;
        }
        let before = self.days.len();
        self.days.retain(|day| !is_old(day));
        Ok(self.days.len() < before)
    }

    fn open(&mut self, connection: &Connection, today: Day) -> Result<usize, StoreFault> {
        if let Some(index) = self.days.iter().position(|known| known.day == today) {
            return Ok(index);
        }
        connection.execute_batch(&format!(
            "CREATE TABLE {TABLE}_{} (
                 carrier INTEGER NOT NULL, key BLOB NOT NULL, raw BLOB NOT NULL, account INTEGER NOT NULL,
                 message INTEGER NOT NULL, part INTEGER NOT NULL, dest INTEGER NOT NULL, at INTEGER NOT NULL,
                 PRIMARY KEY (carrier, key, raw)
             ) WITHOUT ROWID, STRICT",
            today.get()
        ))?;
        let place = self.days.iter().position(|known| known.day < today).unwrap_or(self.days.len());
        self.days.insert(place, RemoteDay::new(today));
        Ok(place)
    }

    /// Some ids of the newest day on which this carrier gave any, the latest of those first.
    pub(crate) fn sample(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        limit: usize,
    ) -> Result<Vec<TiedId>, StoreFault> {
        for day in &self.days {
            let mut statement = connection.prepare(&format!(
                "SELECT key, raw, at FROM {TABLE}_{} WHERE carrier = ?1 LIMIT {SAMPLE_ROWS}",
                day.day.get()
            ))?;
            let mut rows = statement.query([carrier.get()])?;
            let mut ids = Vec::new();
            while let Some(row) = rows.next()? {
                ids.push(TiedId { remote: read_id(row, 0, 1)?, at: read_time(row.get(2)?) });
            }
            if !ids.is_empty() {
                ids.sort_by_key(|id| std::cmp::Reverse(id.at));
                ids.truncate(limit);
                return Ok(ids);
            }
        }
        Ok(Vec::new())
    }
}

/// Of several ids none of which is written as the receipt writes it: the one that went to the receipt's number. An id
/// that was given again stands for its newest part.
fn choose(candidates: &[Candidate], source: Option<Msisdn>) -> Match {
    let by_number = |candidate: &&Candidate| source.is_some() && candidate.tie.to == source;
    let told: SmallVec<[&Candidate; 4]> = candidates.iter().filter(by_number).collect();
    let left = if told.is_empty() { candidates.iter().collect() } else { told };
    let Some(first) = left.first() else { return Match::Nothing };
    let same = |other: &&Candidate| other.raw == first.raw || other.tie.part == first.tie.part;
    if left.iter().all(same) { Match::Part(first.tie) } else { Match::Ambiguous }
}

impl RemoteDay {
    fn new(day: Day) -> RemoteDay {
        let table = format!("{TABLE}_{}", day.get());
        let values = "(carrier, key, raw, account, message, part, dest, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        RemoteDay {
            day,
            find_sql: format!(
                "SELECT raw, account, message, part, dest, at FROM {table}
                 WHERE carrier = ?1 AND key = ?2 LIMIT {SAME_KEY_MAX}"
            ),
            insert_sql: format!("INSERT INTO {table} {values} ON CONFLICT DO NOTHING"),
            replace_sql: format!("INSERT OR REPLACE INTO {table} {values}"),
        }
    }

    fn read(
        &self,
        connection: &Connection,
        carrier: CarrierId,
        key: &RemoteKey,
        found: &mut Candidates,
    ) -> Result<(), StoreFault> {
        let mut statement = connection.prepare_cached(&self.find_sql)?;
        let mut rows = statement.query(params![carrier.get(), key.octets()])?;
        while let Some(row) = rows.next()? {
            found.push(self.candidate(row)?);
        }
        Ok(())
    }

    fn candidate(&self, row: &Row<'_>) -> Result<Candidate, StoreFault> {
        let raw = row.get_ref(0)?.as_blob().map_err(StoreFault::damaged)?;
        let message =
            MessageId::from_i64(row.get(2)?).ok_or_else(|| StoreFault::damaged("a carrier id's message"))?;
        let part = PartNo::new(row.get(3)?).ok_or_else(|| StoreFault::damaged("a carrier id's part"))?;
        let dest: i64 = row.get(4)?;
        let tie = Tie {
            part: PartKey { account: AccountId::new(row.get(1)?), message, part },
            to: Msisdn::from_number(dest.cast_unsigned()),
            at: read_time(row.get(5)?),
            day: self.day,
        };
        Ok(Candidate { raw: SmallVec::from_slice(raw), tie })
    }

    fn write(
        &self,
        connection: &Connection,
        sql: &str,
        carrier: CarrierId,
        key: &RemoteKey,
        raw: &[u8],
        tie: &Tie,
    ) -> Result<usize, StoreFault> {
        let Tie { part: PartKey { account, message, part }, to, at, day: _ } = tie;
        let written = connection.prepare_cached(sql)?.execute(params![
            carrier.get(),
            key.octets(),
            raw,
            account.get(),
            message.as_i64(),
            part.get(),
            to.map_or(0, |to| to.number().cast_signed()),
            at.map_or(0, Timestamp::as_millis)
        ])?;
        Ok(written)
    }
}

/// The id as the carrier wrote it.
pub(crate) fn read_id(row: &Row<'_>, key: usize, raw: usize) -> Result<RemoteId, StoreFault> {
    let written = row.get_ref(raw)?.as_blob().map_err(StoreFault::damaged)?;
    let octets =
        if written.is_empty() { row.get_ref(key)?.as_blob().map_err(StoreFault::damaged)? } else { written };
    RemoteId::from_octets(octets).map_err(StoreFault::damaged)
}

fn read_time(stored: i64) -> Option<Timestamp> {
    (stored > 0).then(|| Timestamp::from_millis(stored))
}

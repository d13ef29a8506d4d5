//! Parts of long messages from handsets, which wait for each other: in any order, over any link of their carrier, over
//! restarts. When all are there the message is delivered; after a while what has come of it.

use crate::embedded::batch::Batch;
use crate::embedded::handsets::Arrived;
use crate::embedded::wire;
use crate::fault::StoreFault;
use hermod_domain::ids::CarrierId;
use hermod_domain::inbound::{Alphabet, InboundPart, Piece, Whole, number};
use hermod_domain::origin::WrittenAddress;
use hermod_domain::text::Joined;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{JOINED_OCTETS_MAX, JOINING_WAIT, UNFINISHED_PARTS_PER_CARRIER_MAX};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;

/// Messages delivered for their time in one batch; the rest follow in the next.
const UNFINISHED_PER_BATCH_MAX: u32 = 200;

/// How many parts wait for others, and since when.
pub(crate) struct Joining {
    parts: HashMap<CarrierId, u64>,
    oldest: Option<Timestamp>,
    limit: u64,
}

/// A message of which parts are still to come.
struct Group {
    id: i64,
    parts: u32,
    octets: usize,
    /// The part in question is there already: with other words, or it would have been known for a repeat.
    has_it: bool,
}

impl Joining {
    pub(crate) fn load(connection: &Connection) -> Result<Joining, StoreFault> {
        let mut statement =
            connection.prepare_cached("SELECT carrier, sum(parts) FROM inbound_group GROUP BY carrier")?;
        let rows = statement
            .query_map([], |row| Ok((CarrierId::new(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned())))?;
        let parts = rows.collect::<Result<_, _>>()?;
        Ok(Joining { parts, oldest: oldest(connection)?, limit: UNFINISHED_PARTS_PER_CARRIER_MAX })
    }

    /// When the next message has waited long enough.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.oldest.map(|since| since.plus(JOINING_WAIT))
    }

    fn is_full(&self, carrier: CarrierId) -> bool {
        self.parts.get(&carrier).is_some_and(|parts| *parts >= self.limit)
    }

    fn added(&mut self, carrier: CarrierId, since: Timestamp) {
        *self.parts.entry(carrier).or_default() += 1;
        self.oldest = Some(self.oldest.map_or(since, |oldest| oldest.min(since)));
    }

    fn removed(&mut self, carrier: CarrierId, parts: u64) {
        if let Some(count) = self.parts.get_mut(&carrier) {
            *count = count.saturating_sub(parts);
        }
    }
}

fn oldest(connection: &Connection) -> Result<Option<Timestamp>, StoreFault> {
    let since: Option<i64> =
        connection.prepare_cached("SELECT min(since) FROM inbound_group")?.query_row([], |row| row.get(0))?;
    Ok(since.map(Timestamp::from_millis))
}

impl Batch<'_> {
    /// A part that was not here before.
    pub(crate) fn join(
        &mut self,
        carrier: CarrierId,
        part: &InboundPart,
        joined: Joined,
    ) -> Result<(), StoreFault> {
        let mut group = self.find_group(carrier, part, joined)?;
        let length = part.piece.octets.len();
        // The handset has begun another message under the same reference, or this one would never end.
        if let Some(full) = group.take_if(|group| group.has_it || group.octets + length > JOINED_OCTETS_MAX) {
            self.deliver_group(full.id)?;
        }
        while self.books.joining.is_full(carrier) {
            let Some(oldest) = self.oldest_group(carrier)? else { break };
            group.take_if(|group| group.id == oldest);
            self.deliver_group(oldest)?;
        }
        let Group { id, parts, .. } = match group {
            Some(group) => group,
            None => self.begin_group(carrier, part, joined)?,
        };
        self.add_piece(id, joined.part, &part.piece)?;
        self.books.joining.added(carrier, self.now);
        if parts + 1 == u32::from(joined.total) {
            self.deliver_group(id)?;
        }
        Ok(())
    }

    /// Does a message wait for this very part?
    pub(crate) fn is_lacking(
        &self,
        carrier: CarrierId,
        part: &InboundPart,
        joined: Joined,
    ) -> Result<bool, StoreFault> {
        Ok(self.find_group(carrier, part, joined)?.is_some_and(|group| !group.has_it))
    }

    fn find_group(
        &self,
        carrier: CarrierId,
        part: &InboundPart,
        joined: Joined,
    ) -> Result<Option<Group>, StoreFault> {
        let read = |row: &Row<'_>| {
            let octets = row.get::<_, i64>(2)?.cast_unsigned();
            Ok(Group {
                id: row.get(0)?,
                parts: row.get(1)?,
                octets: usize::try_from(octets).unwrap_or(usize::MAX),
                has_it: row.get(3)?,
            })
        };
        let found = self
            .connection
            .prepare_cached(
                "SELECT id, parts, octets, EXISTS (SELECT 1 FROM inbound_part WHERE grp = g.id AND no = ?6)
                 FROM inbound_group g
                 WHERE carrier = ?1 AND source = ?2 AND dest = ?3 AND reference = ?4 AND total = ?5",
            )?
            .query_row(
                params![
                    carrier.get(),
                    number(&part.source),
                    number(&part.destination),
                    joined.reference,
                    joined.total,
                    joined.part
                ],
                read,
            )
            .optional()?;
        Ok(found)
    }

    fn begin_group(
        &self,
        carrier: CarrierId,
        part: &InboundPart,
        joined: Joined,
    ) -> Result<Group, StoreFault> {
        let InboundPart { source, destination, .. } = part;
        self.connection
            .prepare_cached(
                "INSERT INTO inbound_group (carrier, source, dest, reference, total, ends, parts, octets, since)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, ?7)",
            )?
            .execute(params![
                carrier.get(),
                number(source),
                number(destination),
                joined.reference,
                joined.total,
                &wire::ends_to_blob(source, destination)[..],
                self.now.as_millis()
            ])?;
        Ok(Group { id: self.connection.last_insert_rowid(), parts: 0, octets: 0, has_it: false })
    }

    fn add_piece(&self, group: i64, no: u8, piece: &Piece) -> Result<(), StoreFault> {
        let Piece { data_coding, alphabet, header, octets } = piece;
        self.connection
            .prepare_cached(
                "INSERT INTO inbound_part (grp, no, coding, alphabet, header, octets) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![group, no, data_coding, alphabet.as_u8(), &header[..], &octets[..]])?;
        let length = i64::try_from(octets.len()).unwrap_or(i64::MAX);
        self.connection
            .prepare_cached("UPDATE inbound_group SET parts = parts + 1, octets = octets + ?2 WHERE id = ?1")?
            .execute(params![group, length])?;
        Ok(())
    }

    fn oldest_group(&self, carrier: CarrierId) -> Result<Option<i64>, StoreFault> {
        let found = self
            .connection
            .prepare_cached("SELECT id FROM inbound_group WHERE carrier = ?1 ORDER BY since, id LIMIT 1")?
            .query_row([carrier.get()], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    /// What has come of messages whose other parts were waited for long enough.
    pub(crate) fn deliver_unfinished(&mut self, now: Timestamp) -> Result<(), StoreFault> {
        self.at(now);
        if self.books.joining.next_at().is_none_or(|at| at > now) {
            return Ok(());
        }
        let due: Vec<i64> = {
            let mut statement = self.connection.prepare_cached(
                "SELECT id FROM inbound_group WHERE since <= ?1 ORDER BY since, id LIMIT ?2",
            )?;
            let bounds = params![now.minus(JOINING_WAIT).as_millis(), UNFINISHED_PER_BATCH_MAX];
            let ids = statement.query_map(bounds, |row| row.get(0))?;
            ids.collect::<Result<_, _>>()?
        };
        for group in due {
            self.deliver_group(group)?;
        }
        self.books.joining.oldest = oldest(self.connection)?;
        Ok(())
    }

    /// As it is: nothing is waited for any more.
    fn deliver_group(&mut self, group: i64) -> Result<(), StoreFault> {
        let (carrier, total, (source, destination), since) = self
            .connection
            .prepare_cached(
                "SELECT carrier, total, since, ends, source, dest FROM inbound_group WHERE id = ?1",
            )?
            .query_row([group], |row| {
                let since = Timestamp::from_millis(row.get(2)?);
                Ok((CarrierId::new(row.get(0)?), row.get::<_, u8>(1)?, read_ends(row)?, since))
            })?;
        let pieces = self.pieces_of(group)?;
        for table in ["DELETE FROM inbound_part WHERE grp = ?1", "DELETE FROM inbound_group WHERE id = ?1"] {
            self.connection.prepare_cached(table)?.execute([group])?;
        }
        let count = u8::try_from(pieces.len()).unwrap_or(u8::MAX);
        self.books.joining.removed(carrier, u64::from(count));
        let missing = total.saturating_sub(count);
        if missing > 0 {
            self.tally.inbound_incomplete += 1;
        }
        let whole = Whole::of(&pieces);
        self.arrive(&Arrived { carrier, source, destination, whole, missing, at: since })
    }

    fn pieces_of(&self, group: i64) -> Result<Vec<(u8, Piece)>, StoreFault> {
        let mut statement = self.connection.prepare_cached(
            "SELECT no, coding, alphabet, header, octets FROM inbound_part WHERE grp = ?1 ORDER BY no",
        )?;
        let mut rows = statement.query([group])?;
        let mut pieces = Vec::new();
        while let Some(row) = rows.next()? {
            let piece = Piece {
                data_coding: row.get(1)?,
                // What nobody can read is delivered in hexadecimal digits rather than never.
                alphabet: Alphabet::from_u8(row.get(2)?).unwrap_or(Alphabet::Octets),
                header: row.get::<_, Vec<u8>>(3)?.into(),
                octets: row.get::<_, Vec<u8>>(4)?.into(),
            };
            pieces.push((row.get(0)?, piece));
        }
        Ok(pieces)
    }
}

/// Damaged ones as far as their digits: a message that cannot be delivered would hold up all others.
fn read_ends(row: &Row<'_>) -> Result<(WrittenAddress, WrittenAddress), rusqlite::Error> {
    if let Ok(ends) = wire::ends_of(row.get_ref(3)?.as_blob()?) {
        return Ok(ends);
    }
    let written = |digits: String| WrittenAddress::new(0, 0, digits.as_bytes());
    Ok((written(row.get(4)?), written(row.get(5)?)))
}

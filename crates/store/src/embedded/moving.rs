//! A message goes to another carrier: after errors of the one it was for, or because that one is down. Only while nothing
//! of it is with a carrier or on its way to one. Nothing is charged or given back by it.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::deferred::Due;
use crate::embedded::jobs;
use crate::fault::StoreFault;
use crate::sqlite::columns::stored_state;
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Elsewhere, Move};
use hermod_engine::tables::Place;
use rusqlite::params;

/// Messages moved in one transaction.
const MOVED_PER_WRITE_MAX: usize = 250;

/// What a part's row says about whether it can go elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct Standing {
    pub part: PartNo,
    pub state: PartState,
    pub attempts: u32,
    due_at: Timestamp,
}

impl Standing {
    /// It waits, and no carrier may have it. What is in doubt was given its time to turn up.
    pub(crate) fn is_ours(&self, now: Timestamp) -> bool {
        match self.state {
            PartState::Queued => true,
            PartState::InDoubt => self.due_at <= now,
            PartState::Sending
            | PartState::Sent
            | PartState::Presumed
            | PartState::Enroute
            | PartState::Overdue
            | PartState::Delivered
            | PartState::Undeliverable
            | PartState::Expired
            | PartState::Rejected => false,
        }
    }
}

impl Embedded {
    /// Moves messages that wait for one carrier to another. What is not there any more, has been given to a link or was
    /// moved by somebody else stays as it is. Returns how many were moved; durable when it does.
    pub async fn move_messages(&self, moves: Vec<Move>, now: Timestamp) -> Result<usize, StoreFault> {
        let mut moved = 0;
        for chunk in moves.chunks(MOVED_PER_WRITE_MAX) {
            let chunk = chunk.to_vec();
            moved += self.request(move |batch| batch.move_waiting(&chunk, now)).await?;
        }
        Ok(moved)
    }
}

impl Batch<'_> {
    fn move_waiting(&mut self, moves: &[Move], now: Timestamp) -> Result<usize, StoreFault> {
        self.at(now);
        let mut moved = 0;
        for Move { message, account, from, to } in moves {
            let place = Place { carrier: *from, account: *account, message: *message };
            let parts = self.standings(place)?;
            let ours = parts.iter().all(|part| part.is_ours(self.now));
            if parts.is_empty() || !ours || *from == to.carrier {
                continue;
            }
            self.move_parts(place, &parts, *to, None)?;
            self.note(place.message, PartNo::FIRST, "moved", &way(*from, to.carrier))?;
            moved += 1;
        }
        Ok(moved)
    }

    /// Where each part of a message stands; none if it has ended or is not with this carrier.
    pub(crate) fn standings(&self, place: Place) -> Result<Vec<Standing>, StoreFault> {
        let mut statement = self.connection.prepare_cached(
            "SELECT no, state, attempts, due_at FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3 ORDER BY no",
        )?;
        let mut rows =
            statement.query(params![place.carrier.get(), place.account.get(), place.message.as_i64()])?;
        let mut parts = Vec::new();
        while let Some(row) = rows.next()? {
            parts.push(Standing {
                part: PartNo::new(row.get(0)?).ok_or_else(|| StoreFault::damaged("part number 0"))?,
                state: stored_state(row.get(1)?)?,
                attempts: row.get(2)?,
                due_at: Timestamp::from_millis(row.get(3)?),
            });
        }
        Ok(parts)
    }

    /// Moves a message whose parts are all ours. They wait for a slot at once, or for a time first.
    pub(crate) fn move_parts(
        &mut self,
        place: Place,
        parts: &[Standing],
        to: Elsewhere,
        due_at: Option<Timestamp>,
    ) -> Result<(), StoreFault> {
        let Place { carrier, account, message } = place;
        let there = Place { carrier: to.carrier, ..place };
        self.connection
            .prepare_cached(
                "UPDATE part SET carrier = ?4, due_at = ?5 WHERE carrier = ?1 AND account = ?2 AND message = ?3",
            )?
            .execute(params![
                carrier.get(),
                account.get(),
                message.as_i64(),
                to.carrier.get(),
                due_at.map_or(0, Timestamp::as_millis)
            ])?;
        let in_parts: u8 = self
            .connection
            .prepare_cached("UPDATE message SET carrier = ?2, whole = ?3 WHERE id = ?1 RETURNING parts")?
            .query_row(params![message.as_i64(), to.carrier.get(), to.whole], |row| row.get(0))?;
        let submits = if to.whole { 1 } else { in_parts };
        if parts.len() != usize::from(submits) {
            self.set_parts(there, submits)?;
        }
        // From here on the old carrier's lane must not know it: a stale job would be claimed a second time.
        self.books.lanes.forget(carrier, account, message);
        self.books.standing.remove(&message);
        parts.iter().for_each(|part| self.books.queues.remove(carrier, part.state));
        self.tally.moved += 1;
        for Standing { part, state, .. } in self.standings(there)? {
            self.books.queues.add(to.carrier, state, 1);
            match due_at {
                Some(at) => self.books.deferred.push(Due { at, message, part, carrier: to.carrier, account }),
                None => {
                    if let Some(job) = jobs::load(self.connection, there, part)? {
                        self.books.lanes.arrive(job);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the rows of a message's parts anew, so many of them. All must be ours. Each has the most that any of the old
    /// ones had behind it: whatever may have left keeps the money from coming back.
    pub(crate) fn set_parts(&self, place: Place, count: u8) -> Result<(), StoreFault> {
        let Place { carrier, account, message } = place;
        let (state, doubts, resend, attempts, due_at, expires_at): (i64, i64, i64, i64, i64, i64) = self
            .connection
            .prepare_cached(
                // Of the two states that wait, in doubt is the greater.
                "SELECT max(state), max(doubts), max(resend), max(attempts), max(due_at), max(expires_at) FROM part
                 WHERE carrier = ?1 AND account = ?2 AND message = ?3",
            )?
            .query_row(params![carrier.get(), account.get(), message.as_i64()], |row| row.try_into())?;
        self.connection
            .prepare_cached("DELETE FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3")?
            .execute(params![carrier.get(), account.get(), message.as_i64()])?;
        for part in PartNo::up_to(count) {
            self.connection
                .prepare_cached(
                    "INSERT INTO part
                         (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                )?
                .execute(params![
                    carrier.get(),
                    account.get(),
                    message.as_i64(),
                    part.get(),
                    state,
                    doubts,
                    resend,
                    attempts,
                    due_at,
                    expires_at
                ])?;
        }
        Ok(())
    }
}

/// How a move stands in the timeline.
pub(crate) fn way(from: CarrierId, to: CarrierId) -> String {
    format!("carrier {from} -> carrier {to}")
}

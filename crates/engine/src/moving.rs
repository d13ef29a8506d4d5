//! A message goes to another carrier: after errors of the one it was for, or because that one is down. Only while nothing
//! of it is with a carrier or on its way to one. Nothing is charged or given back by it.

use crate::batch::Batch;
use crate::ops::{Elsewhere, Move};
use crate::state::deferred::Due;
use crate::steps::StepKind;
use crate::tables::{MessageChange, PartChange, PartRow, Place, TableError};
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    pub fn move_waiting(&mut self, moves: &[Move], now: Timestamp) -> Result<usize, TableError> {
        self.at(now);
        let mut moved = 0;
        for Move { message, account, from, to } in moves {
            let place = Place { carrier: *from, account: *account, message: *message };
            let parts = self.read_parts(place)?;
            let ours = parts.iter().all(|part| is_ours(part, self.now));
            if parts.is_empty() || !ours || *from == to.carrier {
                continue;
            }
            self.move_parts(place, &parts, *to, None)?;
            self.add_step(place.message, PartNo::FIRST, StepKind::Moved { from: *from, to: to.carrier });
            moved += 1;
        }
        Ok(moved)
    }

    /// Moves a message whose parts are all ours. They wait for a slot at once, or for a time first.
    pub fn move_parts(
        &mut self,
        place: Place,
        parts: &[PartRow],
        to: Elsewhere,
        due_at: Option<Timestamp>,
    ) -> Result<(), TableError> {
        let Place { carrier, account, message } = place;
        let there = Place { carrier: to.carrier, ..place };
        let in_parts = self.tables.read()?.message_parts(message);
        let Some(in_parts) = self.or_set_aside(place, in_parts)? else { return Ok(()) };
        self.tables.write(PartChange::Move { place, to: to.carrier, due_at });
        self.tables.write(MessageChange::Carrier { message, carrier: to.carrier, whole: to.whole });
        let submits = if to.whole { 1 } else { in_parts };
        if parts.len() != usize::from(submits) {
            self.set_parts(there, submits)?;
        }
        // From here on the old carrier's lane must not know it: a stale job would be claimed a second time.
        self.books.lanes.forget(carrier, account, message);
        self.books.standing.remove(&message);
        parts.iter().for_each(|part| self.books.queues.remove(carrier, part.now.state));
        self.tally.moved += 1;
        let moved = self.tables.read()?.parts(there)?;
        moved.iter().for_each(|part| self.books.queues.add(to.carrier, part.now.state, 1));
        for PartRow { part, .. } in moved {
            match due_at {
                Some(at) => self.books.deferred.push(Due { at, message, part, carrier: to.carrier, account }),
                None => {
                    if let Some(job) = self.read_waiting_job(there, part)? {
                        self.books.lanes.arrive(job);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the rows of a message's parts anew, so many of them. All must be ours. Each has the most that any of the old
    /// ones had behind it: whatever may have left keeps the money from coming back.
    fn set_parts(&self, place: Place, count: u8) -> Result<(), TableError> {
        let rows = self.tables.read()?.parts(place)?;
        let Some(mut most) = rows.first().copied() else {
            return Err(TableError::unreadable(format!("message {} has no parts", place.message)));
        };
        for row in &rows {
            // Of the two states that wait, in doubt is the greater.
            if row.now.state == PartState::InDoubt {
                most.now.state = PartState::InDoubt;
            }
            most.now.doubts = most.now.doubts.max(row.now.doubts);
            if row.doubt.resends_max() > most.doubt.resends_max() {
                most.doubt = row.doubt;
            }
            most.attempts = most.attempts.max(row.attempts);
            most.due_at = most.due_at.max(row.due_at);
            most.expires_at = most.expires_at.max(row.expires_at);
        }
        self.tables.write(PartChange::Delete(place));
        for part in PartNo::up_to(count) {
            self.tables.write(PartChange::Add(PartRow { part, ..most }));
        }
        Ok(())
    }
}

/// Whether a part waits, and no carrier may have it. What is in doubt was given its time to turn up.
pub fn is_ours(part: &PartRow, now: Timestamp) -> bool {
    match part.now.state {
        PartState::Queued => true,
        PartState::InDoubt => part.due_at.is_none_or(|due_at| due_at <= now),
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

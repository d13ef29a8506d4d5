//! Reading where a message stands, and writing where it stands next. While a message has not ended, its parts' rows say
//! it all; the message's own row is touched only when the customer's view changes for good: when it is enroute, when its
//! code changes, and when it ends. That saves a write per message.

use crate::embedded::batch::{Batch, Known};
use crate::embedded::reports::{self, Audience};
use crate::fault::StoreFault;
use crate::sqlite::columns::stored_state;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::lifecycle::{self, Event, MessageState, Moved, Part, PartState, Parts, Progress, Step};
use hermod_domain::money::Money;
use hermod_domain::origin::Told;
use hermod_domain::receipt::DlrCode;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{Place, UNKNOWN_LINE};
use rusqlite::{Connection, params};

/// What an event did to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// The part is now this.
    Moved {
        part: Part,
        ended: bool,
    },
    Ignored,
    /// The message has ended, or is with another carrier: nothing can happen to it here any more.
    Over,
}

impl Batch<'_> {
    /// The one way a state changes: load, decide, write.
    pub(crate) fn apply(
        &mut self,
        place: Place,
        part: PartNo,
        event: Event,
        err: u16,
        due_at: Option<Timestamp>,
    ) -> Result<Applied, StoreFault> {
        let Some((before, mut audience)) = self.standing_of(place)? else { return Ok(Applied::Over) };
        match lifecycle::apply(&before, part, event) {
            Step::Moved(moved) => {
                self.write(place, part, event, &before, &moved, err, due_at)?;
                let unknown = Told::Final(DlrCode::Unknown);
                let news = reports::news(event, &before, &moved);
                let repeats = news == Some(unknown) && self.was_unknown(place.message, &before)?;
                if let Some(told) = news.filter(|_| !repeats) {
                    if told == unknown {
                        self.note(place.message, part, UNKNOWN_LINE, "no receipt came in time")?;
                    }
                    self.tell(place, told, &moved.after, err, &mut audience)?;
                }
                let now = *moved.after.parts.get(part.index()).expect("the part that moved");
                if now.state == PartState::Presumed {
                    self.tally.doubts.unconfirmed += 1;
                    *self.unconfirmed.entry(place.carrier).or_default() += 1;
                }
                let ended = moved.after.state.is_final();
                if ended {
                    self.books.standing.remove(&place.message);
                } else {
                    let known = Known { carrier: place.carrier, progress: moved.after, audience };
                    self.books.standing.insert(place.message, known);
                }
                Ok(Applied::Moved { part: now, ended })
            }
            Step::Ignored => Ok(Applied::Ignored),
            Step::Illegal => {
                self.tally.illegal += 1;
                tracing::error!(message.id = %place.message, part = %part, ?event, ?before, "An event that the lifecycle forbids was not applied");
                Ok(Applied::Ignored)
            }
        }
    }

    /// Was a message reported UNKNOWN before? Its parts alone cannot tell: the one that was overdue may have been delivered
    /// since, while another was still being sent.
    fn was_unknown(&self, message: MessageId, before: &Progress) -> Result<bool, StoreFault> {
        if before.parts.len() == 1 {
            return Ok(false);
        }
        Ok(self.tables.has_timeline_line(message, UNKNOWN_LINE)?)
    }

    /// Nothing if it has ended, or is with another carrier.
    fn standing_of(&self, place: Place) -> Result<Option<(Progress, Audience)>, StoreFault> {
        match self.books.standing.get(&place.message) {
            Some(Known { carrier, progress, audience }) => {
                Ok((*carrier == place.carrier).then(|| (progress.clone(), audience.clone())))
            }
            None => Ok(load(self.connection, place)?.map(|progress| (progress, Audience::Unread))),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one fact: everything that is written together")]
    fn write(
        &mut self,
        place: Place,
        part: PartNo,
        event: Event,
        before: &Progress,
        moved: &Moved,
        err: u16,
        due_at: Option<Timestamp>,
    ) -> Result<(), StoreFault> {
        let Moved { after, dlr, refund } = moved;
        if after.state.is_final() {
            self.settle(place, moved, err)?;
            self.books.queues.ended(place.carrier, &before.parts);
            if *refund {
                self.give_back(place)?;
            }
            return Ok(());
        }
        let now = after.parts.get(part.index()).expect("the part that moved");
        let was = before.parts.get(part.index()).expect("the part that moved");
        self.books.queues.changed(place.carrier, was.state, now.state);
        let attempt = i64::from(event == Event::Deferred && due_at.is_some());
        self.connection
            .prepare_cached(
                "UPDATE part SET state = ?5, doubts = ?6, attempts = attempts + ?7, due_at = ?8
                 WHERE carrier = ?1 AND account = ?2 AND message = ?3 AND no = ?4",
            )?
            .execute(params![
                place.carrier.get(),
                place.account.get(),
                place.message.as_i64(),
                part.get(),
                now.state.to_stored(),
                now.doubts,
                attempt,
                due_at.map_or(0, Timestamp::as_millis)
            ])?;
        let enroute = before.state != after.state && after.state == MessageState::Enroute;
        if let Some(code) = dlr.filter(|_| enroute || event == Event::ReceiptOverdue) {
            self.connection
                .prepare_cached("UPDATE message SET state = ?2, dlr = ?3, err = ?4 WHERE id = ?1")?
                .execute(params![place.message.as_i64(), after.state.to_stored(), code.as_u8(), err])?;
        }
        Ok(())
    }

    /// The message ends: its row says how, its parts' rows go.
    fn settle(&mut self, place: Place, moved: &Moved, err: u16) -> Result<(), StoreFault> {
        let code = moved.dlr.expect("every end has a code");
        let updated = self
            .connection
            .prepare_cached(
                "UPDATE message SET state = ?2, dlr = ?3, err = ?4, settled_at = ?5 WHERE id = ?1",
            )?
            .execute(params![
                place.message.as_i64(),
                moved.after.state.to_stored(),
                code.as_u8(),
                err,
                self.now.as_millis()
            ])?;
        if updated != 1 {
            return Err(StoreFault::damaged(format!("message {} has parts and no row", place.message)));
        }
        self.connection
            .prepare_cached("DELETE FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3")?
            .execute(params![place.carrier.get(), place.account.get(), place.message.as_i64()])?;
        self.tally.settled += 1;
        Ok(())
    }

    fn give_back(&mut self, place: Place) -> Result<(), StoreFault> {
        let cost: i64 = self
            .connection
            .prepare_cached("SELECT cost FROM message WHERE id = ?1")?
            .query_row([place.message.as_i64()], |row| row.get(0))?;
        self.refund(place.account, place.message, Money::from_micros(cost))?;
        self.tally.refunded += 1;
        Ok(())
    }
}

/// Where a message stands. Nothing if it has no parts left: it has ended, or it never was.
pub(crate) fn load(connection: &Connection, place: Place) -> Result<Option<Progress>, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT state, doubts FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3 ORDER BY no",
    )?;
    let mut rows =
        statement.query(params![place.carrier.get(), place.account.get(), place.message.as_i64()])?;
    let mut parts = Parts::new();
    while let Some(row) = rows.next()? {
        parts.push(Part { state: stored_state(row.get(0)?)?, doubts: row.get(1)? });
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let remembered =
        if needs_memory(&parts) { stored_message_state(connection, place)? } else { MessageState::Queued };
    Ok(Some(Progress::of(remembered, parts)))
}

/// Only the message's row remembers that a part was enroute before it was delivered or overdue. It is asked only where
/// that can matter: once every part was handed over and none is enroute now.
fn needs_memory(parts: &[Part]) -> bool {
    let was_further = |part: &Part| matches!(part.state, PartState::Delivered | PartState::Overdue);
    parts.iter().all(|part| was_further(part) || matches!(part.state, PartState::Sent | PartState::Presumed))
        && parts.iter().any(was_further)
}

fn stored_message_state(connection: &Connection, place: Place) -> Result<MessageState, StoreFault> {
    let state: i64 = connection
        .prepare_cached("SELECT state FROM message WHERE id = ?1")?
        .query_row([place.message.as_i64()], |row| row.get(0))?;
    MessageState::from_stored(state).map_err(StoreFault::damaged)
}

//! Reading where a message stands, and writing where it stands next. While a message has not ended, its parts' rows say
//! it all; the message's own row is touched only when the customer's view changes for good: when it is enroute, when its
//! code changes, and when it ends. That saves a write per message.

use crate::batch::{Batch, ForbiddenEvent, Known};
use crate::report;
use crate::state::audience::Audience;
use crate::steps::StepKind;
use crate::tables::{
    MessageChange, MessageExceptionChange, MessageStanding, PartChange, Place, TableError, Tables,
    UnreadablePart,
};
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::lifecycle::{self, Event, MessageState, Moved, Part, PartState, Progress, Step};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::time::Timestamp;

/// What an event did to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The part is now this.
    Moved {
        part: Part,
        ended: bool,
    },
    Ignored,
    /// The message has ended, or is with another carrier: nothing can happen to it here any more.
    Over,
}

/// What a part waits for after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub until: Timestamp,
    /// Temporary errors, if this is one more.
    pub attempts: Option<u32>,
}

/// What came of writing where a message stands next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    All,
    /// Its parts make no sense without their message: they were set aside.
    SetAside,
}

impl Batch<'_> {
    /// The one way a state changes: load, decide, write. `step`: what is added to the message's steps if the part moves.
    pub fn apply(
        &mut self,
        place: Place,
        part: PartNo,
        event: Event,
        err: u16,
        wait: Option<Wait>,
        step: Option<StepKind>,
    ) -> Result<Applied, TableError> {
        let standing = self.standing_of(place);
        let Some((before, mut audience)) = self.or_set_aside(place, standing)?.flatten() else {
            return Ok(Applied::Over);
        };
        match lifecycle::apply(&before, part, event) {
            Step::Moved(moved) => {
                let written = self.write(place, part, event, &before, &moved, err, wait, &audience)?;
                if written == Written::SetAside {
                    return Ok(Applied::Over);
                }
                if let Some(step) = step {
                    self.add_step(place.message, part, step);
                }
                let unknown = ReportStatus::Final(DlrCode::Unknown);
                let news = report::news(event, &before, &moved);
                let repeats = news == Some(unknown) && self.was_unknown(place.message, &before)?;
                if let Some(told) = news.filter(|_| !repeats) {
                    if told == unknown {
                        let (message, at) = (place.message, self.now);
                        self.tables.write(MessageExceptionChange::Unknown { message, at });
                        self.add_step(message, part, StepKind::Unknown);
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
                    let known = Known {
                        account: place.account,
                        carrier: place.carrier,
                        progress: moved.after,
                        audience,
                    };
                    self.books.standing.insert(place.message, known);
                }
                Ok(Applied::Moved { part: now, ended })
            }
            Step::Ignored => Ok(Applied::Ignored),
            Step::Illegal => {
                self.tally.illegal += 1;
                self.forbidden.push(ForbiddenEvent { message: place.message, part, event, before });
                Ok(Applied::Ignored)
            }
        }
    }

    /// Was a message reported UNKNOWN before? Its parts alone cannot tell: the one that was overdue may have been delivered
    /// since, while another was still being sent.
    fn was_unknown(&self, message: MessageId, before: &Progress) -> Result<bool, TableError> {
        if before.parts.len() == 1 {
            return Ok(false);
        }
        Ok(self.tables.read()?.message_exceptions(message)?.unknown_at.is_some())
    }

    /// Nothing if it has ended, or is with another carrier.
    fn standing_of(&self, place: Place) -> Result<Option<(Progress, Audience)>, TableError> {
        match self.books.standing.get(&place.message) {
            Some(Known { carrier, progress, audience, .. }) => {
                Ok((*carrier == place.carrier).then(|| (progress.clone(), audience.clone())))
            }
            None => Ok(load(self.tables, place)?.map(|progress| (progress, Audience::Unread))),
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
        wait: Option<Wait>,
        audience: &Audience,
    ) -> Result<Written, TableError> {
        let Moved { after, dlr, refund: _ } = moved;
        if after.state.is_final() {
            if self.settle(place, moved, err, audience)? == Written::SetAside {
                return Ok(Written::SetAside);
            }
            self.books.queues.ended(place.carrier, &before.parts);
            return Ok(Written::All);
        }
        let now = after.parts.get(part.index()).expect("the part that moved");
        let was = before.parts.get(part.index()).expect("the part that moved");
        self.books.queues.changed(place.carrier, was.state, now.state);
        let (due_at, attempts) = (wait.map(|wait| wait.until), wait.and_then(|wait| wait.attempts));
        self.tables.write(PartChange::State { place, part, now: *now, due_at, attempts });
        let enroute = before.state != after.state && after.state == MessageState::Enroute;
        if let Some(code) = dlr.filter(|_| enroute || event == Event::ReceiptOverdue) {
            let standing = MessageStanding { state: after.state, code, err };
            self.tables.write(MessageChange::Standing { message: place.message, standing });
        }
        Ok(Written::All)
    }

    /// The message ends: its row says how, its parts' rows go, its cost is given back if it should be. Parts without a
    /// message, or with a cost that cannot be given back, are set aside.
    fn settle(
        &mut self,
        place: Place,
        moved: &Moved,
        err: u16,
        audience: &Audience,
    ) -> Result<Written, TableError> {
        let code = moved.dlr.expect("every end has a code");
        let standing = MessageStanding { state: moved.after.state, code, err };
        if !self.has_row(place, audience)? {
            let reason = "its message has no row".to_owned();
            self.set_aside(UnreadablePart { place: place.into(), reason })?;
            return Ok(Written::SetAside);
        }
        let refund = if moved.refund { self.refund_of(place).map(Some) } else { Ok(None) };
        let Some(refund) = self.or_set_aside(place, refund)? else { return Ok(Written::SetAside) };
        let message = place.message;
        self.tables.write(MessageChange::End { message, standing, settled_at: self.now });
        self.tables.write(PartChange::Delete(place));
        self.tally.settled += 1;
        if let Some(refund) = refund {
            self.refund(place.account, message, refund);
            self.tally.refunded += 1;
        }
        Ok(Written::All)
    }

    /// Returns whether a message has a row. Who is told of it was read from there, or is not known yet.
    fn has_row(&self, place: Place, audience: &Audience) -> Result<bool, TableError> {
        match audience {
            Audience::Web(_) | Audience::Customer(_) => Ok(true),
            Audience::Unread | Audience::Nobody => {
                self.tables.read()?.has_message(place.account, place.message)
            }
        }
    }
}

/// Where a message stands. Nothing if it has no parts left: it has ended, or it never was.
pub fn load(tables: &Tables<'_>, place: Place) -> Result<Option<Progress>, TableError> {
    let parts = tables.read()?.part_states(place)?;
    if parts.is_empty() {
        return Ok(None);
    }
    let remembered = if needs_memory(&parts) {
        tables.read()?.message_state(place.message)?
    } else {
        MessageState::Queued
    };
    Ok(Some(Progress::of(remembered, parts)))
}

/// Only the message's row remembers that a part was enroute before it was delivered or overdue. It is asked only where
/// that can matter: once every part was handed over and none is enroute now.
fn needs_memory(parts: &[Part]) -> bool {
    let was_further = |part: &Part| matches!(part.state, PartState::Delivered | PartState::Overdue);
    parts.iter().all(|part| was_further(part) || matches!(part.state, PartState::Sent | PartState::Presumed))
        && parts.iter().any(was_further)
}

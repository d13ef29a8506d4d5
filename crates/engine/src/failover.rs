//! When a carrier does not want a message and there is another that could take it. Which one that is, and whether its
//! route wants it, was decided before the answer came here.

use crate::answer::scheduled;
use crate::batch::Batch;
use crate::moving::is_ours;
use crate::ops::Elsewhere;
use crate::progress::{Applied, Wait};
use crate::steps::StepKind;
use crate::tables::{MessageExceptionChange, Place, TableError};
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::{Event, PartState};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// Temporary errors of a part before its message goes to another carrier.
const FAILURES_BEFORE_FAILOVER: u32 = 2;
/// How long a message may wait for a carrier that throttles its recipient before another one gets it.
const THROTTLED_WAIT_MAX: Duration = Duration::from_secs(10);

impl Batch<'_> {
    /// After a temporary error, when the part waits again: true if its message went to the other carrier. The first time
    /// it is sent there at once. A message that has failed more often keeps its growing waits, or two carriers that
    /// are both in trouble would pass it to and fro without a pause.
    pub fn fail_over(
        &mut self,
        place: Place,
        part: PartNo,
        to: Elsewhere,
        due_at: Timestamp,
    ) -> Result<bool, TableError> {
        let parts = self.read_parts(place)?;
        let failures = parts.iter().map(|part| part.attempts).max().unwrap_or(0);
        let ours = parts.iter().all(|part| is_ours(part, self.now));
        if failures < FAILURES_BEFORE_FAILOVER
            || !ours
            || to.carrier == place.carrier
            || self.has_refused(place, to.carrier)?
        {
            return Ok(false);
        }
        let due_at = (failures > FAILURES_BEFORE_FAILOVER).then_some(due_at);
        self.move_parts(place, &parts, to, due_at)?;
        self.note_failed_over(place, part, to.carrier);
        Ok(true)
    }

    /// After a carrier throttled the recipient of a part again and again: true if its message went to the other carrier. It
    /// does so once only: two carriers that both throttle it would pass it to and fro.
    pub fn fail_over_throttled(
        &mut self,
        place: Place,
        part: PartNo,
        to: Elsewhere,
    ) -> Result<bool, TableError> {
        if self.now < place.message.accepted_at().plus(THROTTLED_WAIT_MAX)
            || to.carrier == place.carrier
            || self.has_failed_over(place)?
            || self.has_refused(place, to.carrier)?
        {
            return Ok(false);
        }
        let parts = self.read_parts(place)?;
        if parts.is_empty() || !parts.iter().all(|part| is_ours(part, self.now)) {
            return Ok(false);
        }
        self.move_parts(place, &parts, to, None)?;
        self.note_failed_over(place, part, to.carrier);
        Ok(true)
    }

    fn note_failed_over(&mut self, place: Place, part: PartNo, to: CarrierId) {
        self.tables.write(MessageExceptionChange::FailedOver(place.message));
        self.add_step(place.message, part, StepKind::FailedOver { from: place.carrier, to });
    }

    fn has_failed_over(&self, place: Place) -> Result<bool, TableError> {
        Ok(self.tables.read()?.message_exceptions(place.message)?.has_failed_over)
    }

    /// A carrier refused a part for good: true if its message goes on all the same. It moves once none of its parts is
    /// on its way any more, and only if none was taken; until that is known the part waits. No carrier that refused a
    /// message gets it again.
    pub fn refused_here(
        &mut self,
        place: Place,
        part: PartNo,
        status: u32,
        to: Elsewhere,
    ) -> Result<bool, TableError> {
        let parts = self.read_parts(place)?;
        let refused = parts.iter().find(|standing| standing.part == part);
        let Some(refused) = refused.filter(|refused| refused.now.state == PartState::Sending) else {
            return Ok(false);
        };
        let others = || parts.iter().filter(|other| other.part != part);
        let on_their_way = others().any(|other| other.now.state == PartState::Sending);
        let ours = others().all(|other| is_ours(other, self.now) || other.now.state == PartState::Sending);
        if !ours || to.carrier == place.carrier || self.has_refused(place, to.carrier)? {
            return Ok(false);
        }
        let attempts = refused.attempts + 1;
        let due_at = self.now.plus(scheduled(attempts, place));
        let wait = Wait { until: due_at, attempts: Some(attempts) };
        let step = StepKind::Refused { carrier: place.carrier, status };
        let Applied::Moved { .. } = self.apply(place, part, Event::Deferred, 0, Some(wait), Some(step))?
        else {
            return Ok(false);
        };
        self.tables.write(MessageExceptionChange::Refused { message: place.message, by: place.carrier });
        if on_their_way {
            self.push_due(place, part, due_at);
        } else {
            let parts = self.read_parts(place)?;
            self.move_parts(place, &parts, to, None)?;
            self.note_failed_over(place, part, to.carrier);
        }
        Ok(true)
    }

    fn has_refused(&self, place: Place, carrier: CarrierId) -> Result<bool, TableError> {
        self.tables.read()?.has_refused(place.message, carrier)
    }
}

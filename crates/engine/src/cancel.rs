//! Cancels a message while no carrier has, or may have, any of its parts.

use crate::batch::Batch;
use crate::ops::{CancelOutcome, ExpectedParties};
use crate::progress::{self, Applied};
use crate::state::aliases;
use crate::steps::StepKind;
use crate::tables::{MessageKey, TableError};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{Part, PartEvent};
use hermod_domain::origin::MessageName;
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    /// Cancels a message of the account and refunds its cost, if all its parts are queued and none is in doubt. Returns
    /// `NotFound` if the account has no such message with these parties, and `TooLate` otherwise.
    pub fn cancel(
        &mut self,
        account: AccountId,
        name: MessageName,
        expected: &ExpectedParties,
        now: Timestamp,
    ) -> Result<CancelOutcome, TableError> {
        self.advance_to(now);
        let Some(message) = aliases::named(self.tables, account, name)? else {
            return Ok(CancelOutcome::NotFound);
        };
        // Accepted in this batch: its id is not returned yet, so the caller guessed it.
        if self.fresh.iter().any(|part| part.message == message) {
            return Ok(CancelOutcome::NotFound);
        }
        let Some(carrier) = self.carrier_of(account, message, expected)? else {
            return Ok(CancelOutcome::NotFound);
        };
        let key = MessageKey { carrier, account, message };
        if !self.is_untouched(key)? {
            return Ok(CancelOutcome::TooLate);
        }
        match self.apply(key, PartNo::FIRST, PartEvent::Withdrawn, 0, None, Some(StepKind::Cancelled))? {
            Applied::Moved { ended: true, .. } => {
                self.state.lanes.remove_message(carrier, account, message);
                Ok(CancelOutcome::Cancelled)
            }
            Applied::Moved { ended: false, .. } | Applied::Ignored | Applied::Inactive => {
                Ok(CancelOutcome::TooLate)
            }
        }
    }

    /// Returns the carrier of a message that has the parties the customer expects.
    fn carrier_of(
        &self,
        account: AccountId,
        message: MessageId,
        expected: &ExpectedParties,
    ) -> Result<Option<CarrierId>, TableError> {
        let found = self.tables.read()?.message_parties(account, message)?;
        let expected = found.filter(|parties| expected.include(&parties.from, parties.to));
        Ok(expected.map(|parties| parties.carrier))
    }

    /// Whether all parts of a message are queued and none was ever in doubt. A part that the carrier throttled counts.
    fn is_untouched(&self, key: MessageKey) -> Result<bool, TableError> {
        let Some(progress) = progress::load(self.tables, key)? else { return Ok(false) };
        Ok(progress.parts.iter().all(|part| *part == Part::QUEUED))
    }
}

//! Taking a message back, for as long as nothing of it was given to a link.

use crate::aliases;
use crate::batch::Batch;
use crate::ops::Cancelled;
use crate::progress::{self, Applied};
use crate::tables::{MessageParties, Place, TableError};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{Event, Part};
use hermod_domain::origin::MessageName;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    pub fn cancel(
        &mut self,
        account: AccountId,
        name: MessageName,
        check: &dyn Fn(&Sender, Msisdn) -> bool,
        now: Timestamp,
    ) -> Result<Cancelled, TableError> {
        self.at(now);
        let Some(message) = aliases::named(self.tables, account, name)? else {
            return Ok(Cancelled::Unknown);
        };
        // Accepted in this very batch: nobody has been told its name yet, so whoever names it has guessed.
        if self.fresh.iter().any(|part| part.message == message) {
            return Ok(Cancelled::Unknown);
        }
        let Some(carrier) = self.agreed_on(account, message, check)? else { return Ok(Cancelled::Unknown) };
        let place = Place { carrier, account, message };
        if !self.is_untouched(place)? {
            return Ok(Cancelled::TooLate);
        }
        match self.apply(place, PartNo::FIRST, Event::Withdrawn, 0, None)? {
            Applied::Moved { ended: true, .. } => {
                self.books.lanes.forget(carrier, account, message);
                self.note(message, PartNo::FIRST, "cancelled", "by the customer")?;
                Ok(Cancelled::Done)
            }
            Applied::Moved { ended: false, .. } | Applied::Ignored | Applied::Over => Ok(Cancelled::TooLate),
        }
    }

    /// The carrier of a message that is sent from where and to whom the customer says.
    fn agreed_on(
        &self,
        account: AccountId,
        message: MessageId,
        check: &dyn Fn(&Sender, Msisdn) -> bool,
    ) -> Result<Option<CarrierId>, TableError> {
        let found = self.tables.message_parties(account, message)?;
        let agreed = found.filter(|MessageParties { from, to, .. }| check(from, *to));
        Ok(agreed.map(|parties| parties.carrier))
    }

    /// It has parts, and none of them was ever on its way.
    fn is_untouched(&self, place: Place) -> Result<bool, TableError> {
        let Some(progress) = progress::load(self.tables, place)? else { return Ok(false) };
        Ok(progress.parts.iter().all(|part| *part == Part::WAITING))
    }
}

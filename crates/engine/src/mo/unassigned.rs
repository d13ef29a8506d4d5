//! Messages that are nobody's: kept for the operator, who may know whose they are.

use crate::batch::Batch;
use crate::mo::{Arrived, Owner};
use crate::ops::{InboundRecord, UNOWNED_KEPT};
use crate::tables::{TableError, UnassignedInboundChange, UnassignedMessage, UnassignedRow, Wire};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::inbound::{Whole, shown};
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    pub fn keep_unassigned(&mut self, message: MessageId, arrived: &Arrived) {
        let Arrived { carrier, source, destination, whole, missing, at } = arrived;
        self.tables.write(UnassignedInboundChange::Add(Box::new(UnassignedRow {
            message,
            carrier: *carrier,
            from: shown(source),
            to: shown(destination),
            text: whole.text.clone(),
            wire: arrived.wire(),
            missing: *missing,
            received_at: *at,
        })));
    }

    /// Gives such a message to an account. `None` if there is none.
    pub fn assign_inbound(
        &mut self,
        message: MessageId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<InboundRecord>, TableError> {
        self.at(now);
        let Some(found) = self.tables.read()?.unassigned(message)? else { return Ok(None) };
        self.tables.write(UnassignedInboundChange::Delete(message));
        let owner = Owner { account, connection: None };
        self.deliver_to(owner, message, &Arrived::from_unassigned(found)).map(Some)
    }

    /// Deletes messages that were kept long enough, at most `limit`. Returns how many.
    pub fn forget_unassigned(&mut self, now: Timestamp, limit: usize) -> Result<usize, TableError> {
        self.at(now);
        let before = MessageId::first_at(now.minus(UNOWNED_KEPT));
        let old = self.tables.read()?.unassigned_below(before, limit)?;
        old.iter().for_each(|message| self.tables.write(UnassignedInboundChange::Delete(*message)));
        Ok(old.len())
    }
}

impl Arrived {
    fn from_unassigned(message: UnassignedMessage) -> Arrived {
        let UnassignedMessage { carrier, text, wire, missing, received_at: at } = message;
        let Wire { source, destination, form, header } = wire;
        Arrived { carrier, source, destination, whole: Whole { text, form, header }, missing, at }
    }
}

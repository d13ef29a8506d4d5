//! MO messages without an owner. They are kept for the operator, who can assign them to an account.

use crate::batch::Batch;
use crate::mo::{Owner, ReceivedMo};
use crate::ops::{InboundRecord, UNASSIGNED_KEPT};
use crate::tables::{TableError, UnassignedInboundChange, UnassignedMessage, UnassignedRow, Wire};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::inbound::{MoContent, display_address};
use hermod_domain::time::Timestamp;

impl Batch<'_> {
    /// Stores a message without an owner.
    pub fn add_unassigned(&mut self, message: MessageId, mo: &ReceivedMo) {
        let ReceivedMo { carrier, source, destination, whole, missing, at } = mo;
        self.tables.write(UnassignedInboundChange::Add(Box::new(UnassignedRow {
            message,
            carrier: *carrier,
            from: display_address(source),
            to: display_address(destination),
            text: whole.text.clone(),
            wire: mo.wire(),
            missing: *missing,
            received_at: *at,
        })));
    }

    /// Gives an unassigned message to an account. Returns none if there is no such message.
    pub fn assign_inbound(
        &mut self,
        message: MessageId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<InboundRecord>, TableError> {
        self.advance_to(now);
        let Some(found) = self.tables.read()?.unassigned(message)? else { return Ok(None) };
        self.tables.write(UnassignedInboundChange::Delete(message));
        let owner = Owner { account, connection: None };
        self.deliver_to_owner(owner, message, &ReceivedMo::from_unassigned(found)).map(Some)
    }

    /// Deletes unassigned messages that were kept for [`UNASSIGNED_KEPT`], at most `limit`. Returns how many.
    pub fn forget_unassigned(&mut self, now: Timestamp, limit: usize) -> Result<usize, TableError> {
        self.advance_to(now);
        let before = MessageId::first_at(now.minus(UNASSIGNED_KEPT));
        let old = self.tables.read()?.unassigned_below(before, limit)?;
        old.iter().for_each(|message| self.tables.write(UnassignedInboundChange::Delete(*message)));
        Ok(old.len())
    }
}

impl ReceivedMo {
    fn from_unassigned(message: UnassignedMessage) -> ReceivedMo {
        let UnassignedMessage { carrier, text, wire, missing, received_at: at } = message;
        let Wire { source, destination, form, header } = wire;
        ReceivedMo { carrier, source, destination, whole: MoContent { text, form, header }, missing, at }
    }
}

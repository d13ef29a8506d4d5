//! MO messages without an owner. They are kept for the operator, who can assign them to an account.

use crate::batch::Batch;
use crate::entry_uses;
use crate::mo::delivery::{self, Owner, ReceivedMo};
use crate::ops::{InboundRecord, NumberedEntry, UNASSIGNED_KEPT};
use crate::tables::{RowChange, TableError, UnassignedRow, Wire};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::inbound::MoContent;
use hermod_domain::time::Timestamp;

/// Gives an unassigned message to an account. Fails if the account was removed. Returns none if there is no such message.
pub fn assign(
    batch: &mut Batch<'_>,
    message: MessageId,
    account: AccountId,
    now: Timestamp,
) -> Result<Option<InboundRecord>, TableError> {
    batch.advance_to(now);
    let Some(found) = batch.tables.read()?.unassigned(message)? else { return Ok(None) };
    entry_uses::check_present(batch, NumberedEntry::Account(account))?;
    batch.tables.write(RowChange::<UnassignedRow>::Delete((message,)));
    let owner = Owner { account, connection: None };
    delivery::deliver_to(batch, owner, message, &ReceivedMo::from_unassigned(found)).map(Some)
}

/// Deletes unassigned messages that were kept for [`UNASSIGNED_KEPT`], at most `limit`. Returns how many.
pub fn forget(batch: &mut Batch<'_>, now: Timestamp, limit: usize) -> Result<usize, TableError> {
    batch.advance_to(now);
    let before = MessageId::first_at(now.minus(UNASSIGNED_KEPT));
    let old = batch.tables.read()?.unassigned_below(before, limit)?;
    old.iter().for_each(|message| batch.tables.write(RowChange::<UnassignedRow>::Delete((*message,))));
    Ok(old.len())
}

impl ReceivedMo {
    fn from_unassigned(message: UnassignedRow) -> ReceivedMo {
        let UnassignedRow { carrier, text, wire, missing, received_at: at, .. } = message;
        let Wire { source, destination, form, header } = wire;
        ReceivedMo { carrier, source, destination, whole: MoContent { text, form, header }, missing, at }
    }
}

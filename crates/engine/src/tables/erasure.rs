//! What erasing a phone number reads and overwrites.

use crate::tables::{OriginRow, TableError};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::phone::Msisdn;

/// What is still done with a message, and what of it is to be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasableMessage {
    pub carrier: CarrierId,
    pub to: Msisdn,
    pub origin: Option<OriginRow>,
    pub has_ended: bool,
    /// A report about it waits for its connection.
    pub has_report: bool,
    /// A webhook event about it waits.
    pub has_webhook_event: bool,
}

/// An account's MO message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboundKey {
    pub account: AccountId,
    pub id: u64,
}

/// What is still done with an MO message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErasableInbound {
    /// It waits for a connection.
    pub has_report: bool,
    /// It waits for a webhook.
    pub has_webhook_event: bool,
}

/// Reads and overwrites what erasing a phone number touches.
pub trait ErasureRows {
    /// Sets whether what is deleted is overwritten, instead of being left in free space.
    fn overwrite_deleted(&self, overwrite: bool) -> Result<(), TableError>;

    /// Returns a message as erasing needs it; none if it has no row.
    fn erasable_message(&self, message: MessageId) -> Result<Option<ErasableMessage>, TableError>;

    /// Writes a message's recipient and origin, and that it has no text.
    fn put_erased_message(
        &self,
        message: MessageId,
        to: u64,
        origin: Option<&OriginRow>,
    ) -> Result<(), TableError>;

    /// Deletes the parts of a message from those that receipts match by number.
    fn erase_unnamed_parts(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        message: MessageId,
    ) -> Result<(), TableError>;

    /// Returns an MO message as erasing needs it.
    fn erasable_inbound(&self, key: InboundKey) -> Result<Option<ErasableInbound>, TableError>;

    /// Writes an MO message's sender, and that it has no text.
    fn put_erased_inbound(&self, key: InboundKey, from: u64) -> Result<(), TableError>;

    /// Deletes the reviews of messages to a number, of one account or of all, and returns how many.
    fn erase_reviews(&self, number: Msisdn, account: Option<AccountId>) -> Result<u64, TableError>;

    /// Deletes the conversations with a handset, of one account or of all, and returns how many.
    fn erase_conversations(&self, handset: Msisdn, account: Option<AccountId>) -> Result<u64, TableError>;

    /// Removes a number from all parked receipts and returns from how many.
    fn erase_parked_receipts(&self, number: Msisdn) -> Result<u64, TableError>;

    /// Deletes the unassigned MO messages from a handset and returns how many.
    fn erase_unassigned_inbound(&self, handset: Msisdn) -> Result<u64, TableError>;
}

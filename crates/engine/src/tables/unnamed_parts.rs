//! The table of parts that carriers took without giving them an id.

use crate::tables::{PartKey, TableError};
use hermod_domain::ids::CarrierId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;

/// A part that a carrier took without giving it an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnnamedPart {
    pub carrier: CarrierId,
    pub to: Msisdn,
    pub part: PartKey,
    /// When the carrier took it.
    pub at: Timestamp,
}

/// Reads and writes parts that carriers took without giving them an id.
pub trait UnnamedPartRows {
    /// Returns up to `limit` parts that a carrier took for this recipient, each with the sender of its message, the
    /// oldest message first.
    fn unnamed_parts(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        limit: usize,
    ) -> Result<Vec<(UnnamedPart, Sender)>, TableError>;

    /// Writes a part's row, new or not.
    fn put_unnamed_part(&self, part: &UnnamedPart) -> Result<(), TableError>;

    /// Deletes a part's row.
    fn delete_unnamed_part(&self, carrier: CarrierId, to: Msisdn, part: &PartKey) -> Result<(), TableError>;

    /// Deletes a part's row if the carrier took the part before this time.
    fn delete_unnamed_part_before(&self, part: &UnnamedPart, before: Timestamp) -> Result<(), TableError>;
}

//! The table of parts that carriers accepted without an id.

use crate::tables::described::{stored_fields, stored_table};
use crate::tables::{PartKey, TableError};
use hermod_domain::ids::CarrierId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A part that a carrier accepted without an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnnamedPart {
    pub carrier: CarrierId,
    pub to: Msisdn,
    pub part: PartKey,
    /// When the carrier accepted it.
    pub at: Timestamp,
}

stored_fields! { PartKey { account, message, part } }
stored_table! {
    unnamed: UnnamedPart { carrier, to => dest, part, at }, key (carrier: CarrierId, to: Msisdn, part: PartKey)
}

/// Reads parts that carriers accepted without an id.
pub trait UnnamedPartRows {
    /// Returns up to `limit` parts that a carrier accepted for this recipient, each with the sender of its message, the
    /// oldest message first.
    fn unnamed_parts(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        limit: usize,
    ) -> Result<Vec<(UnnamedPart, Sender)>, TableError>;

    /// Returns when the carrier accepted a part, if it has a row.
    fn unnamed_part_accepted_at(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        part: &PartKey,
    ) -> Result<Option<Timestamp>, TableError>;
}

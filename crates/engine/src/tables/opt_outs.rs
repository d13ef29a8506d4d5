//! The table of recipients who opted out.

use crate::ops::OptOut;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;

/// Reads and writes recipients who opted out.
pub trait OptOutRows {
    /// Returns every account that has a row.
    fn accounts_with_opt_outs(&self) -> Result<Vec<AccountId>, TableError>;

    /// Returns when a recipient opted out of an account's messages.
    fn opted_out_at(&self, account: AccountId, number: Msisdn) -> Result<Option<Timestamp>, TableError>;

    /// Writes a new row.
    fn add_opt_out(&self, entry: &OptOut) -> Result<(), TableError>;

    /// Deletes a recipient's row.
    fn delete_opt_out(&self, account: AccountId, number: Msisdn) -> Result<(), TableError>;
}

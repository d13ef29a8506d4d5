//! The table of recipients who opted out.

use crate::ops::OptOut;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum OptOutChange {
    Add(OptOut),
    Delete { account: AccountId, number: Msisdn },
}

/// Reads and writes recipients who opted out.
pub trait OptOutRows {
    /// Applies a change.
    fn change_opt_out(&self, change: &OptOutChange) -> Result<(), TableError>;

    /// Returns every account that has a row.
    fn accounts_with_opt_outs(&self) -> Result<Vec<AccountId>, TableError>;

    /// Returns when a recipient opted out of an account's messages.
    fn opted_out_at(&self, account: AccountId, number: Msisdn) -> Result<Option<Timestamp>, TableError>;
}

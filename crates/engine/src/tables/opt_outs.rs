//! The table of recipients who opted out.

use crate::tables::TableError;
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An opt-out of a handset from an account's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptOut {
    pub account: AccountId,
    pub number: Msisdn,
    /// The opt-out keyword that it sent, or the operator who entered it.
    pub how: String,
    pub now: Timestamp,
}

impl OptOut {
    /// An opt-out by a keyword that the handset sent.
    pub fn by_keyword(account: AccountId, number: Msisdn, now: Timestamp) -> OptOut {
        OptOut { account, number, how: "an opt-out keyword from the handset".to_owned(), now }
    }
}

stored_table! {
    opt_out: OptOut { account, number, how, now => at }, key (account: AccountId, number: Msisdn)
}

/// Reads recipients who opted out.
pub trait OptOutRows {
    /// Returns every account that has a row.
    fn accounts_with_opt_outs(&self) -> Result<Vec<AccountId>, TableError>;

    /// Returns when a recipient opted out of an account's messages.
    fn opted_out_at(&self, account: AccountId, number: Msisdn) -> Result<Option<Timestamp>, TableError>;
}

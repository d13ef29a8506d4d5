//! The table of recipients who opted out.

use crate::tables::TableError;
use crate::tables::columns::one_column;
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Where an opt-out comes from. Stored and published by name, and in the journal by its place: add sources at the end, and never
/// rename them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptOutSource {
    /// The handset sent an opt-out keyword.
    Keyword,
    /// A user of the account entered it.
    Portal,
    Operator,
    /// It was in a list from another system.
    Import,
}

impl OptOutSource {
    pub const ALL: [OptOutSource; 4] =
        [OptOutSource::Keyword, OptOutSource::Portal, OptOutSource::Operator, OptOutSource::Import];

    pub fn as_str(self) -> &'static str {
        match self {
            OptOutSource::Keyword => "keyword",
            OptOutSource::Portal => "portal",
            OptOutSource::Operator => "operator",
            OptOutSource::Import => "import",
        }
    }

    fn named(name: &str) -> Option<OptOutSource> {
        OptOutSource::ALL.into_iter().find(|source| source.as_str() == name)
    }
}

one_column! {
    OptOutSource: Text, |source| source.as_str().into(), |name| OptOutSource::named(&name);
}

/// An opt-out of a handset from an account's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptOut {
    pub account: AccountId,
    pub number: Msisdn,
    pub source: OptOutSource,
    /// In words: what the handset sent, who entered it and why.
    pub how: String,
    pub now: Timestamp,
}

impl OptOut {
    /// An opt-out by a keyword that the handset sent.
    pub fn by_keyword(account: AccountId, number: Msisdn, now: Timestamp) -> OptOut {
        OptOut {
            account,
            number,
            source: OptOutSource::Keyword,
            how: "an opt-out keyword from the handset".to_owned(),
            now,
        }
    }
}

stored_table! {
    opt_out: OptOut { account, number, source, how, now => at }, key (account: AccountId, number: Msisdn)
}

/// Reads recipients who opted out.
pub trait OptOutRows {
    /// Returns every account that has a row.
    fn accounts_with_opt_outs(&self) -> Result<Vec<AccountId>, TableError>;

    /// Returns when a recipient opted out of an account's messages.
    fn opted_out_at(&self, account: AccountId, number: Msisdn) -> Result<Option<Timestamp>, TableError>;
}

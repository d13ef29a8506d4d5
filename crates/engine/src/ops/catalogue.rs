//! Entries of the setup, and changes of them.

use crate::ops::Hidden;
use crate::ops::{CustomerRequestEnd, EntryUse, LedgerEntry, PostRefusal, TokenChange};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One entry of the setup (account, connection, key, carrier, price, route, ...): a named document.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueRow {
    pub kind: String,
    pub id: u32,
    pub name: String,
    pub body: String,
}

/// Hides the body: a carrier's body has a password.
impl fmt::Debug for CatalogueRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CatalogueRow { kind, id, name, body } = self;
        f.debug_struct("CatalogueRow")
            .field("kind", kind)
            .field("id", id)
            .field("name", name)
            .field("body", &Hidden(body))
            .finish()
    }
}

/// Everything that one change of the setup writes. All of it is written, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueChange {
    /// Entries that are added or replaced.
    pub put: Vec<CatalogueRow>,
    /// Entries that are removed, by kind and id, before any is added: their names are free at once. A numbered entry that was ever
    /// used is not removed, and the number of a removed one is never used again.
    pub remove: Vec<(String, u32)>,
    /// Ledger entries, such as the opening balances of new accounts. If one is refused, the whole change is.
    pub entries: Vec<LedgerEntry>,
    /// What a provision file says about its entries, kept for the next time that it is applied.
    pub provisioned: Vec<ProvisionedRow>,
    pub tokens: TokenChange,
    /// The customer's request that this change fulfils. If it is not open, the change is refused.
    pub request: Option<CustomerRequestEnd>,
}

/// Why a change of the setup was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogueRefusal {
    Entry(PostRefusal),
    /// Another entry of this kind has this name.
    NameTaken {
        kind: String,
        name: String,
    },
    /// The one-time link does not exist, was used before or has been replaced.
    LinkSpent,
    /// The customer's request was accepted, declined or withdrawn before.
    RequestEnded,
    /// An entry that is to be removed is in use.
    InUse(EntryUse),
}

/// What a provision file said about one entry when it was last applied. Only the gateway reads the body.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvisionedRow {
    pub kind: String,
    pub name: String,
    pub body: String,
}

/// Hides the body: it may have a password in its stored form.
impl fmt::Debug for ProvisionedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProvisionedRow { kind, name, body } = self;
        f.debug_struct("ProvisionedRow")
            .field("kind", kind)
            .field("name", name)
            .field("body", &Hidden(body))
            .finish()
    }
}

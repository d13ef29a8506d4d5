//! Entries of the setup, and changes of them.

use crate::ops::Hidden;
use crate::ops::{LedgerEntry, PostRefusal};
use std::fmt;

/// One slow-changing thing (account, connection, key, carrier, price, route): a named document.
#[derive(Clone, PartialEq, Eq)]
pub struct CatalogueRow {
    pub kind: String,
    pub id: u32,
    pub name: String,
    pub body: String,
}

/// Not its body: a carrier's has a password in it.
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

/// Everything one change of the setup writes, all of it or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueChange {
    /// Entries that are new or replaced.
    pub put: Vec<CatalogueRow>,
    /// Entries that go, by kind and id, before anything is put: a name that becomes free can be given anew at once.
    pub remove: Vec<(String, u32)>,
    /// What new accounts begin with. One that is refused keeps everything from happening.
    pub entries: Vec<LedgerEntry>,
    /// What a provision file says of its entries, remembered for the next time it is applied.
    pub provisioned: Vec<ProvisionedRow>,
}

/// Why a change of the setup was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueRefusal {
    Entry(PostRefusal),
    /// Another entry of this kind has this name.
    NameTaken {
        kind: String,
        name: String,
    },
}

/// What a provision file said of one entry when it was last applied. The store does not read the body.
#[derive(Clone, PartialEq, Eq)]
pub struct ProvisionedRow {
    pub kind: String,
    pub name: String,
    pub body: String,
}

/// Not its body: it may hold a password in its stored form.
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

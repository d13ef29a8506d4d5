//! The table of the first use of each account, carrier and connection, and of those that were removed. It says which of them can
//! be removed, and keeps the numbers of removed ones from being used again.

use crate::ops::{EntryUse, Usage};
use crate::tables::TableError;
use crate::tables::columns::one_column;
use crate::tables::described::{stored_fields, stored_table};

one_column! {
    Usage: Text, |usage| usage.as_str().into(), |name| Usage::named(&name);
}

stored_table! { entry_use: EntryUse { kind, id, usage, at }, key (kind: String, id: u32) }

/// Reads which entries were used or removed.
pub trait EntryUseRows {
    /// Returns all rows.
    fn entry_uses(&self) -> Result<Vec<EntryUse>, TableError>;
}

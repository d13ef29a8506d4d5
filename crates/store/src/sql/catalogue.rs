//! SQL for the setup: its entries, what they were used for, and the entries of provision files as last applied.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, described, params};
use hermod_domain::hold::Hold;
use hermod_engine::ops::{CatalogueRow, EntryUse, ProvisionedRow};
use hermod_engine::tables::{CatalogueRows, EntryUseRows, TableError};

/// The row of the hold, which is no entry of the setup.
pub(crate) const HOLD_KIND: &str = "hold";
pub(crate) const HOLD_ID: u32 = 1;
const HOLD_NAME: &str = "gateway";

/// The rows of applied rate sheets, which are no entries of the setup.
pub const RATE_SHEET_KIND: &str = "rate_sheet";

impl CatalogueRows for SqlTables<'_> {
    fn catalogue_id(&self, kind: &str, name: &str) -> Result<Option<u32>, TableError> {
        let mut ids =
            self.connection.prepare_cached("SELECT id FROM catalogue WHERE kind = ?1 AND name = ?2")?;
        Ok(ids.query_row([kind, name], |row| row.get(0)).optional()?)
    }

    fn has_catalogue_entry(&self, kind: &str, id: u32) -> Result<bool, TableError> {
        let mut entry =
            self.connection.prepare_cached("SELECT 1 FROM catalogue WHERE kind = ?1 AND id = ?2")?;
        Ok(entry.exists(params![kind, id])?)
    }
}

impl EntryUseRows for SqlTables<'_> {
    fn entry_uses(&self) -> Result<Vec<EntryUse>, TableError> {
        read_uses(self.connection)
    }
}

/// Returns the first use or the removal of each account, carrier and connection that was used or removed.
pub(crate) fn read_uses(connection: &Connection) -> Result<Vec<EntryUse>, TableError> {
    described::rows(connection, "", [])
}

/// Returns all entries of the setup.
pub(crate) fn read(connection: &Connection) -> Result<Vec<CatalogueRow>, TableError> {
    let beside = [HOLD_KIND, RATE_SHEET_KIND];
    described::rows(connection, "WHERE kind NOT IN (?1, ?2) ORDER BY kind, id", beside)
}

/// Returns the rate sheets that were applied, which are beside the setup: no catalogue is built from them.
pub(crate) fn read_rate_sheets(connection: &Connection) -> Result<Vec<CatalogueRow>, TableError> {
    described::rows(connection, "WHERE kind = ?1 ORDER BY id", [RATE_SHEET_KIND])
}

/// Returns the hold of the gateway, if it is held.
pub(crate) fn read_hold(connection: &Connection) -> Result<Option<Hold>, TableError> {
    let row: Option<CatalogueRow> = described::row(connection, "WHERE kind = ?1", [HOLD_KIND])?;
    let hold = row.map(|row| {
        serde_json::from_str(&row.body).map_err(|error| TableError::unreadable(format!("the hold: {error}")))
    });
    hold.transpose()
}

/// Returns the row of a hold. It is beside the setup, so that every node learns of it, and an older release, which does not know
/// the kind, does not start.
pub(crate) fn hold_row(hold: &Hold) -> CatalogueRow {
    let body = serde_json::to_string(hold).expect("numbers");
    CatalogueRow { kind: HOLD_KIND.to_owned(), id: HOLD_ID, name: HOLD_NAME.to_owned(), body }
}

/// Returns the entries of provision files as they were last applied.
pub(crate) fn read_provisioned(connection: &Connection) -> Result<Vec<ProvisionedRow>, TableError> {
    described::rows(connection, "", [])
}

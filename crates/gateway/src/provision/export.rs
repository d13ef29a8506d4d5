//! Exports the catalogue as entries, for display and as the base of partial changes. Secrets are left out.

use crate::provision::account::WantedAccount;
use crate::provision::api_key::WantedKey;
use crate::provision::carrier::WantedCarrier;
use crate::provision::connection::WantedConnection;
use crate::provision::control::WantedControl;
use crate::provision::documents::{self, EntryNames, UnreadableRow};
use crate::provision::draft::FileEntry;
use crate::provision::inbound_number::WantedNumber;
use crate::provision::kind::Kind;
use crate::provision::operator::WantedOperator;
use crate::provision::plan::Plan;
use crate::provision::price::WantedPrice;
use crate::provision::route::WantedRoute;
use crate::provision::screen::WantedScreen;
use crate::provision::sender::WantedSender;
use crate::provision::user::WantedUser;
use hermod_store::CatalogueRow;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Returns all entries of a kind, by name.
pub fn shown(
    rows: &[CatalogueRow],
    kind: Kind,
) -> Result<BTreeMap<String, Map<String, Value>>, UnreadableRow> {
    let names = EntryNames::of_rows(rows)?;
    let of_kind = rows.iter().filter(|row| row.kind == kind.as_str());
    of_kind.map(|row| Ok((row.name.clone(), entry(kind, row, &names)?))).collect()
}

/// Returns one entry. Reads no other row: there may be a hundred thousand.
pub fn shown_one(
    rows: &[CatalogueRow],
    kind: Kind,
    name: &str,
) -> Result<Option<Map<String, Value>>, UnreadableRow> {
    let row = rows.iter().find(|row| row.kind == kind.as_str() && row.name == name);
    row.map(|row| entry(kind, row, &EntryNames::of_rows(rows)?)).transpose()
}

impl Plan {
    /// Returns an entry as it is after the change.
    pub fn shown(&self, kind: Kind, name: &str) -> Result<Option<Map<String, Value>>, UnreadableRow> {
        let row = self.rows.get(&(kind, name.to_owned()));
        row.map(|row| entry(kind, row, &self.names)).transpose()
    }
}

pub(super) fn entry(
    kind: Kind,
    row: &CatalogueRow,
    names: &EntryNames,
) -> Result<Map<String, Value>, UnreadableRow> {
    match kind {
        Kind::Carrier => of::<WantedCarrier>(row, names),
        Kind::Route => of::<WantedRoute>(row, names),
        Kind::Price => of::<WantedPrice>(row, names),
        Kind::Account => of::<WantedAccount>(row, names),
        Kind::Sender => of::<WantedSender>(row, names),
        Kind::Number => of::<WantedNumber>(row, names),
        Kind::Connection => of::<WantedConnection>(row, names),
        Kind::Key => of::<WantedKey>(row, names),
        Kind::Screen => of::<WantedScreen>(row, names),
        Kind::Control => of::<WantedControl>(row, names),
        Kind::User => of::<WantedUser>(row, names),
        Kind::Operator => of::<WantedOperator>(row, names),
    }
}

fn of<T: FileEntry>(row: &CatalogueRow, names: &EntryNames) -> Result<Map<String, Value>, UnreadableRow> {
    Ok(documents::fields(&T::shown(&row.name, documents::read(row)?, names)))
}

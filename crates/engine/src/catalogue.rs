//! Changes the setup: small documents that are read whole and change rarely. Each change is written completely or not
//! at all.

use crate::batch::Batch;
use crate::customer_requests;
use crate::entry_uses;
use crate::ledger;
use crate::ops::{CatalogueChange, CatalogueRefusal, CatalogueRow};
use crate::tables::{RowChange, TableError};
use crate::user_tokens;

/// Writes a change of the setup. Returns a refusal, and writes nothing, if a ledger entry is refused, a name is
/// taken, the one-time link of the change was used before, the customer's request is not open, or an entry that is to be
/// removed is in use. Fails if an entry has the number of a removed one.
pub fn change(
    batch: &mut Batch<'_>,
    change: &CatalogueChange,
) -> Result<Result<(), CatalogueRefusal>, TableError> {
    let CatalogueChange { put, remove, entries, provisioned, tokens, request } = change;
    if let Some(refusal) = ledger::find_refusal(batch, entries)? {
        return Ok(Err(CatalogueRefusal::Entry(refusal)));
    }
    if let Some(CatalogueRow { kind, name, .. }) = find_taken_name(batch, put, remove)? {
        return Ok(Err(CatalogueRefusal::NameTaken { kind: kind.clone(), name: name.clone() }));
    }
    if let Some(link) = tokens.spend
        && batch.tables.read()?.user_token(&link)?.is_none()
    {
        return Ok(Err(CatalogueRefusal::LinkSpent));
    }
    if let Some(request) = request
        && !customer_requests::is_open(batch, request.id)?
    {
        return Ok(Err(CatalogueRefusal::RequestEnded));
    }
    if let Some(entry_use) = entry_uses::find_use(batch, remove) {
        return Ok(Err(CatalogueRefusal::InUse(entry_use)));
    }
    for (kind, id) in remove {
        if batch.tables.read()?.has_catalogue_entry(kind, *id)? {
            batch.tables.write(RowChange::<CatalogueRow>::Delete((kind.clone(), *id)));
            entry_uses::remove(batch, kind, *id);
        }
    }
    for row in put {
        entry_uses::check_present(batch, &row.kind, row.id)?;
        batch.tables.write(RowChange::Put(row.clone()));
    }
    for entry in entries {
        ledger::post(batch, entry)?;
    }
    for row in provisioned {
        batch.tables.write(RowChange::Put(row.clone()));
    }
    user_tokens::change(batch, tokens)?;
    if let Some(request) = request {
        customer_requests::end(batch, request)?;
    }
    Ok(Ok(()))
}

/// Returns the first entry whose name another entry of its kind would have after the change.
fn find_taken_name<'r>(
    batch: &Batch<'_>,
    put: &'r [CatalogueRow],
    remove: &[(String, u32)],
) -> Result<Option<&'r CatalogueRow>, TableError> {
    for (index, row) in put.iter().enumerate() {
        let is_other = |other: &&CatalogueRow| other.kind == row.kind && other.id != row.id;
        let mut before = put[..index].iter().filter(is_other);
        let is_taken = match batch.tables.read()?.catalogue_id(&row.kind, &row.name)? {
            Some(id) if id != row.id => {
                let is_removed = remove.iter().any(|(kind, removed)| *kind == row.kind && *removed == id);
                !is_removed && !before.clone().any(|other| other.id == id)
            }
            Some(_) | None => false,
        };
        if is_taken || before.any(|other| other.name == row.name) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

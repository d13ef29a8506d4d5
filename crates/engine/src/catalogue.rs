//! Changes the setup: small documents that are read whole and change rarely. Each change is written completely or not
//! at all.

use crate::batch::Batch;
use crate::customer_requests;
use crate::entry_uses;
use crate::ledger;
use crate::ops::{CatalogueChange, CatalogueRefusal, CatalogueRow, NumberedEntry};
use crate::tables::{RowChange, TableError};
use crate::user_tokens;
use std::collections::{HashMap, HashSet};

/// Writes a change of the setup. Returns a refusal, and writes nothing, if a ledger entry is refused, a name is
/// taken, the one-time link of the change was used before, the customer's request is not open, or an entry that is to be
/// removed is in use. Is refused too if an entry has the number of one that was removed before.
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
    let of_rows = put.iter().filter_map(|row| NumberedEntry::of(&row.kind, row.id));
    let of_postings = entries.iter().map(|entry| NumberedEntry::Account(entry.account));
    of_rows.chain(of_postings).try_for_each(|entry| entry_uses::check_present(batch, entry))?;
    for (kind, id) in remove {
        if batch.tables.read()?.has_catalogue_entry(kind, *id)? {
            batch.tables.write(RowChange::<CatalogueRow>::Delete((kind.clone(), *id)));
            entry_uses::remove(batch, kind, *id);
        }
    }
    for row in put {
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

/// Returns the first entry whose name another entry of its kind would have after the change. Setups have 100,000 prices: each entry
/// is looked up, never compared with all others.
fn find_taken_name<'r>(
    batch: &Batch<'_>,
    put: &'r [CatalogueRow],
    remove: &[(String, u32)],
) -> Result<Option<&'r CatalogueRow>, TableError> {
    let removed: HashSet<(&str, u32)> = remove.iter().map(|(kind, id)| (kind.as_str(), *id)).collect();
    // Of the entries before each.
    let mut ids = HashSet::new();
    let mut names = HashMap::new();
    for row in put {
        let kind = row.kind.as_str();
        let is_taken = match batch.tables.read()?.catalogue_id(kind, &row.name)? {
            Some(id) if id != row.id => !removed.contains(&(kind, id)) && !ids.contains(&(kind, id)),
            Some(_) | None => false,
        };
        let named_before = names.insert((kind, row.name.as_str()), row.id);
        if is_taken || named_before.is_some_and(|id| id != row.id) {
            return Ok(Some(row));
        }
        ids.insert((kind, row.id));
    }
    Ok(None)
}

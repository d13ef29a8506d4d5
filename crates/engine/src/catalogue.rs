//! Changes the setup: small documents that are read whole and change rarely. Each change is written completely or not
//! at all.

use crate::batch::Batch;
use crate::ops::{CatalogueChange, CatalogueRefusal, CatalogueRow};
use crate::tables::{CatalogueRowChange, TableError};

impl Batch<'_> {
    /// Writes a change of the setup. Returns a refusal, and writes nothing, if a ledger entry is refused, a name is
    /// taken, the one-time link of the change was used before or the customer's request is not open.
    pub fn change_catalogue(
        &mut self,
        change: &CatalogueChange,
    ) -> Result<Result<(), CatalogueRefusal>, TableError> {
        let CatalogueChange { put, remove, entries, provisioned, tokens, request } = change;
        if let Some(refusal) = self.find_refusal(entries)? {
            return Ok(Err(CatalogueRefusal::Entry(refusal)));
        }
        if let Some(CatalogueRow { kind, name, .. }) = self.find_taken_name(put, remove)? {
            return Ok(Err(CatalogueRefusal::NameTaken { kind: kind.clone(), name: name.clone() }));
        }
        if let Some(link) = tokens.spend
            && self.tables.read()?.user_token(&link)?.is_none()
        {
            return Ok(Err(CatalogueRefusal::LinkSpent));
        }
        if let Some(request) = request
            && !self.is_customer_request_open(request.id)?
        {
            return Ok(Err(CatalogueRefusal::RequestEnded));
        }
        for (kind, id) in remove {
            self.tables.write(CatalogueRowChange::Delete { kind: kind.clone(), id: *id });
        }
        for row in put {
            self.tables.write(CatalogueRowChange::Put(row.clone()));
        }
        for entry in entries {
            self.post(entry)?;
        }
        for row in provisioned {
            self.tables.write(CatalogueRowChange::PutProvisioned(row.clone()));
        }
        self.change_tokens(tokens)?;
        if let Some(request) = request {
            self.end_customer_request(request)?;
        }
        Ok(Ok(()))
    }

    /// Returns the first entry whose name another entry of its kind would have after the change.
    fn find_taken_name<'r>(
        &self,
        put: &'r [CatalogueRow],
        remove: &[(String, u32)],
    ) -> Result<Option<&'r CatalogueRow>, TableError> {
        for (index, row) in put.iter().enumerate() {
            let is_other = |other: &&CatalogueRow| other.kind == row.kind && other.id != row.id;
            let mut before = put[..index].iter().filter(is_other);
            let is_taken = match self.tables.read()?.catalogue_id(&row.kind, &row.name)? {
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
}

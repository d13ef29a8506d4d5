//! Stores a setup as the gateway does, so that it is in effect after a restart too.

use super::{World, noon};
use hermod_domain::audit::AuditEntry;
use hermod_domain::catalogue::Documents;
use hermod_store::{CatalogueChange, CatalogueRow, Store, read_catalogue};
use serde::Serialize;
use std::sync::Arc;

impl World {
    /// Writes these accounts, connections and numbers as the setup, and puts it into effect.
    pub(crate) async fn store_setup(&self, documents: &Documents) {
        store_setup(&self.store, documents).await;
    }

    /// Does the same by a change so large that the audit log lists none of its entries, only how many there are.
    pub(crate) async fn store_setup_unlisted(&self, documents: &Documents) {
        put_setup(&self.store, documents, |_| vec![entry("setup.more", "entries that are not listed")]).await;
    }
}

/// Does the same on any handle of a store.
pub(crate) async fn store_setup(store: &Store, documents: &Documents) {
    let listed = |row: &CatalogueRow| entry(&format!("{}.create", row.kind), &row.name);
    put_setup(store, documents, |put| put.iter().map(listed).collect()).await;
}

async fn put_setup(
    store: &Store,
    documents: &Documents,
    entries: impl FnOnce(&[CatalogueRow]) -> Vec<AuditEntry>,
) {
    let Documents { accounts, connections, numbers, .. } = documents;
    let accounts = accounts.iter().map(|(id, name, document)| row("account", id.get(), name, document));
    let connections = connections
        .iter()
        .map(|(id, document)| row("connection", id.get(), &format!("connection {id}"), document));
    let numbers =
        (1..).zip(numbers).map(|(id, document)| row("number", id, &format!("number {id}"), document));
    let put: Vec<CatalogueRow> = accounts.chain(connections).chain(numbers).collect();
    let catalogue = Arc::new(read_catalogue(&put).expect("a catalogue"));
    let audited = store.audited(entries(&put));
    let change = CatalogueChange { put, ..CatalogueChange::default() };
    audited.setup().change(change).await.expect("the setup is stored");
    store.set_catalogue(catalogue);
}

fn entry(action: &str, subject: &str) -> AuditEntry {
    AuditEntry {
        at: noon(),
        account: None,
        by: "operator".to_owned(),
        from: String::new(),
        action: action.to_owned(),
        subject: subject.to_owned(),
        detail: "{}".to_owned(),
    }
}

fn row<T: Serialize>(kind: &str, id: u32, name: &str, document: &T) -> CatalogueRow {
    let body = serde_json::to_string(document).expect("a document");
    CatalogueRow { kind: kind.to_owned(), id, name: name.to_owned(), body }
}

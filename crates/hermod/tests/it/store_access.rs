//! Reads the store of a stopped gateway: audit, catalogue ids, and settings of the rigs that write it.

use crate::gateways::wall_time;
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_gateway::config::StoreAddress;
use hermod_store::{AuditReport, OpenOptions, Store};
use std::path::Path;
use std::time::Duration;

/// Returns where the store of a data folder is: embedded, or on the server that `HERMOD_TEST_POSTGRES` names, in a schema of its
/// own.
pub(crate) fn store_of(data: &Path) -> StoreAddress {
    #[expect(clippy::disallowed_methods, reason = "cargo xtask passes its options in variables")]
    let Ok(url) = std::env::var("HERMOD_TEST_POSTGRES") else { return StoreAddress::Embedded };
    let folder = data.parent().and_then(Path::file_name).expect("a temporary folder");
    StoreAddress::parse(&format!("{url}?schema={}", folder.to_string_lossy())).expect("an address")
}

/// Whether the gateways of the tests have the embedded store.
pub(crate) fn is_embedded() -> bool {
    store_of(Path::new("any/data")) == StoreAddress::Embedded
}

/// Audits the store of a data folder.
pub(crate) fn audit(data: &Path) -> AuditReport {
    audit_store(&store_of(data), data)
}

/// Audits a store. `data`: its data folder, if it is embedded.
pub(crate) fn audit_store(store: &StoreAddress, data: &Path) -> AuditReport {
    match store.server().expect("an address") {
        Some(server) => Store::audit_server(&server, None).expect("an audit"),
        None => Store::audit(data).expect("an audit"),
    }
}

/// Audits a data folder. Panics if the audit finds a violation.
pub(crate) fn audit_clean(data: &Path) -> AuditReport {
    audit_store_clean(&store_of(data), data)
}

/// Audits a store. Panics if the audit finds a violation.
pub(crate) fn audit_store_clean(store: &StoreAddress, data: &Path) -> AuditReport {
    let report = audit_store(store, data);
    assert!(report.is_clean(), "the audit found {:#?}", report.violations);
    report
}

pub(crate) fn open_store(data: &Path) -> Store {
    open_store_at(&store_of(data), data)
}

/// Opens a store. `data`: the data folder, which it has to itself.
pub(crate) fn open_store_at(store: &StoreAddress, data: &Path) -> Store {
    let (folder, now) = (data.to_owned(), wall_time());
    let options = OpenOptions {
        folder,
        server: store.server().expect("an address"),
        low_water_bytes: 0,
        in_doubt_wait: Duration::ZERO,
        record: false,
        now,
    };
    Store::open(&options).expect("the store opens")
}

/// Returns the id of alice's account.
pub(crate) async fn account_id(store: &Store) -> AccountId {
    let rows = store.setup().rows().await.expect("a catalogue");
    let row =
        rows.iter().find(|row| row.kind == "account" && row.name == "alice").expect("alice has an account");
    AccountId::new(row.id)
}

pub(crate) async fn carrier_id(store: &Store, name: &str) -> CarrierId {
    let rows = store.setup().rows().await.expect("a catalogue");
    let row = rows.iter().find(|row| row.kind == "carrier" && row.name == name).expect("it was provisioned");
    CarrierId::new(row.id)
}

/// Returns the text in an environment variable, by which `cargo xtask` passes its options to a rig.
#[expect(clippy::disallowed_methods, reason = "cargo xtask passes its options in variables")]
pub(crate) fn text_from(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

/// Returns the number in such a variable.
pub(crate) fn number_from(variable: &str) -> Option<u64> {
    let text = text_from(variable)?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}

//! Replaces the secret of a key or the password of a connection by another one. The old one stays valid for an overlap.

use crate::connection::WantedConnection;
use crate::entry::draft::Draft;
use crate::entry::plan::Plan;
use crate::key::WantedKey;
use crate::setup::ProvisionRefusal;
use hermod_domain::catalogue::{ApiKey, Connection, PreviousSecret};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::secrets::{Pepper, Secret, passwords};
use hermod_store::CatalogueRow;
use std::time::Duration;

/// The new secret, and how long the old one stays valid.
pub struct Replacement<'a> {
    pub secret: &'a Secret,
    pub overlap: Duration,
}

/// Plans the replacement of a key's secret. A secret from an earlier rotation that is still valid ends.
pub fn rotate_key_secret(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    key: &str,
    replacement: &Replacement<'_>,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    draft.rewrite::<WantedKey>(key, |document: &mut ApiKey| {
        let next = pepper.digest(replacement.secret.reveal());
        let current = &mut document.secret_digest;
        document.previous = PreviousSecret::replacing(current, next, replacement.overlap, now);
        Ok(())
    })?;
    draft.finish()
}

/// Plans the replacement of a connection's SMPP password. A password from an earlier rotation that is still valid ends.
/// Slow: hashes the password.
pub fn rotate_connection_password(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    connection: &str,
    replacement: &Replacement<'_>,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let what = format!("connection \"{connection}\"");
    let refuse = |sentence: String| ProvisionRefusal::about(&what, sentence);
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    draft.rewrite::<WantedConnection>(connection, |document: &mut Connection| {
        let access = document.smpp.as_mut().ok_or_else(|| refuse("has no system_id".to_owned()))?;
        let next = passwords::hash_with_salt_of(pepper, replacement.secret.reveal(), &access.password_hash);
        let next = next.map_err(|error| refuse(format!("got no hash of its password: {error}")))?;
        let current = &mut access.password_hash;
        access.previous = PreviousSecret::replacing(current, next, replacement.overlap, now);
        Ok(())
    })?;
    draft.finish()
}

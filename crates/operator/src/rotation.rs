//! Replaces secrets of customers by random ones. The old secret stays valid for an overlap, if one is wanted.

use crate::author::Acting;
use crate::connection::WantedConnection;
use crate::entry::carry_out::execute_plan;
use crate::entry::draft::Draft;
use crate::entry::names::canonical_name;
use crate::entry::plan::Plan;
use crate::entry::views::{AppliedView, SecretView};
use crate::http::routes::{Routes, doc};
use crate::input::invalid;
use crate::key::WantedKey;
use crate::kind::Kind;
use crate::refusal::{OperatorRefusal, ProvisionRefusal, ProvisionResult, Result};
use hermod_domain::catalogue::{ApiKey, Connection, OVERLAP_MAX, PreviousSecret};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::config::Period;
use hermod_gateway::secrets::{Pepper, Secret, passwords, random_token};
use hermod_store::CatalogueRow;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::IntoParams;
use utoipa::openapi::path::Parameter;

/// The length of a generated secret: 160 bits, five in each character.
const SECRET_CHARS: usize = 32;

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct RotateQuery {
    /// How long the old secret stays valid, such as `24h` or `7d`; at most `30d`. By default it is invalid at once.
    #[param(pattern = "^([1-9][0-9]?[smh]|([1-9]|[12][0-9]|30)d)$", example = "24h")]
    pub overlap: Option<String>,
}

/// Reads how long the old secret stays valid; by default it is invalid at once.
pub fn overlap_of(query: &RotateQuery) -> Result<Duration> {
    let Some(text) = query.overlap.as_deref() else { return Ok(Duration::ZERO) };
    let Period(overlap) = Period::parse(text)
        .ok_or_else(|| invalid("overlap", format!("\"{text}\" is not a time such as 24h or 7d")))?;
    if overlap > OVERLAP_MAX {
        return Err(invalid("overlap", format!("\"{text}\" is longer than {}", Period(OVERLAP_MAX))));
    }
    Ok(overlap)
}

/// Replaces a key's secret by a random one. The old secret stays valid for the overlap; one from an earlier rotation ends.
pub async fn rotate_key(gateway: &Acting, key: &str, query: &RotateQuery) -> Result<AppliedView> {
    let overlap = overlap_of(query)?;
    let secret = Secret::new(random_token(SECRET_CHARS).map_err(no_randomness)?);
    let _alone = gateway.change_alone().await?;
    if gateway.catalogue().key(key).is_none() {
        return Err(OperatorRefusal::no_such(Kind::Key.as_str(), key));
    }
    let rows = gateway.store.setup().rows().await?;
    let replacement = Replacement { secret: &secret, overlap };
    let plan = rotate_key_secret(rows, &gateway.pepper, key, &replacement, gateway.clock.now())?;
    let mut applied = execute_plan(gateway, plan).await?;
    applied.secrets.push(SecretView { key: key.to_owned(), secret: secret.reveal().to_owned() });
    Ok(applied)
}

/// Replaces a connection's SMPP password by a random one. The old password stays valid for the overlap; one from an earlier
/// rotation ends. Live binds stay.
pub async fn rotate_password(gateway: &Acting, connection: &str, query: &RotateQuery) -> Result<AppliedView> {
    let overlap = overlap_of(query)?;
    let unknown = || OperatorRefusal::no_such(Kind::Connection.as_str(), connection);
    let name = canonical_name(Kind::Connection, connection).map_err(|_| unknown())?;
    let secret = passwords::random().map_err(no_randomness)?;
    let _alone = gateway.change_alone().await?;
    gateway.catalogue().connection_by_name(&name).ok_or_else(unknown)?;
    let rows = gateway.store.setup().rows().await?;
    let (pepper, now, given) = (gateway.pepper.clone(), gateway.clock.now(), secret.clone());
    let planned = tokio::task::spawn_blocking({
        let name = name.clone();
        move || {
            let replacement = Replacement { secret: &given, overlap };
            rotate_connection_password(rows, &pepper, &name, &replacement, now)
        }
    });
    let plan = planned.await.map_err(|_| OperatorRefusal::Failed)??;
    let mut applied = execute_plan(gateway, plan).await?;
    let key = format!("password of {name}");
    applied.secrets.push(SecretView { key, secret: secret.reveal().to_owned() });
    Ok(applied)
}

fn no_randomness(error: std::io::Error) -> OperatorRefusal {
    tracing::error!(%error, "No randomness for a secret");
    OperatorRefusal::Failed
}

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
) -> ProvisionResult<Plan> {
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
) -> ProvisionResult<Plan> {
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

/// Adds the route that replaces the secret of entries of this kind, if they have one of a customer. `name` describes the name
/// in its path.
pub(crate) fn route_of(kind: Kind, routes: &mut Routes, name: Parameter) {
    if kind == Kind::Key {
        let doc = doc("rotateKey", "Replace a key's secret", "The new secret is in `secrets`.")
            .details(
                "The old secret is invalid at once, or after `overlap`; one that is still valid from an earlier rotation ends. \
                 The new secret is returned only here.",
            )
            .parameter(name)
            .errors(&["NOT_FOUND"]);
        routes.post("/keys/{name}/rotate", rotate_key, doc.least(kind.changed_with()));
    } else if kind == Kind::Connection {
        let doc =
            doc("rotatePassword", "Replace a connection's password", "The new password is in `secrets`.")
                .details(
                    "Live binds stay. The old password is invalid at once for new binds, or after `overlap`; one that is \
                     still valid from an earlier rotation ends. The new password is returned only here.",
                )
                .parameter(name)
                .errors(&["NOT_FOUND", "REFUSED"]);
        routes.post("/connections/{name}/rotate", rotate_password, doc.least(kind.changed_with()));
    }
}

#[cfg(test)]
#[path = "rotation_tests.rs"]
mod tests;

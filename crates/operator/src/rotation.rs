//! Replaces secrets of customers by random ones. The old secret stays valid for an overlap, if one is wanted.

use crate::author::Acting;
use crate::entry::views::{AppliedView, RotateQuery, SecretView};
use crate::input::invalid;
use crate::kind::Kind;
use crate::refusal::OperatorRefusal;
use crate::secret_rotation;
use crate::secret_rotation::Replacement;
use crate::setup::canonical_name;
use crate::setup::use_cases::execute_plan;
use hermod_domain::catalogue::OVERLAP_MAX;
use hermod_gateway::config::Period;
use hermod_gateway::secrets::{Secret, passwords, random_token};
use std::time::Duration;

/// The length of a generated secret: 160 bits, five in each character.
const SECRET_CHARS: usize = 32;

/// Reads how long the old secret stays valid; by default it is invalid at once.
pub fn overlap_of(query: &RotateQuery) -> Result<Duration, OperatorRefusal> {
    let Some(text) = query.overlap.as_deref() else { return Ok(Duration::ZERO) };
    let Period(overlap) = Period::parse(text)
        .ok_or_else(|| invalid("overlap", format!("\"{text}\" is not a time such as 24h or 7d")))?;
    if overlap > OVERLAP_MAX {
        return Err(invalid("overlap", format!("\"{text}\" is longer than {}", Period(OVERLAP_MAX))));
    }
    Ok(overlap)
}

/// Replaces a key's secret by a random one. The old secret stays valid for the overlap; one from an earlier rotation ends.
pub async fn rotate_key(
    gateway: &Acting,
    key: &str,
    overlap: Duration,
) -> Result<AppliedView, OperatorRefusal> {
    let secret = Secret::new(random_token(SECRET_CHARS).map_err(no_randomness)?);
    let _alone = gateway.change_alone().await?;
    if gateway.catalogue().key(key).is_none() {
        return Err(OperatorRefusal::no_such(Kind::Key.as_str(), key));
    }
    let rows = gateway.store.setup().rows().await?;
    let replacement = Replacement { secret: &secret, overlap };
    let plan =
        secret_rotation::rotate_key_secret(rows, &gateway.pepper, key, &replacement, gateway.clock.now())?;
    let mut applied = execute_plan(gateway, plan).await?;
    applied.secrets.push(SecretView { key: key.to_owned(), secret: secret.reveal().to_owned() });
    Ok(applied)
}

/// Replaces a connection's SMPP password by a random one. The old password stays valid for the overlap; one from an earlier
/// rotation ends. Live binds stay.
pub async fn rotate_password(
    gateway: &Acting,
    connection: &str,
    overlap: Duration,
) -> Result<AppliedView, OperatorRefusal> {
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
            secret_rotation::rotate_connection_password(rows, &pepper, &name, &replacement, now)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_a_time_of_at_most_thirty_days() {
        let read = |text: Option<&str>| {
            overlap_of(&RotateQuery { overlap: text.map(str::to_owned) })
                .map_err(|refusal| refusal.to_string())
        };
        assert_eq!(read(None), Ok(Duration::ZERO));
        assert_eq!(read(Some("24h")), Ok(Duration::from_secs(86_400)));
        assert_eq!(read(Some("30d")), Ok(OVERLAP_MAX));
        assert!(read(Some("31d")).is_err_and(|error| error.contains("is longer than 30d")));
        assert!(read(Some("soon")).is_err_and(|error| error.contains("24h")));
    }
}

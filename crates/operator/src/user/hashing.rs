//! Hashes passwords beside the other work: a few at a time, because each takes 20 ms of a core and 19 MiB.

use crate::refusal::OperatorRefusal;
use crate::user::{Result, UserRefusal};
use hermod_gateway::secrets::{Pepper, Secret, passwords};
use tokio::sync::Semaphore;

/// Hashes at a time.
static HASHING: Semaphore = Semaphore::const_new(2);
/// Callers that hash or wait for it. Further ones are refused.
static WAITING: Semaphore = Semaphore::const_new(64);

/// Whether a password fits a hash. Without a hash it takes as long, and never fits.
pub(crate) async fn fits(pepper: &Pepper, password: &Secret, hash: Option<String>) -> Result<bool> {
    let (pepper, password) = (pepper.clone(), password.clone());
    in_turn(move || match hash {
        Some(hash) => passwords::matches(&pepper, password.reveal().as_bytes(), &hash),
        None => {
            passwords::spend_as_much(&pepper, password.reveal().as_bytes());
            false
        }
    })
    .await
}

/// Returns the hash of a password.
pub(crate) async fn hash(pepper: &Pepper, password: &Secret) -> Result<String> {
    let (pepper, password) = (pepper.clone(), password.clone());
    in_turn(move || passwords::hash(&pepper, password.reveal())).await?.map_err(|error| {
        tracing::error!(%error, "A password could not be hashed");
        UserRefusal::Refused(OperatorRefusal::Failed)
    })
}

async fn in_turn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let _place = WAITING.try_acquire().map_err(|_| UserRefusal::Busy)?;
    let turn = HASHING.acquire().await.map_err(|_| UserRefusal::Busy)?;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    done.await.map_err(|_| UserRefusal::Refused(OperatorRefusal::Failed))
}

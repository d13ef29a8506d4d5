//! The second step of signing in: the password was right, and the code of the second factor is missing. The browser holds a token
//! that opens nothing else.

use crate::user::changes::SignInProof;
use crate::user::second_factor::check_code;
use crate::user::sessions::SignedIn;
use crate::user::{Result, UserRefusal, digest_of, make_token};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::secrets::Secret;
use hermod_store::{TokenPurpose, UserToken};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long the code can be entered.
const KEPT: Duration = Duration::from_secs(600);
/// Wrong codes after which the password is needed again.
const FAILURES_MAX: u32 = 5;

/// What the store keeps about a sign-in that waits for its code.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    /// Where the browser goes afterwards.
    next: String,
    failures: u32,
    /// The password that was right, and the second factor that the code is of.
    proof: SignInProof,
}

/// A sign-in that waits for its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingSignIn {
    pub signed_in: SignedIn,
    /// Where the browser goes afterwards.
    pub next: String,
}

/// Begins the second step. Returns the token for the browser.
pub async fn wait_for_code(gateway: &Gateway, signed_in: SignedIn, next: &str) -> Result<Secret> {
    let SignedIn { user, proof } = signed_in;
    let (token, now) = (make_token()?, gateway.clock.now());
    let stored = UserToken {
        digest: digest_of(&gateway.pepper, token.reveal()),
        user,
        purpose: TokenPurpose::SecondFactor,
        made_at: now,
        expires_at: now.plus(KEPT),
        body: encode(&Body { next: next.to_owned(), failures: 0, proof }),
    };
    gateway.store.user_tokens().put(stored).await?;
    Ok(token)
}

/// Returns the sign-in of a token that waits for its code.
pub async fn find_waiting(gateway: &Gateway, token: &str) -> Result<Option<WaitingSignIn>> {
    Ok(find(gateway, token).await?.map(|(stored, body)| waiting(&stored, body)))
}

async fn find(gateway: &Gateway, token: &str) -> Result<Option<(UserToken, Body)>> {
    let found =
        gateway.store.user_tokens().find(digest_of(&gateway.pepper, token), gateway.clock.now()).await?;
    let found = found.filter(|stored| stored.purpose == TokenPurpose::SecondFactor);
    Ok(found.and_then(|stored| serde_json::from_str(&stored.body).ok().map(|body| (stored, body))))
}

/// Checks the code of a waiting sign-in, which ends then. After some wrong codes it ends too.
pub async fn enter_code(
    gateway: &Arc<Gateway>,
    token: &str,
    code: &str,
    source: Option<IpAddr>,
) -> Result<WaitingSignIn> {
    let (stored, body) = find(gateway, token).await?.ok_or(UserRefusal::LinkSpent)?;
    match check_code(gateway, stored.user, code, source).await {
        Ok(()) if gateway.store.user_tokens().end(stored.digest).await? => Ok(waiting(&stored, body)),
        Ok(()) => Err(UserRefusal::LinkSpent),
        Err(UserRefusal::WrongCode) => Err(count_wrong_code(gateway, token).await?),
        Err(refusal) => Err(refusal),
    }
}

/// Counts a wrong code, also if several come at once. Returns the refusal: [`UserRefusal::WrongCode`] if another code may be
/// tried, [`UserRefusal::LinkSpent`] if the sign-in has ended.
async fn count_wrong_code(gateway: &Gateway, token: &str) -> Result<UserRefusal> {
    while let Some((stored, mut body)) = find(gateway, token).await? {
        body.failures += 1;
        if body.failures >= FAILURES_MAX {
            gateway.store.user_tokens().end(stored.digest).await?;
            break;
        }
        let renewed = UserToken { body: encode(&body), ..stored.clone() };
        if gateway.store.user_tokens().renew(stored, renewed).await? {
            return Ok(UserRefusal::WrongCode);
        }
    }
    Ok(UserRefusal::LinkSpent)
}

fn waiting(stored: &UserToken, Body { next, proof, .. }: Body) -> WaitingSignIn {
    WaitingSignIn { signed_in: SignedIn { user: stored.user, proof }, next }
}

fn encode(body: &Body) -> String {
    serde_json::to_string(body).expect("a body has texts and numbers")
}

//! Sessions of the portal. The browser holds a token, the store its digest.

use crate::user::changes::SignInProof;
use crate::user::{Result, digest_of, make_token};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::{Gateway, load_catalogue};
use hermod_gateway::secrets::Secret;
use hermod_store::{TokenDigest, TokenPurpose, UserToken};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;
use subtle::ConstantTimeEq as _;

/// A session ends after this time without a request.
const IDLE_MAX: Duration = Duration::from_secs(12 * 3600);
/// A session ends after this time in any case.
const LENGTH_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// The time of the last request is written this often, not with every request.
const SEEN_EVERY: Duration = Duration::from_secs(300);
/// How long after the password was typed sensitive changes need no other proof.
const CONFIRMED_FOR: Duration = Duration::from_secs(600);
const AGENT_CHARS_MAX: usize = 200;

/// A user whose password was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    pub user: u32,
    /// What the user proved, or has to prove with a code.
    pub proof: SignInProof,
}

/// The program and the address that a session was opened from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    pub address: Option<IpAddr>,
    /// The `User-Agent` header.
    pub agent: String,
}

/// What the store keeps about a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Body {
    address: String,
    agent: String,
    /// When the last request came, about.
    seen_at: i64,
    /// When the user last proved to be the user.
    confirmed_at: i64,
    /// What the user signed in with. The session ends with it.
    proof: SignInProof,
}

/// A session of a signed-in user.
#[derive(Clone, Debug)]
pub struct Session {
    pub digest: TokenDigest,
    pub user: u32,
    pub email: String,
    /// What every form of this session sends.
    pub csrf: String,
    pub made_at: Timestamp,
    /// Whether the user typed the password a short while ago.
    pub is_confirmed: bool,
    /// What the user signed in with.
    pub proof: SignInProof,
}

impl Session {
    /// Whether a form has the token of this session. Compares in constant time.
    pub fn has_csrf(&self, given: &str) -> bool {
        self.csrf.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// A session as its user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionView {
    pub digest: TokenDigest,
    pub address: String,
    pub agent: String,
    pub made_at: Timestamp,
    pub seen_at: Timestamp,
}

/// Opens a session. Returns the token for the browser. If the password was changed since the user typed it, the session has ended
/// from the beginning.
pub async fn open_session(gateway: &Gateway, signed_in: SignedIn, client: &Client) -> Result<Secret> {
    let SignedIn { user, proof } = signed_in;
    let token = make_token()?;
    let now = gateway.clock.now();
    let body = Body {
        address: client.address.map(|address| address.to_string()).unwrap_or_default(),
        agent: client.agent.chars().filter(|c| !c.is_control()).take(AGENT_CHARS_MAX).collect(),
        seen_at: now.as_millis(),
        confirmed_at: now.as_millis(),
        proof,
    };
    let stored = UserToken {
        digest: digest_of(&gateway.pepper, token.reveal()),
        user,
        purpose: TokenPurpose::Session,
        made_at: now,
        expires_at: now.plus(IDLE_MAX),
        body: encode(&body),
    };
    gateway.store.user_tokens().put(stored).await?;
    Ok(token)
}

/// Returns the session of a token; none if it has ended, or its user is gone, disabled or signs in with something else by now.
pub async fn find_session(gateway: &Gateway, token: &str) -> Result<Option<Session>> {
    let (digest, now) = (digest_of(&gateway.pepper, token), gateway.clock.now());
    let found = gateway.store.user_tokens().find(digest, now).await?;
    let Some(stored) = found.filter(|token| token.purpose == TokenPurpose::Session) else {
        return Ok(None);
    };
    let Ok(body) = serde_json::from_str::<Body>(&stored.body) else { return Ok(None) };
    let Some(email) = find_user(gateway, stored.user, &body.proof).await? else { return Ok(None) };
    let session = Session {
        digest,
        user: stored.user,
        email,
        csrf: csrf_of(gateway, token),
        made_at: stored.made_at,
        is_confirmed: now.since(Timestamp::from_millis(body.confirmed_at)) < CONFIRMED_FOR,
        proof: body.proof.clone(),
    };
    note_seen(gateway, stored, body, now).await?;
    Ok(Some(session))
}

/// Whether a session is still open and its user may still use it. For responses that last longer than a request; it does not
/// count as use of the session.
pub async fn is_session_open(gateway: &Gateway, session: &Session) -> Result<bool> {
    let found = gateway.store.user_tokens().find(session.digest, gateway.clock.now()).await?;
    let stored = found.filter(|token| token.purpose == TokenPurpose::Session);
    let Some(Body { proof, .. }) = stored.and_then(|token| serde_json::from_str(&token.body).ok()) else {
        return Ok(false);
    };
    Ok(find_user(gateway, session.user, &proof).await?.is_some())
}

/// Returns the address of a user for whom a proof holds.
async fn find_user(gateway: &Gateway, user: u32, proof: &SignInProof) -> Result<Option<String>> {
    let find = |catalogue: &Catalogue| {
        let (email, user) = catalogue.users().by_id(user)?;
        proof.holds_for(&gateway.pepper, user).then(|| email.to_owned())
    };
    if let Some(email) = find(&gateway.catalogue()) {
        return Ok(Some(email));
    }
    // Another node may have changed the user a moment ago.
    Ok(find(&load_catalogue(&gateway.store).await?))
}

/// Writes that the user of a session has just proved to be the user.
pub(crate) async fn confirm(gateway: &Gateway, session: &Session) -> Result<()> {
    let now = gateway.clock.now();
    rewrite(gateway, session, |body| body.confirmed_at = now.as_millis()).await
}

/// Keeps the session whose user has changed the password or the second factor.
pub(crate) async fn renew_proof(gateway: &Gateway, session: &Session, proof: SignInProof) -> Result<()> {
    rewrite(gateway, session, |body| body.proof = proof.clone()).await
}

/// Changes what the store keeps about a session, unless it has ended. If another request changes it meanwhile, both changes are
/// made.
async fn rewrite(gateway: &Gateway, session: &Session, change: impl Fn(&mut Body)) -> Result<()> {
    while let Some(stored) = gateway.store.user_tokens().find(session.digest, gateway.clock.now()).await? {
        let Ok(mut body) = serde_json::from_str::<Body>(&stored.body) else { return Ok(()) };
        change(&mut body);
        let renewed = UserToken { body: encode(&body), ..stored.clone() };
        if gateway.store.user_tokens().renew(stored, renewed).await? {
            break;
        }
    }
    Ok(())
}

/// Writes that the session is in use, once in a while.
async fn note_seen(gateway: &Gateway, stored: UserToken, mut body: Body, now: Timestamp) -> Result<()> {
    if now.since(Timestamp::from_millis(body.seen_at)) < SEEN_EVERY {
        return Ok(());
    }
    body.seen_at = now.as_millis();
    let expires_at = now.plus(IDLE_MAX).min(stored.made_at.plus(LENGTH_MAX));
    let renewed = UserToken { expires_at, body: encode(&body), ..stored.clone() };
    // If another request has ended or changed it since it was read, that counts. A later request writes when it came.
    gateway.store.user_tokens().renew(stored, renewed).await?;
    Ok(())
}

/// Returns the open sessions of a user, the newest first.
pub async fn list_sessions(gateway: &Gateway, user: u32) -> Result<Vec<SessionView>> {
    let catalogue = gateway.catalogue();
    let Some((_, entry)) = catalogue.users().by_id(user) else { return Ok(Vec::new()) };
    let tokens = gateway.store.user_tokens().list(user, gateway.clock.now()).await?;
    let sessions = tokens.into_iter().filter(|token| token.purpose == TokenPurpose::Session);
    let mut views: Vec<SessionView> = sessions
        .filter_map(|token| {
            let Body { address, agent, seen_at, confirmed_at: _, proof } =
                serde_json::from_str(&token.body).ok()?;
            if !proof.holds_for(&gateway.pepper, entry) {
                return None;
            }
            let seen_at = Timestamp::from_millis(seen_at);
            Some(SessionView { digest: token.digest, address, agent, made_at: token.made_at, seen_at })
        })
        .collect();
    views.sort_by_key(|view| std::cmp::Reverse(view.made_at));
    Ok(views)
}

/// Ends a session of a user. Returns whether there was one.
pub async fn end_session(gateway: &Gateway, user: u32, digest: TokenDigest) -> Result<bool> {
    let is_own = gateway
        .store
        .user_tokens()
        .list(user, gateway.clock.now())
        .await?
        .iter()
        .any(|token| token.digest == digest);
    Ok(is_own && gateway.store.user_tokens().end(digest).await?)
}

/// Ends all sessions of a user except this one. Returns how many.
pub async fn end_other_sessions(gateway: &Gateway, session: &Session) -> Result<usize> {
    let mut ended = 0;
    for other in list_sessions(gateway, session.user).await? {
        if other.digest != session.digest && gateway.store.user_tokens().end(other.digest).await? {
            ended += 1;
        }
    }
    Ok(ended)
}

fn csrf_of(gateway: &Gateway, token: &str) -> String {
    let derived = gateway.pepper.derived(&[b"csrf", token.as_bytes()]);
    derived.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn encode(body: &Body) -> String {
    serde_json::to_string(body).expect("a body has texts and numbers")
}

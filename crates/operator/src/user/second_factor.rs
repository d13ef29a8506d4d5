//! The second factor of a user: codes by time from an app, and recovery codes for the day without the phone. A code is accepted
//! once.

use crate::author::{Acting, Author};
use crate::entry::carry_out;
use crate::refusal::OperatorRefusal;
use crate::user::changes::{SignInChange, SignInProof};
use crate::user::sessions::Session;
use crate::user::{Result, UserRefusal, changes, digest_of_parts, sessions, too_many};
use hermod_domain::catalogue::SecondFactor;
use hermod_gateway::gateway::{Gateway, SignInKey};
use hermod_gateway::secrets::{Secret, random_token, sealed, totp};
use hermod_store::{TokenChange, TokenDigest, TokenPurpose, UserToken};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Recovery codes of a user.
const RECOVERY_CODES: usize = 10;
/// Characters of a recovery code, five bits each: 80 bits.
const RECOVERY_CHARS: usize = 16;
/// How long the setup of a second factor can take.
const SETUP_KEPT: Duration = Duration::from_secs(900);
/// How long a used code is remembered: longer than it is valid.
const USED_KEPT: Duration = Duration::from_secs(600);
/// A longer text is no code.
const CODE_CHARS_MAX: usize = 64;

/// One request at a time compares a code and marks it as used.
static COMPARING: Mutex<()> = Mutex::const_new(());

/// A second factor that is not switched on yet.
#[derive(Clone, Debug)]
pub struct Setup {
    /// In Base32.
    pub secret: Secret,
    /// The address for the QR code.
    pub uri: Secret,
}

/// Makes a secret for the user of a session. It counts only after [`finish_setup`].
pub async fn begin_setup(gateway: &Gateway, session: &Session) -> Result<()> {
    let secret = totp::make_secret().map_err(|error| no_randomness(&error))?;
    let now = gateway.clock.now();
    let stored = UserToken {
        digest: setup_digest(gateway, session),
        user: session.user,
        purpose: TokenPurpose::SecondFactor,
        made_at: now,
        expires_at: now.plus(SETUP_KEPT),
        body: sealed::seal(&gateway.pepper, &owner(session.user), &secret),
    };
    Ok(gateway.store.user_tokens().put(stored).await?)
}

/// Returns the setup that the session has begun.
pub async fn pending_setup(gateway: &Gateway, session: &Session) -> Result<Option<Setup>> {
    let found = gateway.store.user_tokens().find(setup_digest(gateway, session), gateway.clock.now()).await?;
    let Some(stored) = found else { return Ok(None) };
    let secret = open(gateway, session.user, &stored.body)?;
    let uri = totp::uri(&session.email, &secret);
    Ok(Some(Setup { secret, uri }))
}

/// Switches the second factor on if the code is right. All other sessions of the user end. Returns the recovery codes, which
/// cannot be read again.
pub async fn finish_setup(acting: &Acting, session: &Session, code: &str) -> Result<Vec<Secret>> {
    let pending = pending_setup(acting, session).await?;
    let secret = pending.ok_or(UserRefusal::LinkSpent)?.secret;
    let Some(step) = totp::matching_step(&secret, &plain(code), acting.clock.machine_time()) else {
        return Err(UserRefusal::WrongCode);
    };
    let codes = make_codes()?;
    let factor = SecondFactor {
        secret: sealed::seal(&acting.pepper, &owner(session.user), &secret),
        recovery: codes.iter().map(|code| recovery_digest(acting, session.user, code.reveal())).collect(),
        since: acting.clock.now(),
    };
    let change = SignInChange::SecondFactor { proof: Some(session.proof.clone()), factor: Some(factor) };
    // Sessions that were opened with the password alone end, and the setup itself.
    let tokens =
        TokenChange { end_all_of: vec![session.user], keep: Some(session.digest), ..TokenChange::default() };
    let proof = write_sign_in(acting, &acting.author, &session.email, change, tokens).await?;
    sessions::renew_proof(acting, session, proof).await?;
    mark_used(acting, session.user, step).await?;
    Ok(codes)
}

/// Makes other recovery codes. Those from before are no longer valid.
pub async fn renew_recovery_codes(acting: &Acting, session: &Session) -> Result<Vec<Secret>> {
    let codes = make_codes()?;
    let digests = codes.iter().map(|code| recovery_digest(acting, session.user, code.reveal())).collect();
    let change = SignInChange::RecoveryCodes { proof: session.proof.clone(), digests };
    change_sign_in(acting, &acting.author, &session.email, change).await?;
    Ok(codes)
}

/// Switches the second factor of a session's user off.
pub async fn switch_off_second_factor(acting: &Acting, session: &Session) -> Result<()> {
    let change = SignInChange::SecondFactor { proof: Some(session.proof.clone()), factor: None };
    change_sign_in(acting, &acting.author, &session.email, change).await
}

/// Removes the second factor of a user for the operator. Sessions stay open. Returns whether there was one.
pub async fn remove_second_factor(acting: &Acting, email: &str) -> Result<bool> {
    let catalogue = acting.catalogue();
    let (_, user) = catalogue.users().find(email).ok_or_else(|| OperatorRefusal::no_such("user", email))?;
    if user.second_factor.is_none() {
        return Ok(false);
    }
    let change = SignInChange::SecondFactor { proof: None, factor: None };
    change_sign_in(acting, &acting.author, email, change).await?;
    Ok(true)
}

/// Checks a code of an app or a recovery code, and uses it up. Guesses are limited for each user; a recovery code, which cannot be
/// guessed, is accepted at any time, so that guesses of others never lock the user out.
pub(crate) async fn check_code(
    gateway: &Arc<Gateway>,
    user: u32,
    code: &str,
    source: Option<IpAddr>,
) -> Result<()> {
    let catalogue = gateway.catalogue();
    let found = catalogue.users().by_id(user);
    let factor = found.and_then(|(email, user)| Some((email, user.second_factor.as_ref()?)));
    let (email, factor) = factor.ok_or(UserRefusal::WrongCode)?;
    let code = plain(code);
    if code.len() == totp::DIGITS {
        return check_app_code(gateway, user, factor, &code, source).await;
    }
    let digest = recovery_digest(gateway, user, &code);
    if !factor.recovery.contains(&digest) {
        note_failure(gateway, user, source);
        return Err(UserRefusal::WrongCode);
    }
    let author = Author::user(email, source);
    change_sign_in(gateway, &author, email, SignInChange::SpentRecoveryCode(digest)).await
}

async fn check_app_code(
    gateway: &Gateway,
    user: u32,
    factor: &SecondFactor,
    code: &str,
    source: Option<IpAddr>,
) -> Result<()> {
    let of_address = source.and_then(|source| gateway.wait_before_sign_in(source, SignInKey::Code(user), ""));
    if let Some(wait) = gateway.wait_before_code(user).max(of_address) {
        return Err(too_many(wait));
    }
    let secret = open(gateway, user, &factor.secret)?;
    let _alone = COMPARING.lock().await;
    let step = totp::matching_step(&secret, code, gateway.clock.machine_time());
    let is_used = match step {
        Some(step) => gateway
            .store
            .user_tokens()
            .find(used_digest(gateway, user, step), gateway.clock.now())
            .await?
            .is_some(),
        None => false,
    };
    match step.filter(|_| !is_used) {
        Some(step) => mark_used(gateway, user, step).await,
        None => {
            note_failure(gateway, user, source);
            Err(UserRefusal::WrongCode)
        }
    }
}

/// Counts a wrong code. The next one is refused if there were too many.
fn note_failure(gateway: &Gateway, user: u32, source: Option<IpAddr>) {
    gateway.fail_code(user);
    if let Some(source) = source {
        let _ = gateway.fail_sign_in(source, SignInKey::Code(user));
    }
}

async fn mark_used(gateway: &Gateway, user: u32, step: i64) -> Result<()> {
    let now = gateway.clock.now();
    let stored = UserToken {
        digest: used_digest(gateway, user, step),
        user,
        purpose: TokenPurpose::UsedCode,
        made_at: now,
        expires_at: now.plus(USED_KEPT),
        body: String::new(),
    };
    Ok(gateway.store.user_tokens().put(stored).await?)
}

/// Writes a change of how a user signs in.
async fn change_sign_in(gateway: &Gateway, author: &Author, email: &str, change: SignInChange) -> Result<()> {
    write_sign_in(gateway, author, email, change, TokenChange::default()).await.map(drop)
}

/// Writes a change of how a user signs in, and ends tokens. Returns what proves the user from now on.
pub(crate) async fn write_sign_in(
    gateway: &Gateway,
    author: &Author,
    email: &str,
    change: SignInChange,
    tokens: TokenChange,
) -> Result<SignInProof> {
    let _alone = gateway.change_alone().await?;
    let rows = gateway.store.setup().rows().await?;
    let now = gateway.clock.now();
    let plan = changes::change_sign_in(rows, &gateway.pepper, email, change, now)?;
    let user = plan.catalogue.users().find(email);
    let proof = user.and_then(|(_, user)| SignInProof::of(&gateway.pepper, user));
    let proof = proof.ok_or_else(|| OperatorRefusal::no_such("user", email))?;
    carry_out::carry_out_with(&gateway.store, &plan, author, tokens, now).await?;
    gateway.set_catalogue(plan.catalogue);
    Ok(proof)
}

fn make_codes() -> Result<Vec<Secret>> {
    let code = |_| random_token(RECOVERY_CHARS).map(Secret::new).map_err(|error| no_randomness(&error));
    (0..RECOVERY_CODES).map(code).collect()
}

fn no_randomness(error: &std::io::Error) -> UserRefusal {
    tracing::error!(%error, "No randomness for a second factor");
    UserRefusal::Refused(OperatorRefusal::Failed)
}

fn open(gateway: &Gateway, user: u32, stored: &str) -> Result<Secret> {
    sealed::open(&gateway.pepper, &owner(user), stored).map_err(|error| {
        tracing::error!(%error, user, "A second factor cannot be decrypted");
        UserRefusal::Refused(OperatorRefusal::Failed)
    })
}

fn owner(user: u32) -> String {
    format!("second factor of user {user}")
}

fn setup_digest(gateway: &Gateway, session: &Session) -> TokenDigest {
    digest_of_parts(&gateway.pepper, &[b"second factor setup", &session.digest.0])
}

fn used_digest(gateway: &Gateway, user: u32, step: i64) -> TokenDigest {
    digest_of_parts(&gateway.pepper, &[b"used code", &user.to_be_bytes(), &step.to_be_bytes()])
}

fn recovery_digest(gateway: &Gateway, user: u32, code: &str) -> String {
    let digest = digest_of_parts(&gateway.pepper, &[b"recovery code", &user.to_be_bytes(), code.as_bytes()]);
    digest.0.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Returns a code as it was made: people type spaces, dashes and capital letters.
fn plain(code: &str) -> String {
    let letters = code.chars().filter(|c| c.is_ascii_alphanumeric()).take(CODE_CHARS_MAX);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use crate::user::second_factor::plain;

    #[test]
    fn code_is_read_without_spaces_dashes_and_case() {
        assert_eq!(plain(" 123 456 "), "123456");
        assert_eq!(plain("ABCD-efgh"), "abcdefgh");
        assert_eq!(plain(&"x".repeat(1_000)).len(), 64);
    }
}

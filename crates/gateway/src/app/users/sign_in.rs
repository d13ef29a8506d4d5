//! Signing in with an e-mail address and a password. An unknown address and a wrong password take the same time and get the
//! same answer.

use super::sessions::{self, Session};
use super::{UserRefusal, hashing, second_factor, too_many};
use crate::author::Author;
use crate::provision::{SignInChange, canonical_email};
use crate::secrets::Secret;
use crate::world::{SignInKey, World};
use hermod_store::TokenChange;
use std::net::IpAddr;
use std::sync::Arc;

/// The shortest password that a user may choose. Length is what helps (NIST SP 800-63B section 3.1.1.2).
pub const PASSWORD_CHARS_MIN: usize = 12;
/// A limit, so that hashing stays cheap.
pub(super) const PASSWORD_CHARS_MAX: usize = 256;

/// A user whose password was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    pub user: u32,
    pub email: String,
    /// Whether the code of a second factor is needed too.
    pub needs_code: bool,
}

/// Checks an address and a password. After too many failures from an address, that address must wait; an address that has
/// signed in before is never limited with the right password.
pub async fn sign_in(
    world: &World,
    email: &str,
    password: &Secret,
    source: Option<IpAddr>,
) -> Result<SignedIn, UserRefusal> {
    let email = canonical_email(email).unwrap_or_default();
    let catalogue = world.catalogue();
    let found = catalogue.users().find(&email).filter(|(_, user)| !user.disabled);
    let hash = found.and_then(|(_, user)| user.password.clone());
    let key = SignInKey::User(&email);
    // A hash takes 20 ms: guessing must not.
    let digest = hash.as_deref().unwrap_or_default();
    if let Some(wait) = source.and_then(|source| world.wait_before_sign_in(source, key, digest)) {
        return Err(too_many(wait));
    }
    let fits = is_valid_length(password) && hashing::fits(&world.pepper, password, hash.clone()).await?;
    let signed_in = found.filter(|_| fits).map(|(id, user)| SignedIn {
        user: id,
        email: email.clone(),
        needs_code: user.second_factor.is_some(),
    });
    let limited = match (&signed_in, source) {
        (_, None) => Ok(()),
        (Some(_), Some(source)) => world.pass_sign_in(source, key, hash.as_deref().unwrap_or_default()),
        (None, Some(source)) => world.fail_sign_in(source, key),
    };
    limited.map_err(too_many)?;
    signed_in.ok_or(UserRefusal::WrongSignIn)
}

/// Checks the password of a signed-in user again, and a code if the user has a second factor. The session counts as confirmed for
/// a while.
pub async fn confirm_password(
    world: &Arc<World>,
    session: &Session,
    password: &Secret,
    code: &str,
    source: Option<IpAddr>,
) -> Result<(), UserRefusal> {
    let signed_in = sign_in(world, &session.email, password, source).await?;
    if signed_in.needs_code {
        second_factor::check_code(world, signed_in.user, code, source).await?;
    }
    sessions::confirm(world, session).await
}

/// Changes the password of a signed-in user. All other sessions and links of the user end.
pub async fn change_password(
    world: &World,
    session: &Session,
    password: &Secret,
    new_password: &Secret,
    source: Option<IpAddr>,
) -> Result<(), UserRefusal> {
    check_new(new_password)?;
    sign_in(world, &session.email, password, source).await?;
    let hash = hashing::hash(&world.pepper, new_password).await?;
    let tokens =
        TokenChange { end_all_of: vec![session.user], keep: Some(session.digest), ..TokenChange::default() };
    let author = Author::user(&session.email, source);
    let change = SignInChange::Password(hash);
    second_factor::write_sign_in(world, &author, &session.email, change, tokens).await
}

pub(super) fn is_valid_length(password: &Secret) -> bool {
    let length = password.reveal().chars().count();
    (1..=PASSWORD_CHARS_MAX).contains(&length)
}

/// Checks a password that a user chooses.
pub(super) fn check_new(password: &Secret) -> Result<(), UserRefusal> {
    let is_long = password.reveal().chars().count() >= PASSWORD_CHARS_MIN;
    if is_long && is_valid_length(password) { Ok(()) } else { Err(UserRefusal::PasswordLength) }
}

//! Signing in with an e-mail address and a password. An unknown address and a wrong password take the same time and get the
//! same answer.

use crate::author::Author;
use crate::entry::names::canonical_email;
use crate::user::changes::{SignInChange, SignInProof};
use crate::user::sessions::{Session, SignedIn};
use crate::user::{Result, UserRefusal, hashing, second_factor, sessions, too_many};
use hermod_domain::catalogue::LinkCourier;
use hermod_domain::ids::AccountId;
use hermod_domain::password::{PASSWORD_CHARS_MAX, check_new as check_new_password};
use hermod_gateway::gateway::{Gateway, SignInKey};
use hermod_gateway::secrets::Secret;
use hermod_store::TokenChange;
use std::net::IpAddr;
use std::sync::Arc;
use subtle::ConstantTimeEq as _;

/// A browser that asks to be signed in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Device<'a> {
    pub address: Option<IpAddr>,
    /// The token that the browser got when the user signed in before; see [`device_token`].
    pub token: Option<&'a Secret>,
}

/// Returns the token by which a browser is known that a user has signed in with. It opens nothing: it only exempts the browser from
/// the limit of wrong passwords for the user, so that guesses of others never lock the user out. It ends with the password.
pub fn device_token(gateway: &Gateway, user: u32) -> Option<Secret> {
    let catalogue = gateway.catalogue();
    let (email, user) = catalogue.users().by_id(user)?;
    Some(token_of(gateway, email, user.password.as_deref()?))
}

fn token_of(gateway: &Gateway, email: &str, hash: &str) -> Secret {
    let derived = gateway.pepper.derived(&[b"known device", email.as_bytes(), hash.as_bytes()]);
    Secret::new(derived.iter().map(|octet| format!("{octet:02x}")).collect::<String>())
}

fn is_known(gateway: &Gateway, device: Device<'_>, email: &str, hash: Option<&str>) -> bool {
    let expected = token_of(gateway, email, hash.unwrap_or_default());
    let given = device.token.map_or("", Secret::reveal);
    hash.is_some() && bool::from(expected.reveal().as_bytes().ct_eq(given.as_bytes()))
}

/// Checks an address and a password. After too many failures from an address, that address must wait; an address that has
/// signed in before is never limited with the right password. After too many failures for a user from all addresses, only
/// browsers and addresses that the user has signed in with are admitted.
pub async fn sign_in(
    gateway: &Gateway,
    email: &str,
    password: &Secret,
    device: Device<'_>,
) -> Result<SignedIn> {
    let source = device.address;
    let email = canonical_email(email).unwrap_or_default();
    let catalogue = gateway.catalogue();
    let found = catalogue.users().find(&email).filter(|(_, user)| !user.disabled);
    let hash = found.and_then(|(_, user)| user.password.clone());
    let key = SignInKey::User(&email);
    // A hash takes 20 ms: guessing must not.
    let digest = hash.as_deref().unwrap_or_default();
    if let Some(wait) = source.and_then(|source| gateway.wait_before_sign_in(source, key, digest)) {
        return Err(too_many(wait));
    }
    let is_known = is_known(gateway, device, &email, hash.as_deref())
        || source.is_some_and(|source| gateway.is_proven(source, key, digest));
    if let Some(wait) = gateway.wait_before_password(&email).filter(|_| !is_known) {
        return Err(too_many(wait));
    }
    let fits = is_valid_length(password) && hashing::fits(&gateway.pepper, password, hash.clone()).await?;
    let signed_in = found
        .filter(|_| fits)
        .and_then(|(user, entry)| Some(SignedIn { user, proof: SignInProof::of(&gateway.pepper, entry)? }));
    let limited = match (&signed_in, source) {
        (_, None) => Ok(()),
        (Some(_), Some(source)) => gateway.pass_sign_in(source, key, hash.as_deref().unwrap_or_default()),
        (None, Some(source)) => gateway.fail_sign_in(source, key),
    };
    if signed_in.is_none() && !is_known {
        gateway.fail_password(&email);
    }
    limited.map_err(too_many)?;
    signed_in.ok_or(UserRefusal::WrongSignIn)
}

/// Checks the password of a signed-in user again, and a code if the user has a second factor. The session counts as confirmed for
/// a while.
pub async fn confirm_password(
    gateway: &Arc<Gateway>,
    session: &Session,
    password: &Secret,
    code: &str,
    source: Option<IpAddr>,
) -> Result<()> {
    check_again(gateway, session, password, code, source).await?;
    sessions::confirm(gateway, session).await
}

/// Checks the password of a signed-in user, and a code if the user has a second factor. Returns what the user has proved.
async fn check_again(
    gateway: &Arc<Gateway>,
    session: &Session,
    password: &Secret,
    code: &str,
    source: Option<IpAddr>,
) -> Result<SignInProof> {
    // The session proves the browser.
    let token = device_token(gateway, session.user);
    let device = Device { address: source, token: token.as_ref() };
    let SignedIn { user, proof } = sign_in(gateway, &session.email, password, device).await?;
    if proof.needs_code() {
        second_factor::check_code(gateway, user, code, source).await?;
    }
    Ok(proof)
}

/// Changes the password of a signed-in user, who proves it with the present one, and a code if the user has a second factor. All
/// other sessions and links of the user end. Refused if a link has set another password meanwhile.
pub async fn change_password(
    gateway: &Arc<Gateway>,
    session: &Session,
    (password, code): (&Secret, &str),
    new_password: &Secret,
    source: Option<IpAddr>,
) -> Result<()> {
    check_new(gateway, session.user, new_password, Chooser::SignedIn)?;
    let proof = check_again(gateway, session, password, code, source).await?;
    let hash = hashing::hash(&gateway.pepper, new_password).await?;
    let tokens =
        TokenChange { end_all_of: vec![session.user], keep: Some(session.digest), ..TokenChange::default() };
    let author = Author::user(&session.email, source);
    let change = SignInChange::Password { proof, hash };
    let proof = second_factor::write_sign_in(gateway, &author, &session.email, change, tokens).await?;
    sessions::renew_proof(gateway, session, proof).await
}

pub(crate) fn is_valid_length(password: &Secret) -> bool {
    let length = password.reveal().chars().count();
    (1..=PASSWORD_CHARS_MAX).contains(&length)
}

/// Who chooses a password: its refusal must not tell what the chooser may not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// The user.
    SignedIn,
    /// The holder of a link, of an account or for another password.
    Link(Option<AccountId>, LinkCourier),
}

/// Checks a password that is chosen for a user. It is compared with the address and the account of the link by which it is chosen,
/// and with the user's name and accepted accounts unless an owner of an account may be the chooser.
pub(crate) fn check_new(gateway: &Gateway, user: u32, password: &Secret, chooser: Chooser) -> Result<()> {
    let catalogue = gateway.catalogue();
    let Some((email, user)) = catalogue.users().by_id(user) else { return Err(UserRefusal::LinkSpent) };
    let (of_link, is_person) = match chooser {
        Chooser::SignedIn => (None, true),
        Chooser::Link(account, courier) => (account, courier.proves_address()),
    };
    let own = user.memberships().filter(|_| is_person).map(|membership| membership.account);
    let accounts = of_link.into_iter().chain(own);
    let accounts = accounts.filter_map(|account| Some(catalogue.account(account)?.name.as_str()));
    let name = is_person.then_some(user.name.as_str());
    let known = [email, "hermod"].into_iter().chain(name).chain(accounts);
    check_new_password(password.reveal(), known).map_err(UserRefusal::WeakPassword)
}

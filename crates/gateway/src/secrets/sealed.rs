//! Encrypts secrets that must be read again, such as a carrier's password, so that the database alone reveals nothing.
//! The key is derived from the pepper, which is stored beside the database.
//!
//! Deterministic: the same secret of the same owner gives the same text, so that applying a file twice changes
//! nothing. The nonce is a keyed digest of owner and secret.

use super::pepper::Pepper;
use super::secret::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The prefix of an encrypted text. Passwords have at most 8 characters, so none looks like one.
const MARK: &str = "sealed:";

/// Encrypted with another pepper or for another owner, or corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored password cannot be decrypted with this data folder's pepper.key; set it again")]
pub struct Unopened;

/// Encrypts a secret for its owner.
pub fn seal(pepper: &Pepper, owner: &str, secret: &Secret) -> String {
    let nonce = nonce_for(pepper, owner, secret);
    let mut sealed = secret.reveal().as_bytes().to_vec();
    let for_owner = Aad::from(owner.as_bytes());
    key(pepper)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), for_owner, &mut sealed)
        .expect("a password is short enough to encrypt");
    format!("{MARK}{}", STANDARD_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
}

/// Decrypts a secret. A text without the prefix is an old unencrypted one and is returned as it is.
pub fn open(pepper: &Pepper, owner: &str, stored: &str) -> Result<Secret, Unopened> {
    let Some(sealed) = stored.strip_prefix(MARK) else { return Ok(Secret::new(stored)) };
    let sealed = STANDARD_NO_PAD.decode(sealed).map_err(|_| Unopened)?;
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(Unopened)?;
    let mut opened = sealed.to_vec();
    let for_owner = Aad::from(owner.as_bytes());
    let text = key(pepper)
        .open_in_place(Nonce::assume_unique_for_key(*nonce), for_owner, &mut opened)
        .map_err(|_| Unopened)?;
    String::from_utf8(text.to_vec()).map(Secret::new).map_err(|_| Unopened)
}

fn key(pepper: &Pepper) -> LessSafeKey {
    let bytes = pepper.derived(&[b"seal secrets"]);
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &bytes).expect("a digest has the length of a key"))
}

fn nonce_for(pepper: &Pepper, owner: &str, secret: &Secret) -> [u8; NONCE_LEN] {
    let digest = pepper.derived(&[b"nonce", owner.as_bytes(), secret.reveal().as_bytes()]);
    *digest.first_chunk().expect("a digest is longer than a nonce")
}

#[cfg(test)]
#[path = "sealed_tests.rs"]
mod tests;

//! Webhook signing secrets: generated, encrypted for their account, and decrypted for signing.

use super::pepper::Pepper;
use super::sealed::{self, Unopened};
use super::secret::{Secret, random_token};
use hermod_domain::ids::AccountId;

/// The length of a generated secret: 200 random bits.
const SECRET_CHARS: usize = 40;

/// The length of a secret that the operator chooses.
const SECRET_CHARS_MIN: usize = 16;
const SECRET_CHARS_MAX: usize = 256;

/// Not a valid secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a webhook secret has {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} ASCII characters without spaces; use random ones"
)]
pub struct NoSecret;

/// Validates a secret that the operator chooses.
pub fn read(text: String) -> Result<Secret, NoSecret> {
    let fits = (SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|octet| octet.is_ascii_graphic()) {
        Ok(Secret::new(text))
    } else {
        Err(NoSecret)
    }
}

/// Generates a secret.
pub fn make() -> std::io::Result<Secret> {
    random_token(SECRET_CHARS).map(Secret::new)
}

pub fn seal(pepper: &Pepper, account: AccountId, secret: &Secret) -> String {
    sealed::seal(pepper, &owner(account), secret)
}

pub fn open(pepper: &Pepper, account: AccountId, stored: &str) -> Result<Secret, Unopened> {
    sealed::open(pepper, &owner(account), stored)
}

/// Returns the owner by the account's number, because names can be reused.
fn owner(account: AccountId) -> String {
    format!("webhooks of account {account}")
}

#[cfg(test)]
#[path = "webhook_secret_tests.rs"]
mod tests;

//! The secrets that webhooks are signed with: made here, sealed for their account, opened where they sign.

use super::sealed::{self, Unopened};
use super::secret::{Pepper, Secret, random_token};
use hermod_domain::ids::AccountId;

/// Characters of a secret that is made here: 200 random bits.
const SECRET_CHARS: usize = 40;

/// What somebody may bring instead.
const SECRET_CHARS_MIN: usize = 16;
const SECRET_CHARS_MAX: usize = 256;

/// It cannot be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a webhook secret has {SECRET_CHARS_MIN} to {SECRET_CHARS_MAX} ASCII characters without spaces; take random ones"
)]
pub struct NoSecret;

/// A secret that somebody brings.
pub fn read(text: String) -> Result<Secret, NoSecret> {
    let fits = (SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|octet| octet.is_ascii_graphic()) {
        Ok(Secret::new(text))
    } else {
        Err(NoSecret)
    }
}

/// A new secret.
pub fn make() -> std::io::Result<Secret> {
    random_token(SECRET_CHARS).map(Secret::new)
}

pub fn seal(pepper: &Pepper, account: AccountId, secret: &Secret) -> String {
    sealed::seal(pepper, &owner(account), secret)
}

pub fn open(pepper: &Pepper, account: AccountId, stored: &str) -> Result<Secret, Unopened> {
    sealed::open(pepper, &owner(account), stored)
}

/// By its number: names could be given anew.
fn owner(account: AccountId) -> String {
    format!("webhooks of account {account}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_is_brought_is_long_enough() {
        for (length, fits) in [(15, false), (16, true), (256, true), (257, false)] {
            assert_eq!(read("x".repeat(length)).is_ok(), fits, "{length}");
        }
        assert_eq!(read("sixteen and more".to_owned()), Err(NoSecret));
        assert_eq!(read("übermäßig-geheim".to_owned()), Err(NoSecret));
    }

    #[test]
    fn a_secret_is_sealed_for_its_account_only() {
        let pepper = Pepper::new(b"pepper");
        let secret = make().unwrap();
        assert_eq!(secret.reveal().len(), SECRET_CHARS);
        let sealed = seal(&pepper, AccountId::new(7), &secret);
        assert_eq!(open(&pepper, AccountId::new(7), &sealed), Ok(secret));
        assert!(open(&pepper, AccountId::new(8), &sealed).is_err());
    }
}

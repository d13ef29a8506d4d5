//! The secrets that webhooks are signed with: made here, sealed for their account, opened where they sign.

use crate::sealed::{self, Unopened};
use crate::secrets::{Pepper, Secret, random_token};
use hermod_domain::ids::AccountId;

/// Characters of a secret that is made here: 200 random bits.
const SECRET_CHARS: usize = 40;

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
    fn a_secret_is_sealed_for_its_account_only() {
        let pepper = Pepper::new(b"pepper");
        let secret = make().unwrap();
        assert_eq!(secret.reveal().len(), SECRET_CHARS);
        let sealed = seal(&pepper, AccountId::new(7), &secret);
        assert_eq!(open(&pepper, AccountId::new(7), &sealed), Ok(secret));
        assert!(open(&pepper, AccountId::new(8), &sealed).is_err());
    }
}

//! SMPP passwords: at most eight characters, so what is stored of them must be slow to try. Argon2id, in the text form
//! that names its own costs, so that those can be raised without locking anybody out, and mixed with the pepper, so that
//! a stolen database alone is not enough to try them.

use crate::secrets::Pepper;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

/// What one try costs: memory, and passes over it. About 20 ms of one core.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// What is stored of a password. Takes its time: not for a thread that others wait for.
pub fn hash(pepper: &Pepper, password: &str) -> std::io::Result<String> {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt).map_err(std::io::Error::other)?;
    let key = key(pepper);
    let hash: PasswordHash =
        argon2(&key).hash_password_with_salt(password.as_bytes(), &salt).map_err(std::io::Error::other)?;
    Ok(hash.to_string())
}

/// Whether this is the password that was hashed. Something unreadable was never anybody's password.
pub fn matches(pepper: &Pepper, password: &[u8], hash: &str) -> bool {
    match PasswordHash::new(hash) {
        Ok(hash) => argon2(&key(pepper)).verify_password(password, &hash).is_ok(),
        Err(_) => {
            spend_as_much(pepper, password);
            false
        }
    }
}

/// Works as long as [`matches()`] does, for a name that nobody has: who tries names must not learn which ones there are.
pub fn spend_as_much(pepper: &Pepper, password: &[u8]) {
    let spent: Result<PasswordHash, _> =
        argon2(&key(pepper)).hash_password_with_salt(password, &[0; SALT_BYTES]);
    std::hint::black_box(spent.is_ok());
}

fn key(pepper: &Pepper) -> [u8; 32] {
    pepper.derived(&[b"smpp passwords"])
}

fn argon2(key: &[u8]) -> Argon2<'_> {
    let params =
        Params::new(MEMORY_KIB, PASSES, LANES, None).expect("these costs are within Argon2's bounds");
    Argon2::new_with_secret(key, Algorithm::Argon2id, Version::V0x13, params)
        .expect("32 octets are within Argon2's bounds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_salted_says_its_costs_and_matches_its_password_only() {
        let pepper = Pepper::new(b"pepper");
        let matches = |password: &[u8], hash: &str| super::matches(&pepper, password, hash);
        let (one, other) = (hash(&pepper, "secret08").unwrap(), hash(&pepper, "secret08").unwrap());
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other);
        assert!(matches(b"secret08", &one) && matches(b"secret08", &other));
        assert!(!matches(b"secret09", &one) && !matches(b"", &one));
        assert!(!matches(b"secret08", "not a hash"));
        assert!(!super::matches(&Pepper::new(b"salt"), b"secret08", &one));
    }
}

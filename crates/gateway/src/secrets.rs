//! Secrets: what they are made of, how they are kept, and that they never print themselves.
//!
//! An API secret has 160 random bits, so a keyed digest is enough to keep it by: there is nothing to guess. The key of
//! that digest (the pepper) stands in a file beside the database, never in it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use subtle::ConstantTimeEq;

const PEPPER_FILE: &str = "pepper.key";
const PEPPER_BYTES: usize = 32;
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A text that must not be shown. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself, for the one place that has to have it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Makes the digests that API secrets are kept by.
#[derive(Clone)]
pub struct Pepper(Hmac<Sha256>);

impl Pepper {
    pub fn new(key: &[u8]) -> Pepper {
        Pepper(Hmac::new_from_slice(key).expect("HMAC takes a key of any length"))
    }

    /// Reads the pepper of a data folder, made at random the first time.
    pub fn load_or_make(folder: &Path) -> std::io::Result<Pepper> {
        let path = folder.join(PEPPER_FILE);
        if let Ok(key) = std::fs::read(&path) {
            return Ok(Pepper::new(&key));
        }
        let mut key = [0; PEPPER_BYTES];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        keep_private(folder, PEPPER_FILE, &key)?;
        Ok(Pepper::new(&key))
    }

    /// The digest a secret is kept by: lower-case hex.
    pub fn digest(&self, secret: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(secret.as_bytes());
        to_hex(&mac.finalize().into_bytes())
    }

    /// A key or a nonce for one purpose. Each piece is counted in by its length, so that no two lists are alike.
    pub(crate) fn derived(&self, purpose: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for piece in purpose {
            mac.update(&u64::try_from(piece.len()).expect("a length fits").to_be_bytes());
            mac.update(piece);
        }
        mac.finalize().into_bytes().into()
    }

    /// Compares in time that does not depend on where they differ.
    pub fn matches(&self, secret: &str, digest: &str) -> bool {
        self.digest(secret).as_bytes().ct_eq(digest.as_bytes()).into()
    }
}

/// Keeps a file of a data folder for its owner alone. Written whole under another name first: a pepper cut short would
/// lock every customer out.
pub(crate) fn keep_private(folder: &Path, name: &str, content: &[u8]) -> std::io::Result<()> {
    let draft = folder.join(format!("{name}.new"));
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&draft, folder.join(name))?;
    std::fs::File::open(folder)?.sync_all()
}

/// A random token of so many characters, five bits each, without look-alikes.
pub fn random_token(characters: usize) -> std::io::Result<String> {
    let mut bytes = vec![0; characters];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect())
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(…)");
    }

    #[test]
    fn a_digest_matches_its_secret_only() {
        let pepper = Pepper::new(b"pepper");
        let digest = pepper.digest("s3cret");
        assert!(pepper.matches("s3cret", &digest));
        assert!(!pepper.matches("s3creT", &digest));
        assert!(!Pepper::new(b"salt").matches("s3cret", &digest));
    }

    #[test]
    fn the_pepper_of_a_folder_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let first = Pepper::load_or_make(folder.path()).unwrap();
        let again = Pepper::load_or_make(folder.path()).unwrap();
        assert!(again.matches("s", &first.digest("s")));
    }

    #[test]
    fn tokens_differ_and_have_the_length_asked_for() {
        let (one, other) = (random_token(32).unwrap(), random_token(32).unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}

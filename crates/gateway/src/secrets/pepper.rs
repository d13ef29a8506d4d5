//! The pepper: the key of digests and encryption.
//!
//! An API secret has 160 random bits and cannot be guessed, so a keyed digest is stored instead of a slow hash. The
//! key (the pepper) is in a file beside the database or elsewhere, never in it.

use super::secret::write_private;
use super::source::SecretSource;
use crate::config::DataSection;
use hermod_domain::audit::AuditKey;
use hermod_domain::erasure::ErasureKey;
use hermod_domain::hex::{from_hex, hex};
use hermod_store::{NodeKey, PepperFingerprint};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;

const PEPPER_FILE: &str = "pepper.key";
const PEPPER_BYTES: usize = 32;
/// The environment variable with the pepper in hexadecimal digits.
const PEPPER_VARIABLE: &str = "HERMOD_PEPPER";
/// What the fingerprint of a pepper is derived for.
const FINGERPRINT: &[u8] = b"fingerprint of the pepper";

/// Whether a store contains anything that depends on the pepper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreContents {
    /// No account, key, connection or carrier was ever stored, and no pepper has claimed it.
    Empty,
    InUse,
    /// It is on a server and has the fingerprint of its pepper, which all nodes need.
    OnServer,
}

/// Why the pepper could not be loaded, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum PepperError {
    #[error(
        "{} is missing. Every API secret, bind password and carrier password in this data folder was stored with that key. \
         Copy pepper.key back from a backup of this folder. If there is none, write 32 random octets to that file \
         (head -c 32 /dev/urandom), remove the fingerprint of the old one while no gateway runs \
         (sqlite3 hermod.db 'DELETE FROM pepper_fingerprint'), and set every secret and password again", .0.display()
    )]
    Missing(PathBuf),
    #[error(
        "{} is missing. All nodes on a server need the same pepper: copy it from a node that works with this store, or name it \
         with [data] pepper_file or the environment variable {PEPPER_VARIABLE}. For a new store write 32 random octets to the \
         file (head -c 32 /dev/urandom)", .0.display()
    )]
    NotOnThisNode(PathBuf),
    #[error(
        "{} has {found} octets instead of {PEPPER_BYTES}, so it is not the key of this data folder. Copy pepper.key back from \
         a backup of this folder", path.display()
    )]
    WrongLength { path: PathBuf, found: usize },
    #[error(
        "{place} is not a pepper, which has {PEPPER_BYTES} octets in a file, or {} hexadecimal digits in a file or a variable",
        2 * PEPPER_BYTES
    )]
    Invalid { place: SecretSource },
    #[error(
        "{place} is not the pepper of this store: its API secrets, bind passwords and carrier passwords were stored with \
         another one. Copy the right pepper from a backup of the data folder or from a node that works with this store, or name \
         its file in [data] pepper_file"
    )]
    OfAnotherStore { place: SecretSource },
    #[error("{} cannot be read: {error}. Let the user that runs Hermod read it (mode 0600)", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{} cannot be created: {error}", path.display())]
    NotMade { path: PathBuf, error: std::io::Error },
}

/// The key of digests and encryption.
#[derive(Clone)]
pub struct Pepper(Hmac<Sha256>);

impl Pepper {
    pub fn new(key: &[u8]) -> Pepper {
        Pepper(Hmac::new_from_slice(key).expect("HMAC takes a key of any length"))
    }

    /// Finds the pepper of a gateway: `[data] pepper_file`, else the variable `HERMOD_PEPPER`, else `pepper.key` in the data
    /// folder.
    pub fn source(data: &DataSection) -> SecretSource {
        SecretSource::find(data.pepper_file.as_deref(), PEPPER_VARIABLE, data.folder.join(PEPPER_FILE))
    }

    /// Reads the pepper of a gateway. Generates it only for an empty store, and only in the data folder.
    pub fn load(data: &DataSection, contents: StoreContents) -> Result<Pepper, PepperError> {
        let place = Pepper::source(data);
        let key = match &place {
            SecretSource::DataFolder(_) => return Pepper::load_or_make(&data.folder, contents),
            SecretSource::Variable { value, .. } => key_in_hex(value.reveal().as_bytes()),
            SecretSource::File(path) => {
                let found = std::fs::read(path)
                    .map_err(|error| PepperError::Unreadable { path: path.clone(), error })?;
                <[u8; PEPPER_BYTES]>::try_from(found.as_slice()).ok().or_else(|| key_in_hex(&found))
            }
        };
        key.map(|key| Pepper::new(&key)).ok_or(PepperError::Invalid { place })
    }

    /// Returns what tells this pepper from others without revealing anything about it.
    pub fn fingerprint(&self) -> PepperFingerprint {
        let [a, b, c, d, e, f, g, h, ..] = self.derived(&[FINGERPRINT]);
        [a, b, c, d, e, f, g, h]
    }

    /// Reads the pepper of a data folder. Generates it only for an empty store: with another pepper the stored secrets
    /// could not be checked or decrypted.
    pub fn load_or_make(folder: &Path, contents: StoreContents) -> Result<Pepper, PepperError> {
        let path = folder.join(PEPPER_FILE);
        let key = match (std::fs::read(&path), contents) {
            (Ok(key), _) => key,
            (Err(error), StoreContents::Empty) if error.kind() == ErrorKind::NotFound => {
                return Pepper::make(folder).map_err(|error| PepperError::NotMade { path, error });
            }
            (Err(error), StoreContents::InUse) if error.kind() == ErrorKind::NotFound => {
                return Err(PepperError::Missing(path));
            }
            (Err(error), StoreContents::OnServer) if error.kind() == ErrorKind::NotFound => {
                return Err(PepperError::NotOnThisNode(path));
            }
            (Err(error), _) => return Err(PepperError::Unreadable { path, error }),
        };
        match key.len() {
            PEPPER_BYTES => Ok(Pepper::new(&key)),
            found => Err(PepperError::WrongLength { path, found }),
        }
    }

    fn make(folder: &Path) -> std::io::Result<Pepper> {
        let mut key = [0; PEPPER_BYTES];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        write_private(folder, PEPPER_FILE, &key)?;
        Ok(Pepper::new(&key))
    }

    /// Returns the digest of a secret in lower-case hex.
    pub fn digest(&self, secret: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(secret.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// Derives a key or a nonce for a purpose. Each piece is prefixed with its length, so that different lists never
    /// collide.
    pub fn derived(&self, purpose: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for piece in purpose {
            mac.update(&u64::try_from(piece.len()).expect("a length fits").to_be_bytes());
            mac.update(piece);
        }
        mac.finalize().into_bytes().into()
    }

    /// Returns the key by which the nodes on one server know each other.
    pub fn node_key(&self) -> NodeKey {
        NodeKey(self.derived(&[b"nodes"]))
    }

    /// Returns the key of the hashes and seals of the audit log.
    pub fn audit_key(&self) -> AuditKey {
        AuditKey(self.derived(&[b"audit log"]))
    }

    /// Returns the key of the digests of erased phone numbers.
    pub fn erasure_key(&self) -> ErasureKey {
        ErasureKey(self.derived(&[b"erased numbers"]))
    }

    /// Returns the seed of the fingerprints that failed sign-ins are counted by.
    pub fn limits_seed(&self) -> [u8; 32] {
        self.derived(&[b"limits"])
    }

    /// Returns the key of the permutation by which customers see numbers that are counted over all accounts.
    pub fn shown_numbers_key(&self) -> [u8; 32] {
        self.derived(&[b"shown numbers"])
    }

    /// Compares in constant time.
    pub fn matches(&self, secret: &str, digest: &str) -> bool {
        let [matches] = self.matches_each(secret, [digest]);
        matches
    }

    /// Compares a secret with each digest, in constant time.
    pub fn matches_each<const N: usize>(&self, secret: &str, digests: [&str; N]) -> [bool; N] {
        let own = self.digest(secret);
        digests.map(|digest| own.as_bytes().ct_eq(digest.as_bytes()).into())
    }
}

fn key_in_hex(text: &[u8]) -> Option<[u8; PEPPER_BYTES]> {
    from_hex(str::from_utf8(text.trim_ascii()).ok()?)?.try_into().ok()
}

#[cfg(test)]
#[path = "pepper_tests.rs"]
mod tests;

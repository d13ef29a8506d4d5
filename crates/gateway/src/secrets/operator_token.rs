//! The operator's token, which grants full access to the operator API. It is given by the settings or the environment, or
//! generated when a data folder is first opened, in a file that only its owner can read; the gateway keeps only a digest. Named
//! operators have tokens of their own, each with a role.

use super::pepper::Pepper;
use super::secret::{random_token, write_private};
use super::source::SecretSource;
use crate::config::Config;
use hermod_domain::catalogue::OperatorEntry;
use hermod_domain::operator_role::OperatorRole;
use hermod_domain::time::Timestamp;
use std::path::Path;
use subtle::ConstantTimeEq as _;

const FILE: &str = "operator.token";
/// The environment variable with the token.
const VARIABLE: &str = "HERMOD_OPERATOR_TOKEN";
/// Five bits each: 200 bits.
const MADE_CHARS: usize = 40;
/// The least length of a token that the operator chooses.
const CHARS_MIN: usize = 26;
const CHARS_MAX: usize = 256;

#[derive(Clone)]
pub struct OperatorToken {
    pepper: Pepper,
    digest: String,
}

/// Whose token a request has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenHolder {
    /// The token in the data folder.
    DataFolder,
    /// An operator with a token of its own.
    Named { name: String, entry: OperatorEntry },
}

impl TokenHolder {
    /// Returns what the holder may do.
    pub const fn role(&self) -> OperatorRole {
        match self {
            TokenHolder::DataFolder => OperatorRole::Admin,
            TokenHolder::Named { entry, .. } => entry.role,
        }
    }

    /// Whether the token is still valid and has the same role, now that these are the operators.
    pub fn is_unchanged(&self, operators: &[(String, OperatorEntry)], now: Timestamp) -> bool {
        let TokenHolder::Named { name, entry } = self else { return true };
        operators.iter().any(|(known, OperatorEntry { token_digest, role, until })| {
            (known, token_digest, role) == (name, &entry.token_digest, &entry.role)
                && until.is_none_or(|until| until > now)
        })
    }

    /// Returns since when the token is invalid, if its time is over.
    pub fn expired(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            TokenHolder::DataFolder => None,
            TokenHolder::Named { entry, .. } => entry.until.filter(|until| *until <= now),
        }
    }
}

/// Finds the token: `[operator] token_file`, else the variable `HERMOD_OPERATOR_TOKEN`, else `operator.token` in the data
/// folder.
pub fn source(config: &Config) -> SecretSource {
    SecretSource::find(config.operator.token_file.as_deref(), VARIABLE, config.data.folder.join(FILE))
}

/// Returns the token of a gateway that has started before.
pub fn find(config: &Config) -> std::io::Result<String> {
    match source(config) {
        SecretSource::Variable { value, .. } => check(value.reveal()),
        SecretSource::File(path) | SecretSource::DataFolder(path) => read(&path),
    }
}

impl OperatorToken {
    pub fn new(pepper: &Pepper, token: &str) -> OperatorToken {
        OperatorToken { pepper: pepper.clone(), digest: pepper.digest(token) }
    }

    /// Reads the token, or generates it. A configured file must exist.
    pub fn load_or_make(config: &Config, pepper: &Pepper) -> std::io::Result<OperatorToken> {
        // A file without permission to stat is not a missing one.
        if let SecretSource::DataFolder(path) = source(config)
            && !path.try_exists()?
        {
            tracing::info!(path = %path.display(), "Generated a new operator token");
            let token = random_token(MADE_CHARS)?;
            write_private(&config.data.folder, FILE, format!("{token}\n").as_bytes())?;
            return Ok(OperatorToken::new(pepper, &token));
        }
        find(config).map(|token| OperatorToken::new(pepper, &token))
    }

    /// Returns whose token it is, expired or not, and its digest. Compares the digest with those of all operators, each in constant time.
    pub fn holder_of(
        &self,
        given: &str,
        operators: &[(String, OperatorEntry)],
    ) -> Option<(TokenHolder, String)> {
        let digest = self.pepper.digest(given);
        let is_same = |known: &str| bool::from(digest.as_bytes().ct_eq(known.as_bytes()));
        let mut holder = is_same(&self.digest).then_some(TokenHolder::DataFolder);
        for (name, operator) in operators {
            if is_same(&operator.token_digest) {
                let named = || TokenHolder::Named { name: name.clone(), entry: operator.clone() };
                holder = holder.or_else(|| Some(named()));
            }
        }
        holder.map(|holder| (holder, digest))
    }

    /// Whether it is the token of the data folder. Compares in constant time.
    pub fn matches(&self, given: &str) -> bool {
        self.pepper.matches(given, &self.digest)
    }
}

/// Reads the token from a file.
pub fn read(path: &Path) -> std::io::Result<String> {
    check(&std::fs::read_to_string(path)?)
}

fn check(text: &str) -> std::io::Result<String> {
    let token = text.trim();
    let plain = token.bytes().all(|b| b.is_ascii_graphic());
    if plain && (CHARS_MIN..=CHARS_MAX).contains(&token.len()) {
        return Ok(token.to_owned());
    }
    let sentence = format!("a token is one line of {CHARS_MIN} to {CHARS_MAX} characters without spaces");
    Err(std::io::Error::new(std::io::ErrorKind::InvalidData, sentence))
}

#[cfg(test)]
#[path = "operator_token_tests.rs"]
mod tests;

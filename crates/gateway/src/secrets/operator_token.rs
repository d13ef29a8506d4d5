//! The operator's token: who has it may do everything the operator API can. It is made when a data folder is first opened
//! and stands in a file that only its owner can read; the gateway itself keeps no more than a digest to compare with.

use super::secret::{Pepper, keep_private, random_token};
use crate::config::Config;
use std::path::{Path, PathBuf};

const FILE: &str = "operator.token";
/// Five bits each: 200 bits.
const MADE_CHARS: usize = 40;
/// A token of somebody's own: long enough that nobody guesses it.
const CHARS_MIN: usize = 26;
const CHARS_MAX: usize = 256;

#[derive(Clone)]
pub struct OperatorToken {
    pepper: Pepper,
    digest: String,
}

/// Where the token stands: the file the settings name, or the one in the data folder.
pub fn token_file(config: &Config) -> PathBuf {
    config.operator.token_file.clone().unwrap_or_else(|| config.data.folder.join(FILE))
}

impl OperatorToken {
    pub fn new(pepper: &Pepper, token: &str) -> OperatorToken {
        OperatorToken { pepper: pepper.clone(), digest: pepper.digest(token) }
    }

    /// A file that the settings name must be there: whoever names one takes care of it.
    pub fn load_or_make(config: &Config, pepper: &Pepper) -> std::io::Result<OperatorToken> {
        let path = token_file(config);
        // A file that may not be looked at is not a missing one.
        if config.operator.token_file.is_none() && !path.try_exists()? {
            tracing::info!(path = %path.display(), "Made a new operator token");
            let token = random_token(MADE_CHARS)?;
            keep_private(&config.data.folder, FILE, format!("{token}\n").as_bytes())?;
            return Ok(OperatorToken::new(pepper, &token));
        }
        read(&path).map(|token| OperatorToken::new(pepper, &token))
    }

    /// What the token is known by without being told.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// In time that does not depend on where they differ.
    pub fn matches(&self, given: &str) -> bool {
        self.pepper.matches(given, &self.digest)
    }
}

/// The token in a file, for whoever may read it.
pub fn read(path: &Path) -> std::io::Result<String> {
    let text = std::fs::read_to_string(path)?;
    let token = text.trim();
    let plain = token.bytes().all(|b| b.is_ascii_graphic());
    if plain && (CHARS_MIN..=CHARS_MAX).contains(&token.len()) {
        return Ok(token.to_owned());
    }
    let sentence = format!("a token is one line of {CHARS_MIN} to {CHARS_MAX} characters without spaces");
    Err(std::io::Error::new(std::io::ErrorKind::InvalidData, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn config(folder: &Path) -> Config {
        let mut config = Config::defaults();
        config.data.folder = folder.to_owned();
        config
    }

    #[test]
    fn a_token_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let (config, pepper) = (config(folder.path()), Pepper::new(b"pepper"));
        let made = OperatorToken::load_or_make(&config, &pepper).unwrap();
        let path = token_file(&config);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let token = read(&path).unwrap();
        assert_eq!(token.len(), MADE_CHARS);
        assert!(made.matches(&token));
        assert!(!made.matches(&token[1..]));
        assert!(OperatorToken::load_or_make(&config, &pepper).unwrap().matches(&token));
    }

    #[test]
    fn a_file_of_one_s_own_must_be_there_and_hold_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path());
        config.operator.token_file = Some(folder.path().join("mine"));
        let pepper = Pepper::new(b"pepper");
        assert!(OperatorToken::load_or_make(&config, &pepper).is_err());
        for (text, fine) in [
            ("short", false),
            ("twenty-six characters, spaces\n", false),
            ("0123456789abcdefghijklmno\n", false),
            ("0123456789abcdefghijklmnop\n", true),
        ] {
            std::fs::write(folder.path().join("mine"), text).unwrap();
            assert_eq!(OperatorToken::load_or_make(&config, &pepper).is_ok(), fine, "{text}");
        }
    }
}

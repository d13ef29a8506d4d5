//! The type of secret texts, files with secrets, and random tokens.

use std::fmt;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A secret text. It has no `Display`, and its `Debug` hides the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// Returns the secret text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Writes a file of a data folder with mode 0600. Writes and syncs a temporary file first: a truncated pepper would
/// lock all customers out.
pub(crate) fn write_private(folder: &Path, name: &str, content: &[u8]) -> std::io::Result<()> {
    let draft = folder.join(format!("{name}.new"));
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&draft, folder.join(name))?;
    std::fs::File::open(folder)?.sync_all()
}

/// Generates a random token of five bits per character, without similar-looking characters.
pub fn random_token(characters: usize) -> std::io::Result<String> {
    let mut bytes = vec![0; characters];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_secret() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(…)");
    }

    #[test]
    fn random_tokens_differ_and_have_the_requested_length() {
        let (one, other) = (random_token(32).unwrap(), random_token(32).unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}

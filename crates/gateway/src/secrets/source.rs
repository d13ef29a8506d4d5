//! Where a secret of the gateway is: in a file that the settings name, in an environment variable, or in the data folder.

use super::secret::Secret;
use std::env::VarError;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// In a file that the settings name. It must exist.
    File(PathBuf),
    /// In an environment variable.
    Variable { name: &'static str, value: Secret },
    /// In this file of the data folder, where it is generated.
    DataFolder(PathBuf),
}

impl SecretSource {
    /// Finds a secret: the file of the settings first, then the variable, then the file of the data folder.
    pub(super) fn find(file: Option<&Path>, variable: &'static str, of_folder: PathBuf) -> SecretSource {
        match (file, read_variable(variable)) {
            (Some(file), _) => SecretSource::File(file.to_owned()),
            (None, Some(value)) => SecretSource::Variable { name: variable, value },
            (None, None) => SecretSource::DataFolder(of_folder),
        }
    }

    /// Whether the operator keeps the secret elsewhere than in the data folder.
    pub fn is_elsewhere(&self) -> bool {
        !matches!(self, SecretSource::DataFolder(_))
    }
}

/// Where it is, not the secret.
impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::File(path) | SecretSource::DataFolder(path) => write!(f, "{}", path.display()),
            SecretSource::Variable { name, value: _ } => write!(f, "the environment variable {name}"),
        }
    }
}

/// Returns the value of a variable. One that is no text is invalid for every secret, like an empty one.
#[expect(
    clippy::disallowed_methods,
    reason = "a secret does not belong into the settings, which are printed"
)]
fn read_variable(name: &str) -> Option<Secret> {
    match std::env::var(name) {
        Ok(value) => Some(Secret::new(value)),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(_)) => Some(Secret::new("")),
    }
}

/// Reads a secret at every use, so that a new one needs no restart: the first line of the file, or the variable if no file is
/// named; `None` if that does not exist. Blocking, but a line of a local file.
pub(crate) fn read_line(file: Option<&Path>, variable: &str, what: &str) -> Result<Option<Secret>, String> {
    let Some(file) = file else {
        return Ok(read_variable(variable));
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("the {what} file {} cannot be read: {error}", file.display()))?;
    Ok(Some(Secret::new(text.lines().next().unwrap_or_default())))
}

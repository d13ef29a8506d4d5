//! Schemathesis, which calls an API with whatever its OpenAPI document allows and forbids, and complains about answers the
//! document does not promise. It is a Python program, so it lives in an environment of its own in the cache folder.

use crate::packages;
use crate::shell::Failure;

/// Everything that is installed, each with its version, so that a new release cannot turn the gate red by itself.
const REQUIREMENTS: &str = "crates/xtask/schemathesis.txt";

/// Tells the tests where it is.
pub(crate) const VARIABLE: &str = "HERMOD_SCHEMATHESIS";

/// The path of exactly the pinned schemathesis, installed now if this machine has none.
pub(crate) fn ensure() -> Result<String, Failure> {
    let folder = packages::python("schemathesis", REQUIREMENTS)?;
    Ok(folder.join("bin/schemathesis").to_string_lossy().into_owned())
}

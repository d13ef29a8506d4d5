//! Schemathesis: sends an API the requests that its OpenAPI document allows and forbids, and reports responses that the
//! document does not describe. A Python program, installed in its own environment in the cache folder.

use crate::packages;
use crate::shell::Failure;

/// All packages with pinned versions, so that a new release cannot fail the gate.
const REQUIREMENTS: &str = "crates/xtask/schemathesis.txt";

/// The variable that gives its path to the tests.
pub(crate) const VARIABLE: &str = "HERMOD_SCHEMATHESIS";

/// Returns the path of the pinned schemathesis, which is installed if it is missing.
pub(crate) fn ensure() -> Result<String, Failure> {
    let folder = packages::python("schemathesis", REQUIREMENTS)?;
    Ok(folder.join("bin/schemathesis").to_string_lossy().into_owned())
}

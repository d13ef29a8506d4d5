//! Schemathesis, which calls an API with whatever its OpenAPI document allows and forbids, and complains about answers the
//! document does not promise. It is a Python program, so it lives in an environment of its own in the cache folder.

use std::fs;
use std::path::Path;

use crate::shell::{self, Failure, Outcome, command};
use crate::tools;

/// Everything that is installed, each with its version, so that a new release cannot turn the gate red by itself.
const REQUIREMENTS: &str = "crates/xtask/schemathesis.txt";

/// Tells the tests where it is.
pub(crate) const VARIABLE: &str = "HERMOD_SCHEMATHESIS";

/// The path of exactly the pinned schemathesis, installed now if this machine has none.
pub(crate) fn ensure() -> Result<String, Failure> {
    let file = shell::root().join(REQUIREMENTS);
    let wanted = fs::read_to_string(&file).map_err(|cause| cannot("read", &file, &cause))?;
    let folder = tools::cache_folder().join("schemathesis");
    let program = folder.join("bin/schemathesis").to_string_lossy().into_owned();
    // Written last: what an interrupted installation left behind has none.
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(program);
    }
    println!("schemathesis is missing or another one: installing it, half a minute");
    ensure_python()?;
    install(&folder, &file)?;
    fs::write(&installed, wanted).map_err(|cause| cannot("write", &installed, &cause))?;
    Ok(program)
}

/// Debian splits what makes an environment from Python itself.
fn ensure_python() -> Outcome {
    let can_make_environments = || shell::succeeds("python3", &["-c", "import venv, ensurepip"], "");
    if can_make_environments() {
        return Ok(());
    }
    println!("no Python that can make environments: installing python3 and python3-venv");
    tools::apt_install(&["python3", "python3-venv"])?;
    let outcome = Failure("`python3` still cannot make an environment".to_owned());
    if can_make_environments() { Ok(()) } else { Err(outcome) }
}

fn install(folder: &Path, requirements: &Path) -> Outcome {
    let (place, requirements) = (folder.to_string_lossy(), requirements.to_string_lossy());
    shell::run(command("python3", &["-m", "venv", "--clear", &place]))?;
    let python = folder.join("bin/python");
    let quietly = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    shell::run(command(&python.to_string_lossy(), &[&quietly[..], &[&*requirements]].concat()))
}

fn cannot(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Failure {
    Failure(format!("cannot {what} {}: {cause}", path.display()))
}

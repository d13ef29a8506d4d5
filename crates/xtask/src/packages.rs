//! Packages of PyPI and npm with pinned versions, each set installed once into its own folder of the cache.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{self, Failure, Outcome, command};
use crate::tools;

/// The variable that gives the path of schemathesis to the tests.
pub(crate) const SCHEMATHESIS_VARIABLE: &str = "HERMOD_SCHEMATHESIS";

/// Returns the path of schemathesis, which is installed if it is missing. It sends an API the requests that its OpenAPI document
/// allows and forbids, and reports responses that the document does not describe.
pub(crate) fn schemathesis() -> Result<String, Failure> {
    let folder = python("schemathesis", "crates/xtask/schemathesis.txt")?;
    Ok(folder.join("bin/schemathesis").to_string_lossy().into_owned())
}

/// Returns the folder of a Python environment with the packages of a requirements file.
pub(crate) fn python(set: &str, requirements: &str) -> Result<PathBuf, Failure> {
    let file = shell::root().join(requirements);
    ensure(set, &file, |folder| {
        tools::PYTHON.ensure()?;
        let (place, requirements) = (folder.to_string_lossy(), file.to_string_lossy());
        shell::run(command("python3", &["-m", "venv", "--clear", &place]))?;
        let python = folder.join("bin/python");
        let quietly = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        shell::run(command(&python.to_string_lossy(), &[&quietly[..], &[&*requirements]].concat()))
    })
}

/// Returns the folder with the packages of a package.json and its lock, in `node_modules`.
pub(crate) fn node(set: &str, package: &str) -> Result<PathBuf, Failure> {
    let package = shell::root().join(package);
    ensure(set, &package.join("package-lock.json"), |folder| {
        tools::NPM.ensure()?;
        fs::create_dir_all(folder).map_err(|cause| cannot("make", folder, &cause))?;
        for file in ["package.json", "package-lock.json"] {
            fs::copy(package.join(file), folder.join(file))
                .map_err(|cause| cannot("copy", &package.join(file), &cause))?;
        }
        let mut install = command("npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        install.current_dir(folder);
        shell::run(install)
    })
}

/// Installs the packages unless they were installed from the same list.
fn ensure(set: &str, list: &Path, install: impl Fn(&Path) -> Outcome) -> Result<PathBuf, Failure> {
    let wanted = fs::read_to_string(list).map_err(|cause| cannot("read", list, &cause))?;
    let folder = tools::cache_folder().join(set);
    // Written last: an interrupted installation has none.
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    tools::permit_install(
        set,
        &format!("HERMOD_SETUP= cargo xtask test # installs the packages in {}", list.display()),
    )?;
    println!("{set} is missing or outdated: installing it, at most half a minute");
    let _ = fs::remove_file(&installed);
    install(&folder)?;
    fs::write(&installed, wanted).map_err(|cause| cannot("write", &installed, &cause))?;
    Ok(folder)
}

fn cannot(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Failure {
    Failure(format!("cannot {what} {}: {cause}", path.display()))
}

//! Fetches the packages with pip and npm, and extracts their tables with a script.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Failure, Outcome, command};
use crate::tools;

/// Operators of number ranges, rules for shared calling codes, names of countries.
const PHONENUMBERS: &str = "phonenumbers==9.0.43";
/// Networks with their codes.
const MCC_MNC_LIST: &str = "mcc-mnc-list@1.1.11";

/// The packages on this machine.
pub(crate) struct Sources {
    folder: PathBuf,
    python: String,
    list: String,
}

impl Sources {
    /// Installs what is missing, in a folder of its own.
    pub(crate) fn fetch() -> Result<Sources, Failure> {
        tools::PYTHON.ensure()?;
        tools::NPM.ensure()?;
        let folder = tools::cache_folder().join(format!("numbers-{PHONENUMBERS}-{MCC_MNC_LIST}"));
        let path = |inside: &str| folder.join(inside).to_string_lossy().into_owned();

        let python = path("python/bin/python");
        if !shell::succeeds(&python, &["-c", "import phonenumbers"]) {
            shell::run(command("python3", &["-m", "venv", &path("python")]))?;
            shell::run(command(&python, &["-m", "pip", "install", "--quiet", "--no-deps", PHONENUMBERS]))?;
        }
        let list = path("npm/node_modules/mcc-mnc-list/mcc-mnc-list.json");
        if !Path::new(&list).exists() {
            let into = path("npm");
            let options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save"];
            shell::run(command(
                "npm",
                &[&["install", MCC_MNC_LIST, "--prefix", &into], &options[..]].concat(),
            ))?;
        }
        Ok(Sources { folder, python, list })
    }

    /// The folder with the extracted tables.
    pub(crate) fn extract(&self) -> Result<PathBuf, Failure> {
        println!("extracting tables, about half a minute");
        let tables = self.folder.join("tables");
        let script = "crates/xtask/numbers/extract.py";
        shell::run(self.python(&[script, &self.list, &tables.to_string_lossy()]))?;
        Ok(tables)
    }

    /// Compares the finished file with the library's own answers.
    pub(crate) fn verify(&self, numbers: &Path) -> Outcome {
        shell::run(self.python(&["crates/xtask/numbers/verify.py", &numbers.to_string_lossy()]))
    }

    /// Returns a Python command that writes no compiled files beside the scripts.
    fn python(&self, args: &[&str]) -> Command {
        command(&self.python, &[&["-B"], args].concat())
    }
}

//! `cargo xtask advisories`: cargo-deny compares our crates with the RustSec advisory database. Its three results have three
//! exit codes, so that "no vulnerabilities" is never confused with "not checked".

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::shell::{self, Failure, command};
use crate::tools;

/// Some crate has a known vulnerability.
const EXIT_FOUND: u8 = 1;
/// The database could not be fetched or read. (2 is a wrong command line.)
const EXIT_NOT_CHECKED: u8 = 3;
/// The name under which cargo-deny knows the database. git fetches it from where the options say.
const DATABASE: &str = "https://github.com/RustSec/advisory-db";

#[derive(clap::Args)]
pub(crate) struct AdvisoriesOptions {
    /// Folder with a git clone of the database; without it the database is fetched
    #[arg(long, env = "HERMOD_ADVISORY_DB", value_name = "FOLDER")]
    database: Option<PathBuf>,
    /// Repository to fetch the database from
    #[arg(long, env = "HERMOD_ADVISORY_URL", default_value = DATABASE, value_name = "URL")]
    url: String,
}

pub(crate) fn run(options: &AdvisoriesOptions) -> ExitCode {
    let folder = std::env::temp_dir().join(format!("hermod-advisories-{}", std::process::id()));
    let checked = check(options, &folder);
    let _ = fs::remove_dir_all(&folder);
    match checked {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_FOUND),
        Err(Failure(reason)) => {
            println!(
                "advisories could not be checked because {reason}. Give a folder with a clone of the database: \
                 --database or HERMOD_ADVISORY_DB"
            );
            ExitCode::from(EXIT_NOT_CHECKED)
        }
    }
}

/// Returns whether there are no advisories. Clones the database into this folder.
fn check(options: &AdvisoriesOptions, folder: &Path) -> Result<bool, Failure> {
    let source = match &options.database {
        Some(database) => {
            let cannot = |cause| Failure(format!("{} cannot be read: {cause}", database.display()));
            format!("file://{}", database.canonicalize().map_err(cannot)?.display())
        }
        None => options.url.clone(),
    };
    let cargo_deny = tools::ensure_cargo_deny()?;
    let config = write_config(folder)?;
    let args = ["--all-features", "--locked", "--config", &config, "check", "--warn", "unmaintained"];
    let mut deny = command(&cargo_deny, &[&args[..], &["advisories"]].concat());
    // A server that sends less than 1,000 octets a second for 20 seconds is given up.
    let settings = [
        ("http.lowSpeedLimit".to_owned(), "1000"),
        ("http.lowSpeedTime".to_owned(), "20"),
        (format!("url.{source}.insteadOf"), DATABASE),
    ];
    deny.env("GIT_CONFIG_COUNT", settings.len().to_string()).env("GIT_TERMINAL_PROMPT", "0");
    for (number, (key, value)) in settings.into_iter().enumerate() {
        deny.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    let output = deny.output().map_err(|cause| Failure(format!("cargo-deny cannot be started: {cause}")))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    println!("{}", said.trim());
    // It says so in a last line, and only after it has read the whole database.
    let verdict = |words: &str| said.lines().any(|line| line == words);
    match (output.status.success(), verdict("advisories ok"), verdict("advisories FAILED")) {
        (true, true, false) => Ok(true),
        (false, false, true) => Ok(false),
        _ => Err(Failure("the database could not be fetched or read".to_owned())),
    }
}

/// Writes deny.toml with the place of the clone, and returns its path.
fn write_config(folder: &Path) -> Result<String, Failure> {
    let cannot = |cause: &dyn std::fmt::Display| Failure(format!("deny.toml: {cause}"));
    let text = fs::read_to_string(shell::root().join("deny.toml")).map_err(|cause| cannot(&cause))?;
    require_reasons(&text)?;
    let place = format!("[advisories]\ndb-path = \"{}\"", folder.join("database").display());
    let file = folder.join("deny.toml");
    let written =
        fs::create_dir_all(folder).and_then(|()| fs::write(&file, text.replace("[advisories]", &place)));
    written.map_err(|cause| cannot(&cause))?;
    Ok(file.to_string_lossy().into_owned())
}

/// Fails if an exception in deny.toml does not say why it cannot harm us.
fn require_reasons(deny: &str) -> Result<(), Failure> {
    let deny: toml::Table =
        deny.parse().map_err(|cause| Failure(format!("deny.toml is invalid: {cause}")))?;
    let ignored = deny.get("advisories").and_then(|section| section.get("ignore")?.as_array());
    match ignored.into_iter().flatten().find(|entry| entry.get("reason").is_none()) {
        None => Ok(()),
        Some(entry) => {
            Err(Failure(format!("deny.toml is invalid: `{entry}` in [advisories] needs a reason")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exception_needs_a_reason() {
        let ignore = |entry: &str| require_reasons(&format!("[advisories]\nignore = [{entry}]\n")).is_ok();
        assert!(ignore("{ id = \"RUSTSEC-2099-0001\", reason = \"not reached\" }"));
        assert!(!ignore("{ id = \"RUSTSEC-2099-0001\" }"));
        assert!(!ignore("\"RUSTSEC-2099-0001\""));
        assert!(require_reasons("").is_ok());
    }
}

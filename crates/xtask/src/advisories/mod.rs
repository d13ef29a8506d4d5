//! `cargo xtask advisories`: compares every crate of Cargo.lock with the RustSec advisory database. Its three results have
//! three exit codes, so that "no vulnerabilities" is never confused with "not checked".

mod database;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use semver::Version;

use crate::shell;
use database::{Advisory, Database, Kind};

/// Some crate of Cargo.lock has a known vulnerability.
const EXIT_FOUND: u8 = 1;
/// The database could not be fetched or read. (2 is a wrong command line.)
const EXIT_NOT_CHECKED: u8 = 3;

#[derive(clap::Args)]
pub(crate) struct AdvisoriesOptions {
    /// Folder with a copy of the database; without it the database is fetched with git
    #[arg(long, env = "HERMOD_ADVISORY_DB", value_name = "FOLDER")]
    database: Option<PathBuf>,
    /// Repository to fetch the database from
    #[arg(
        long,
        env = "HERMOD_ADVISORY_URL",
        default_value = "https://github.com/RustSec/advisory-db",
        value_name = "URL"
    )]
    url: String,
}

pub(crate) fn run(options: &AdvisoriesOptions) -> ExitCode {
    match check(options) {
        Ok(report) => {
            report.notes.iter().for_each(|note| println!("note: {note}"));
            report.found.iter().for_each(|found| println!("error: {found}"));
            if report.found.is_empty() {
                println!("no known advisories for {}", report.basis);
                return ExitCode::SUCCESS;
            }
            println!("advisories found: {} for {}", report.found.len(), report.basis);
            ExitCode::from(EXIT_FOUND)
        }
        Err(reason) => {
            println!("advisories could not be checked because {reason}");
            ExitCode::from(EXIT_NOT_CHECKED)
        }
    }
}

fn check(options: &AdvisoriesOptions) -> Result<Report, String> {
    let folder = match &options.database {
        Some(folder) => folder.clone(),
        None => database::fetch(&options.url)?,
    };
    let read = |name: &str| {
        let path = shell::root().join(name);
        fs::read_to_string(&path).map_err(|cause| format!("{} cannot be read: {cause}", path.display()))
    };
    let crates = crates_of(&read("Cargo.lock")?)?;
    let ignored = ignored_by(&read("deny.toml")?)?;
    Ok(report(&crates, &Database::read(&folder)?, &ignored))
}

struct Report {
    found: Vec<String>,
    /// Notices that do not fail the check: unmaintained crates and unneeded exceptions.
    notes: Vec<String>,
    /// What was compared.
    basis: String,
}

struct Crate {
    name: String,
    version: Version,
}

/// Returns the crates of a Cargo.lock that come from a registry. Our own have no advisories.
fn crates_of(lock: &str) -> Result<Vec<Crate>, String> {
    let lock: toml::Table = lock.parse().map_err(|cause| format!("Cargo.lock is invalid: {cause}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let foreign = packages.into_iter().flatten().filter(|package| package.get("source").is_some());
    foreign
        .map(|package| {
            let text = |key| package.get(key).and_then(toml::Value::as_str).unwrap_or_default();
            let version = Version::parse(text("version"));
            let version =
                version.map_err(|cause| format!("Cargo.lock is invalid at {}: {cause}", text("name")))?;
            Ok(Crate { name: text("name").to_owned(), version })
        })
        .collect()
}

/// The ids that deny.toml excepts, each with its reason, in cargo-deny's own form.
fn ignored_by(deny: &str) -> Result<Vec<String>, String> {
    let deny: toml::Table = deny.parse().map_err(|cause| format!("deny.toml is invalid: {cause}"))?;
    let entries =
        deny.get("advisories").and_then(|section| section.get("ignore")).and_then(toml::Value::as_array);
    entries
        .into_iter()
        .flatten()
        .map(|entry| {
            let text = |key| entry.get(key).and_then(toml::Value::as_str);
            match (text("id"), text("reason")) {
                (Some(id), Some(_)) => Ok(id.to_owned()),
                _ => Err(format!("deny.toml is invalid: `{entry}` in [advisories] needs an id and a reason")),
            }
        })
        .collect()
}

fn report(crates: &[Crate], database: &Database, ignored: &[String]) -> Report {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    let mut needed = Vec::new();
    for krate in crates {
        for advisory in database.of(&krate.name).filter(|advisory| advisory.affects(&krate.version)) {
            if ignored.contains(&advisory.id) {
                needed.push(&advisory.id);
            } else if advisory.kind == Kind::Notice {
                notes.push(sentence(krate, advisory));
            } else {
                found.push(sentence(krate, advisory));
            }
        }
    }
    let unneeded = ignored.iter().filter(|id| !needed.contains(id));
    notes.extend(unneeded.map(|id| format!("{id} affects no crate any more: remove it from deny.toml")));
    let Database { count, newest, .. } = database;
    let basis =
        format!("{} crates in Cargo.lock ({count} advisories read, the newest of {newest})", crates.len());
    Report { found, notes, basis }
}

fn sentence(krate: &Crate, advisory: &Advisory) -> String {
    let Advisory { id, title, patched, .. } = advisory;
    let patched: Vec<String> = patched.iter().map(ToString::to_string).collect();
    let fixed = if patched.is_empty() {
        "no fixed version".to_owned()
    } else {
        format!("fixed in {}", patched.join(" or "))
    };
    let Crate { name, version } = krate;
    format!("{name} {version}: {title} ({fixed}; https://rustsec.org/advisories/{id}.html)")
}

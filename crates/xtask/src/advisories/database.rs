//! Fetches the RustSec database with git into the cache folder, its newest state only, and reads a copy of it: Markdown files
//! below `crates/<name>/` that begin with a block of TOML.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use semver::{Version, VersionReq};

use crate::tools;

/// A server that sends less than 1,000 octets a second for this many seconds is given up.
const SLOW_SECONDS: &str = "http.lowSpeedTime=20";

pub(super) struct Database {
    by_crate: BTreeMap<String, Vec<Advisory>>,
    pub(super) count: usize,
    /// The date of the newest advisory, which shows the age of a copy.
    pub(super) newest: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A vulnerability, or unsound code that could be one.
    Vulnerability,
    /// Unmaintained, or something else worth knowing.
    Notice,
}

pub(super) struct Advisory {
    pub(super) id: String,
    pub(super) package: String,
    pub(super) title: String,
    pub(super) kind: Kind,
    pub(super) patched: Vec<VersionReq>,
    unaffected: Vec<VersionReq>,
    withdrawn: bool,
    date: String,
}

impl Database {
    /// Fails if any file cannot be read, so that no advisory is skipped.
    pub(super) fn read(folder: &Path) -> Result<Database, String> {
        let cannot = |path: &Path, cause: &dyn std::fmt::Display| {
            format!("{} cannot be read: {cause}", path.display())
        };
        let mut database = Database { by_crate: BTreeMap::new(), count: 0, newest: String::new() };
        let crates = folder.join("crates");
        for folder in fs::read_dir(&crates).map_err(|cause| cannot(&crates, &cause))? {
            let folder = folder.map_err(|cause| cannot(&crates, &cause))?.path();
            if !folder.is_dir() {
                continue;
            }
            for file in fs::read_dir(&folder).map_err(|cause| cannot(&folder, &cause))? {
                let path = file.map_err(|cause| cannot(&folder, &cause))?.path();
                if path.extension().is_none_or(|extension| extension != "md") {
                    continue;
                }
                let text = fs::read_to_string(&path).map_err(|cause| cannot(&path, &cause))?;
                database.add(Advisory::parse(&text).map_err(|cause| cannot(&path, &cause))?);
            }
        }
        if database.count == 0 {
            return Err(format!("{} holds no advisories", crates.display()));
        }
        Ok(database)
    }

    fn add(&mut self, advisory: Advisory) {
        self.count += 1;
        self.newest = self.newest.as_str().max(&advisory.date).to_owned();
        self.by_crate.entry(advisory.package.clone()).or_default().push(advisory);
    }

    pub(super) fn of(&self, name: &str) -> impl Iterator<Item = &Advisory> {
        self.by_crate.get(name).into_iter().flatten()
    }
}

impl Advisory {
    pub(super) fn parse(text: &str) -> Result<Advisory, String> {
        let block = text.strip_prefix("```toml").and_then(|rest| rest.split_once("\n```"));
        let (head, body) = block.ok_or("it does not begin with a block of TOML")?;
        let head: toml::Table = head.parse().map_err(|cause| format!("{cause}"))?;
        let advisory = head.get("advisory").and_then(toml::Value::as_table).ok_or("no [advisory]")?;
        let text = |key: &str| advisory.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        let kind = match text("informational").as_deref() {
            None | Some("unsound") => Kind::Vulnerability,
            Some(_) => Kind::Notice,
        };
        let versions = head.get("versions").and_then(toml::Value::as_table).ok_or("no [versions]")?;
        Ok(Advisory {
            id: text("id").ok_or("no id")?,
            package: text("package").ok_or("no package")?,
            title: title_of(body),
            kind,
            patched: requirements(versions, "patched")?,
            unaffected: requirements(versions, "unaffected")?,
            withdrawn: advisory.contains_key("withdrawn"),
            date: text("date").ok_or("no date")?,
        })
    }

    /// Versions before a release match no requirement of whole versions, and count as affected.
    pub(super) fn affects(&self, version: &Version) -> bool {
        let safe = self.patched.iter().chain(&self.unaffected).any(|safe| safe.matches(version));
        !self.withdrawn && !safe
    }
}

fn title_of(body: &str) -> String {
    let title = body.lines().find_map(|line| line.strip_prefix("# "));
    title.unwrap_or("no title").trim().to_owned()
}

fn requirements(versions: &toml::Table, key: &str) -> Result<Vec<VersionReq>, String> {
    let listed = versions.get(key).and_then(toml::Value::as_array);
    listed
        .into_iter()
        .flatten()
        .map(|entry| {
            let text = entry.as_str().unwrap_or_default();
            VersionReq::parse(text).map_err(|cause| format!("`{text}` in {key}: {cause}"))
        })
        .collect()
}

/// Returns the folder of the fetched copy.
pub(super) fn fetch(url: &str) -> Result<PathBuf, String> {
    let folder = tools::cache_folder().join("advisory-db");
    let place = folder.to_string_lossy();
    let cannot = |cause: String| {
        format!(
            "{url} could not be fetched: {cause}. Give a folder with a copy: --database or HERMOD_ADVISORY_DB"
        )
    };
    git(&["init", "--quiet", &place]).map_err(cannot)?;
    git(&["-C", &place, "fetch", "--quiet", "--depth", "1", url, "HEAD"]).map_err(cannot)?;
    git(&["-C", &place, "reset", "--quiet", "--hard", "FETCH_HEAD"]).map_err(cannot)?;
    Ok(folder)
}

fn git(args: &[&str]) -> Result<(), String> {
    let mut command = Command::new("git");
    command.args(["-c", "http.lowSpeedLimit=1000", "-c", SLOW_SECONDS]).args(args);
    command.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null());
    let output = command.output().map_err(|cause| format!("git cannot be started: {cause}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().last().unwrap_or("git failed").trim().trim_end_matches('.').to_owned())
}

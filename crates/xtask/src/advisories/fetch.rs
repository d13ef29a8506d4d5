//! Fetches the advisory database with git into the cache folder, its newest state only.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::tools;

/// A server that sends less than 1,000 octets a second for this many seconds is given up.
const SLOW_SECONDS: &str = "http.lowSpeedTime=20";

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

//! Runs `cargo xtask advisories` with small databases: nothing known, a planted vulnerability, and databases that cannot be
//! read. Each result has its own exit code.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const FOUND: i32 = 1;
const NOT_CHECKED: i32 = 3;

/// A clone with one advisory for `package` that only version 999 fixes.
fn database(package: &str, extra: &str) -> tempfile::TempDir {
    let advisory = format!(
        "```toml\n[advisory]\nid = \"RUSTSEC-2099-0001\"\npackage = \"{package}\"\ndate = \"2099-01-02\"\n{extra}\n\n\
         [versions]\npatched = [\">= 999.0.0\"]\n```\n\n# Planted by a test\n\nText.\n"
    );
    clone_with(&format!("crates/{package}/RUSTSEC-2099-0001.md"), &advisory)
}

fn clone_with(path: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("the folder is new");
    fs::write(file, text).expect("the folder is ours");
    for args in [
        &["init", "--quiet", "--initial-branch", "main"][..],
        &["add", "."],
        &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "one"],
    ] {
        let done = Command::new("git").args(args).current_dir(folder.path()).status();
        assert!(done.expect("git is installed").success(), "git {args:?}");
    }
    folder
}

fn advisories(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("advisories").args(args).env_remove("HERMOD_ADVISORY_DB").env_remove("HERMOD_ADVISORY_URL");
    let Output { status, stdout, stderr } = command.output().expect("xtask was built for this test");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

fn with_database(folder: &Path) -> (Option<i32>, String) {
    advisories(&["--database", &folder.to_string_lossy()])
}

#[test]
fn planted_vulnerable_crate_fails_the_check() {
    let (code, said) = with_database(database("serde", "").path());
    assert_eq!(code, Some(FOUND), "{said}");
    assert!(said.contains("error[vulnerability]: Planted by a test"), "{said}");
    assert!(said.contains("Upgrade to >=999.0.0 (try `cargo update -p serde`)"), "{said}");
}

#[test]
fn unsound_crate_fails_the_check() {
    let (code, said) = with_database(database("serde", "informational = \"unsound\"").path());
    assert_eq!(code, Some(FOUND), "{said}");
}

#[test]
fn crate_that_we_do_not_have_passes() {
    let (code, said) = with_database(database("no-crate-of-ours", "").path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("advisories ok"), "{said}");
}

#[test]
fn unmaintained_crate_is_noted_and_passes() {
    let (code, said) = with_database(database("serde", "informational = \"unmaintained\"").path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("warning[unmaintained]: Planted by a test"), "{said}");
}

#[test]
fn database_that_cannot_be_read_is_never_taken_for_no_advisories() {
    let empty = clone_with("README.md", "no advisories");
    let broken = clone_with("crates/serde/RUSTSEC-2099-0002.md", "no TOML here");
    for folder in [empty.path(), &empty.path().join("missing"), broken.path()] {
        let (code, said) = with_database(folder);
        assert_eq!(code, Some(NOT_CHECKED), "{said}");
        assert!(said.contains("advisories could not be checked because"), "{said}");
    }
}

#[test]
fn database_that_cannot_be_fetched_is_never_taken_for_no_advisories() {
    let nowhere = tempfile::tempdir().expect("a temporary folder");
    let url = format!("file://{}/missing", nowhere.path().display());
    let (code, said) = advisories(&["--url", &url]);
    assert_eq!(code, Some(NOT_CHECKED), "{said}");
    assert!(said.contains("could not be fetched") && said.contains("HERMOD_ADVISORY_DB"), "{said}");
}

#[test]
fn database_is_fetched_with_git() {
    let origin = database("serde", "");
    let (code, said) = advisories(&["--url", &format!("file://{}", origin.path().display())]);
    assert_eq!(code, Some(FOUND), "{said}");
}

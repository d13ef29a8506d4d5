//! Third-party customer programs, because a client of ours would share our reading of the specification:
//! libraries of Python, Node and Perl (their scripts are in `tests/clients`), Kannel, and tshark as the decoder.

mod fixture;
mod kannel;
mod libraries;
mod messages;
mod pcap;
mod quickstarts;
mod script;
mod tshark;
mod webhooks;
mod wire;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the program of a client that `cargo xtask test` names, or that `cargo xtask client` installs for a test
/// run alone.
pub(crate) fn program(client: &str) -> PathBuf {
    let variable = format!("HERMOD_CLIENT_{}", client.to_uppercase());
    std::env::var_os(variable).map_or_else(|| installed(client), PathBuf::from)
}

fn installed(client: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("cargo").args(["xtask", "client", client]).current_dir(root).output();
    let output = output.expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`cargo xtask client {client}` failed: {errors}");
    let said = String::from_utf8(output.stdout).expect("a UTF-8 path");
    said.lines().last().expect("xtask prints the path").into()
}

//! Customers that are other people's programs, because a client of ours would share our reading of the specification:
//! libraries of Python, Node and Perl (their scripts stand in `tests/clients`), Kannel, and tshark as the witness.

mod carried;
mod kannel;
mod libraries;
mod pcap;
mod script;
mod stage;
mod tshark;
mod webhooks;
mod wire;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program of a client: where `cargo xtask test` says it is, or where `cargo xtask client` finds it for a test that is
/// run alone.
fn program(client: &str) -> PathBuf {
    let variable = format!("HERMOD_CLIENT_{}", client.to_uppercase());
    std::env::var_os(variable).map_or_else(|| installed(client), PathBuf::from)
}

fn installed(client: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("cargo").args(["xtask", "client", client]).current_dir(root).output();
    let output = output.expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "run `cargo xtask client {client}` and see: {errors}");
    let said = String::from_utf8(output.stdout).expect("a path of letters");
    said.lines().last().expect("it says where it is").into()
}

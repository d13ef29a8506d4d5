//! Unit tests of `rust_paths.rs`.

use super::*;

#[track_caller]
fn check(code: &str, expect: &[&str]) {
    let found: Vec<String> =
        named_paths(code).iter().map(|path| format!("{} {}", path.line, path.text())).collect();
    assert_eq!(found, expect);
}

#[test]
fn import_is_a_path() {
    check("use tokio;", &["1 tokio"]);
    check("pub(crate) use a::b as c;", &["1 a::b"]);
}

#[test]
fn use_tree_is_written_out_in_full() {
    check(
        "use std::{\n    fs,\n    time::{Duration, Instant as Moment},\n    io::{self, *},\n};\nfn f() {}",
        &["2 std::fs", "3 std::time::Duration", "3 std::time::Instant", "4 std::io", "4 std::io::*"],
    );
}

#[test]
fn paths_in_code_are_found() {
    check(
        "fn f(x: tokio::net::TcpStream) -> u8 { std::fs::read(x); Vec::<u8>::new() }",
        &["1 tokio::net::TcpStream", "1 std::fs::read", "1 Vec"],
    );
    check("#[tokio::test]\nasync fn f() {}", &["1 tokio::test"]);
}

#[test]
fn path_matches_its_prefix_and_a_glob_of_the_parent() {
    for (path, prefix, expect) in [
        ("std::time::Instant", "std::time::Instant", true),
        ("std::time::Instant::now", "std::time::Instant", true),
        ("std::time::*", "std::time::Instant", true),
        ("std::time::Duration", "std::time::Instant", false),
        ("std::time", "std::time::Instant", false),
        ("tokio", "tokio", true),
        ("tokio_util::codec", "tokio", false),
    ] {
        let named = &named_paths(&format!("use {path};"))[0];
        assert_eq!(named.names(prefix), expect, "{path} names {prefix}");
    }
}

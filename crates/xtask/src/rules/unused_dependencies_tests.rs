//! Unit tests of `unused_dependencies.rs`.

use super::*;
use crate::rules::check_rule;

#[track_caller]
fn check_crate(manifest: &str, source: &str, expect: &[&str]) {
    check_rule(check, &[("crates/a/Cargo.toml", manifest), ("crates/a/src/lib.rs", source)], expect);
}

#[test]
fn dependency_in_a_path_is_used() {
    let manifest = "[dependencies]\ntracing-subscriber.workspace = true\n";
    check_crate(manifest, "use tracing_subscriber::fmt;", &[]);
    check_crate(manifest, "fn f() { tracing_subscriber::fmt().init(); }", &[]);
}

#[test]
fn dependency_without_a_path_is_a_violation() {
    let manifest = "[dependencies]\nbytes.workspace = true\n";
    let expect = ["crates/a/Cargo.toml:2: `bytes` is unused: remove it"];
    check_crate(manifest, "fn f(bytes: &[u8]) { /* bytes::Bytes */ g(\"bytes::Bytes\") }", &expect);
}

#[test]
fn use_in_another_crate_does_not_count() {
    check_rule(
        check,
        &[
            ("crates/a/Cargo.toml", "[dependencies]\nbytes.workspace = true\n"),
            ("crates/ab/src/lib.rs", "use bytes::Bytes;"),
        ],
        &["crates/a/Cargo.toml:2: `bytes` is unused: remove it"],
    );
}

#[test]
fn dependency_of_tests_must_be_a_dev_dependency() {
    let source = "#[cfg(test)]\nmod tests { use proptest::prelude::*; }";
    check_crate("[dev-dependencies]\nproptest = \"1\"\n", source, &[]);
    let expect = ["crates/a/Cargo.toml:2: `proptest` is unused: only tests use it: make it a dev-dependency"];
    check_crate("[dependencies]\nproptest = \"1\"\n", source, &expect);
}

#[test]
fn build_dependency_must_be_used_by_the_build_script() {
    let manifest = ("crates/a/Cargo.toml", "[build-dependencies]\ncc = \"1\"\n");
    check_rule(check, &[manifest, ("crates/a/build.rs", "fn main() { cc::Build::new(); }")], &[]);
    check_rule(
        check,
        &[manifest, ("crates/a/src/lib.rs", "fn main() { cc::Build::new(); }")],
        &["crates/a/Cargo.toml:2: `cc` is unused: the build script does not name it"],
    );
}

#[test]
fn workspace_dependency_must_be_used_by_a_crate() {
    check_rule(
        check,
        &[
            ("Cargo.toml", "[workspace.dependencies]\nbytes = \"1\"\nrand = \"1\"\n"),
            ("crates/a/Cargo.toml", "[dependencies]\nbytes.workspace = true\n"),
            ("crates/a/src/lib.rs", "use bytes::Bytes;"),
        ],
        &["Cargo.toml:3: no crate of the workspace uses `rand`: remove it"],
    );
}

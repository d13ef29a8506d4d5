//! Unit tests of `tools.rs`.

use super::*;

#[test]
fn hermod_setup_no_forbids_installing_and_names_the_command() {
    assert!(permit("", "gcc", "apt-get install gcc").is_ok());
    let refused = permit("no", "gcc", "apt-get install gcc").expect_err("installing is forbidden");
    let expect = "gcc is missing, and HERMOD_SETUP=no forbids installing it; run `apt-get install gcc`";
    assert_eq!(refused.to_string(), expect);
}

#[test]
fn only_the_pinned_cargo_deny_is_accepted() {
    for (version_line, expect) in [
        ("cargo-deny 0.20.2\n", true),
        ("cargo-deny 0.20.20\n", false),
        ("cargo-deny 0.14.2\n", false),
        ("", false),
    ] {
        assert_eq!(is_pinned(version_line), expect, "{version_line:?}");
    }
}

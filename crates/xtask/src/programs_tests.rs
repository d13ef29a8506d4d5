//! Unit tests of `programs.rs`.

use super::*;

#[track_caller]
fn check(binary: Option<&str>, simulator: Option<&str>, expect: (&str, &str)) {
    let (hermod, simulator) = files(binary.map(Path::new), simulator.map(Path::new), Path::new("/built"));
    assert_eq!((hermod.to_str(), simulator.to_str()), (Some(expect.0), Some(expect.1)));
}

#[test]
fn simulator_is_beside_the_gateway_unless_it_is_named() {
    check(None, None, ("/built/hermod", "/built/hermod-sim"));
    check(Some("old/hermod-1"), None, ("old/hermod-1", "old/hermod-sim"));
    check(Some("old/hermod"), Some("sim"), ("old/hermod", "sim"));
    check(None, Some("sim"), ("/built/hermod", "sim"));
}

#[test]
fn missing_program_is_named() {
    let missing = existing(Path::new("/nowhere/hermod")).expect_err("it does not exist");
    assert!(missing.to_string().starts_with("/nowhere/hermod: "), "{missing}");
}

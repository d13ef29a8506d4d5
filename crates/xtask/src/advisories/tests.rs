//! The decisions of the check: which versions an advisory affects, what fails and what is only noted.

use super::*;

fn advisory(extra: &str, versions: &str) -> Advisory {
    let text = format!(
        "```toml\n[advisory]\nid = \"RUSTSEC-2099-0001\"\npackage = \"serde\"\ndate = \"2099-01-02\"\n{extra}\n\
         [versions]\n{versions}\n```\n\n# A title\n\nText.\n"
    );
    Advisory::parse(&text).unwrap()
}

#[test]
fn version_is_affected_unless_patched_unaffected_or_withdrawn() {
    let versions = "patched = [\">= 1.38.2, < 1.39.0\", \">= 1.42.1\"]\nunaffected = [\"< 0.2.5\"]";
    let open = advisory("", versions);
    let withdrawn = advisory("withdrawn = \"2099-02-01\"", versions);
    for (version, expect) in [
        ("0.2.4", false),
        ("0.2.5", true),
        ("1.38.1", true),
        ("1.38.2", false),
        ("1.39.0", true),
        ("1.42.1", false),
        ("1.42.1+spec-1.0", false),
        ("1.43.0-rc.1", true),
    ] {
        let version = Version::parse(version).unwrap();
        assert_eq!(open.affects(&version), expect, "{version}");
        assert!(!withdrawn.affects(&version), "{version}");
    }
    assert!(advisory("", "patched = []").affects(&Version::parse("9.9.9").unwrap()), "nothing is fixed");
}

#[test]
fn unsound_code_is_a_vulnerability_and_unmaintained_code_is_a_notice() {
    for (extra, expect) in [
        ("", Kind::Vulnerability),
        ("informational = \"unsound\"", Kind::Vulnerability),
        ("informational = \"unmaintained\"", Kind::Notice),
        ("informational = \"notice\"", Kind::Notice),
    ] {
        assert_eq!(advisory(extra, "patched = []").kind, expect, "{extra}");
    }
}

#[test]
fn only_crates_from_a_registry_are_compared() {
    let lock = "version = 4\n[[package]]\nname = \"hermod\"\nversion = \"0.1.0\"\n\
                [[package]]\nname = \"serde\"\nversion = \"1.0.1\"\nsource = \"registry+x\"\n";
    let crates: Vec<_> = crates_of(lock).unwrap().into_iter().map(|found| found.name).collect();
    assert_eq!(crates, ["serde"]);
}

#[test]
fn exception_needs_a_reason() {
    let ignore = |entry: &str| ignored_by(&format!("[advisories]\nignore = [{entry}]\n"));
    assert_eq!(
        ignore("{ id = \"RUSTSEC-2099-0001\", reason = \"not reached\" }"),
        Ok(vec!["RUSTSEC-2099-0001".to_owned()])
    );
    assert!(ignore("{ id = \"RUSTSEC-2099-0001\" }").is_err());
    assert!(ignore("\"RUSTSEC-2099-0001\"").is_err());
    assert_eq!(ignored_by(""), Ok(vec![]));
}

//! Unit tests of `sbom.rs`.

use super::*;

fn named<'a>(bill: &'a Value, name: &str) -> Option<&'a Value> {
    list(&bill["components"]).find(|component| text(component, "name") == name)
}

#[test]
fn bill_of_the_real_product_has_the_form_of_cyclonedx() {
    let bill = bill().expect("cargo metadata works here");
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&json!("CycloneDX"), &json!("1.5")));
    assert_eq!(bill["metadata"]["component"]["name"], PRODUCT);
    let mut refs = BTreeSet::from([text(&bill["metadata"]["component"], "bom-ref")]);
    for component in list(&bill["components"]) {
        let is_complete = ["type", "name", "version"].iter().all(|key| !text(component, key).is_empty());
        assert!(is_complete, "{component}");
        assert!(refs.insert(text(component, "bom-ref")), "twice: {component}");
        let is_crate = text(component, "purl").starts_with("pkg:cargo/");
        let hash = text(&component["hashes"][0], "content");
        assert_eq!(hash.len() == 64, is_crate, "every crate from the registry has its checksum: {component}");
        if is_crate {
            assert!(!text(&component["licenses"][0], "expression").is_empty(), "{component}");
        }
    }
    let described: BTreeSet<&str> = list(&bill["dependencies"]).map(|entry| text(entry, "ref")).collect();
    assert_eq!(described, refs, "each component says what it depends on");
    let needed = list(&bill["dependencies"]).flat_map(|entry| list(&entry["dependsOn"]));
    assert!(needed.filter_map(Value::as_str).all(|needed| refs.contains(needed)));
}

#[test]
fn bill_lists_what_is_built_and_not_what_only_tests_use() {
    let bill = bill().expect("cargo metadata works here");
    for built in ["rusqlite", "ring", "tokio", "hermod-store", "cc"] {
        assert!(named(&bill, built).is_some(), "{built}");
    }
    for only_tests in ["proptest", "sms_splitter", "pulldown-cmark", "xtask"] {
        assert!(named(&bill, only_tests).is_none(), "{only_tests}");
    }
    let sqlite = named(&bill, "sqlite").expect("SQLite is compiled in");
    assert!(text(sqlite, "version").starts_with("3."), "{sqlite}");
}

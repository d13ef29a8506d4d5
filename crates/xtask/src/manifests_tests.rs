//! Unit tests of `manifests.rs`.

use super::*;

#[test]
fn all_tables_of_a_manifest_are_read() {
    let text = "[dependencies]\nserde.workspace = true\n[dev-dependencies]\nproptest = \"1\"\n\
                    [build-dependencies]\ncc = \"1\"\n[target.'cfg(unix)'.dependencies]\nrustix = \"1\"\n";
    let tree = Tree::of(&[("crates/a/Cargo.toml", text)]);
    let manifest = manifests(&tree).remove(0);
    let found: Vec<_> =
        manifest.dependencies.iter().map(|found| (found.key.as_str(), found.table, found.line)).collect();
    assert_eq!(
        found,
        [
            ("serde", Table::Dependencies, 2),
            ("proptest", Table::Dev, 4),
            ("cc", Table::Build, 6),
            ("rustix", Table::Dependencies, 8)
        ]
    );
    assert_eq!(manifest.folder, "crates/a/");
}

#[test]
fn the_root_shares_dependencies_without_using_them() {
    let tree = Tree::of(&[("Cargo.toml", "[workspace.dependencies]\nbytes = \"1\"\n")]);
    let manifest = manifests(&tree).remove(0);
    assert!(manifest.dependencies.is_empty());
    assert_eq!(manifest.shared[0].key, "bytes");
}

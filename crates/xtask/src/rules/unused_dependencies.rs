//! Every dependency is used: as a path in the crate's product code, a dev-dependency in any code, a build-dependency in the
//! build script.

use std::collections::BTreeSet;

use crate::manifests::{Dependency, Manifest, Table, identifier, manifests};
use crate::rules::Violation;
use crate::rust_paths::named_paths;
use crate::rust_source::{RustFile, rust_files};
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let files = rust_files(tree);
    let manifests = manifests(tree);
    let used_by_members: BTreeSet<&str> = manifests
        .iter()
        .flat_map(|manifest| &manifest.dependencies)
        .map(|found| found.key.as_str())
        .collect();
    let mut found = Vec::new();
    for manifest in &manifests {
        found.extend(check_manifest(manifest, &files));
        for shared in manifest.shared.iter().filter(|shared| !used_by_members.contains(shared.key.as_str())) {
            let message = format!("no crate of the workspace uses `{}`: remove it", shared.key);
            found.push(Violation::new(&manifest.path, shared.line, message));
        }
    }
    found
}

fn check_manifest(manifest: &Manifest, files: &[RustFile<'_>]) -> Vec<Violation> {
    let own: Vec<&RustFile<'_>> =
        files.iter().filter(|file| file.path.starts_with(&manifest.folder)).collect();
    let build_script = format!("{}build.rs", manifest.folder);
    let first_segments =
        |code: &str| named_paths(code).into_iter().filter_map(|path| path.segments.into_iter().next());
    let built: BTreeSet<String> = own
        .iter()
        .filter(|file| file.path == build_script)
        .flat_map(|file| first_segments(&file.code))
        .collect();
    let rest: Vec<_> = own.iter().filter(|file| file.path != build_script).collect();
    let product: BTreeSet<String> = rest.iter().flat_map(|file| first_segments(&file.product)).collect();
    let anywhere: BTreeSet<String> = rest.iter().flat_map(|file| first_segments(&file.code)).collect();
    let is_used = |dependency: &&Dependency| {
        let name = identifier(&dependency.key);
        match dependency.table {
            Table::Dependencies => product.contains(&name),
            Table::Dev => anywhere.contains(&name),
            Table::Build => built.contains(&name),
        }
    };
    let unused = manifest.dependencies.iter().filter(|dependency| !is_used(dependency));
    unused
        .map(|dependency| {
            let advice = match dependency.table {
                Table::Dependencies if anywhere.contains(&identifier(&dependency.key)) => {
                    "only tests use it: make it a dev-dependency"
                }
                Table::Dependencies | Table::Dev => "remove it",
                Table::Build => "the build script does not name it",
            };
            Violation::new(
                &manifest.path,
                dependency.line,
                format!("`{}` is unused: {advice}", dependency.key),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
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
        let expect =
            ["crates/a/Cargo.toml:2: `proptest` is unused: only tests use it: make it a dev-dependency"];
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
}

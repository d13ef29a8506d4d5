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
#[path = "unused_dependencies_tests.rs"]
mod tests;

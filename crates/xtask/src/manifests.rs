//! Reads the dependencies of all Cargo.toml files.

use crate::tree::Tree;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Dependencies,
    Dev,
    Build,
}

pub(crate) struct Dependency {
    /// The key in the manifest, which is the name the code uses.
    pub(crate) key: String,
    pub(crate) table: Table,
    pub(crate) line: usize,
}

pub(crate) struct Manifest {
    pub(crate) path: String,
    /// The crate's folder with a slash at the end; empty for the root.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// Keys of `[workspace.dependencies]`; only the root has any.
    pub(crate) shared: Vec<Dependency>,
}

/// Returns every manifest that is valid TOML. Cargo itself rejects the others.
pub(crate) fn manifests(tree: &Tree) -> Vec<Manifest> {
    let is_manifest = |path: &str| path == "Cargo.toml" || path.ends_with("/Cargo.toml");
    let files = tree.with_extension("toml").filter(|file| is_manifest(&file.path));
    files.filter_map(|file| parse(&file.path, &file.text)).collect()
}

/// Returns the name of a dependency in code: `tracing-subscriber` is `tracing_subscriber`.
pub(crate) fn identifier(key: &str) -> String {
    key.replace('-', "_")
}

/// Whether the dependency is one of our crates, by its prefix.
pub(crate) fn is_ours(key: &str) -> bool {
    key == "hermod" || key.starts_with("hermod-")
}

fn parse(path: &str, text: &str) -> Option<Manifest> {
    let root: toml::Table = text.parse().ok()?;
    let mut dependencies = tables_of(&root, text);
    let targets = root.get("target").and_then(toml::Value::as_table);
    for target in targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table) {
        dependencies.extend(tables_of(target, text));
    }
    let workspace = root.get("workspace").and_then(toml::Value::as_table);
    let shared = workspace.map(|workspace| keys(workspace, "dependencies", Table::Dependencies, text));
    Some(Manifest {
        path: path.to_owned(),
        folder: path.strip_suffix("Cargo.toml").unwrap_or_default().to_owned(),
        dependencies,
        shared: shared.unwrap_or_default(),
    })
}

fn tables_of(table: &toml::Table, text: &str) -> Vec<Dependency> {
    let mut found = keys(table, "dependencies", Table::Dependencies, text);
    found.extend(keys(table, "dev-dependencies", Table::Dev, text));
    found.extend(keys(table, "build-dependencies", Table::Build, text));
    found
}

fn keys(parent: &toml::Table, name: &str, table: Table, text: &str) -> Vec<Dependency> {
    let found = parent.get(name).and_then(toml::Value::as_table);
    let keys = found.into_iter().flat_map(toml::Table::keys);
    keys.map(|key| Dependency { key: key.clone(), table, line: line_of(text, key) }).collect()
}

/// Returns the first line that starts with the key.
fn line_of(text: &str, key: &str) -> usize {
    let starts = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
    text.lines().position(starts).map_or(1, |index| index + 1)
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;

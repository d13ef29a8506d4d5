//! Every direct dependency has a row with its reason in docs/dependencies.md, and every row has its dependency.

use std::collections::BTreeMap;

use crate::manifests::{is_ours, manifests};
use crate::rules::Violation;
use crate::tree::Tree;

const TABLE: &str = "docs/dependencies.md";

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut wanted: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for manifest in manifests(tree) {
        for dependency in
            manifest.dependencies.iter().chain(&manifest.shared).filter(|found| !is_ours(&found.key))
        {
            wanted.entry(dependency.key.clone()).or_insert((manifest.path.clone(), dependency.line));
        }
    }
    let reasons = reasons(tree.text_of(TABLE).unwrap_or_default());
    let unexplained = wanted.iter().filter(|(key, _)| !reasons.contains_key(key.as_str()));
    let unexplained = unexplained
        .map(|(key, (path, line))| Violation::new(path, *line, format!("give `{key}` a line in {TABLE}")));
    let left_over = reasons.iter().filter_map(|(key, (line, reason))| match wanted.contains_key(*key) {
        false => Some(Violation::new(TABLE, *line, format!("nobody depends on `{key}`: remove its line"))),
        true if reason.is_empty() => Some(Violation::new(TABLE, *line, format!("`{key}` has no reason"))),
        true => None,
    });
    unexplained.chain(left_over).collect()
}

/// Returns the rows of the form "| `name` | reason ... |": name to line number and reason.
fn reasons(text: &str) -> BTreeMap<&str, (usize, &str)> {
    let mut found = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let name = cells.next().and_then(|cell| cell.strip_prefix('`')?.strip_suffix('`'));
        if let Some(name) = name {
            found.insert(name, (index + 1, cells.next().unwrap_or_default()));
        }
    }
    found
}

#[cfg(test)]
#[path = "dependency_reasons_tests.rs"]
mod tests;

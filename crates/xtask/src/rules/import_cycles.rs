//! Sibling modules do not import each other in a cycle, so that each can be read, tested and moved alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::rules::Violation;
use crate::rust_paths::{absolute, module_of, named_paths};
use crate::rust_source::{RustFile, rust_files};
use crate::tree::Tree;

/// The imports among the children of one module, and where they are.
type Imports = BTreeMap<String, BTreeMap<String, Place>>;

/// A crate's folder, and the path of a module in it.
type Module<'t> = (&'t str, Vec<String>);

#[derive(Clone)]
struct Place {
    path: String,
    line: usize,
}

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let files = rust_files(tree);
    let modules: BTreeSet<Module<'_>> = files.iter().filter_map(|file| module_of(file.path)).collect();
    let re_exports = re_exports(&files, &modules);
    let mut families: BTreeMap<Module<'_>, Imports> = BTreeMap::new();
    for file in &files {
        let Some((folder, own)) = module_of(file.path) else { continue };
        for named in named_paths(&file.product) {
            let target = absolute(&own, &named);
            let shared = own.iter().zip(&target).take_while(|(own, named)| own == named).count();
            let (Some(from), Some(to)) = (own.get(shared), target.get(shared)) else { continue };
            let parent = (folder, own[..shared].to_vec());
            let is_module = |name: &String| modules.contains(&child(&parent, name));
            let names = re_exports.get(&parent);
            let to = if is_module(to) { Some(to) } else { names.and_then(|names| names.get(to)) };
            if let Some(to) = to.filter(|to| is_module(from) && *to != from) {
                let imports = families.entry(parent).or_default();
                let place = Place { path: file.path.to_owned(), line: named.line };
                imports.entry(from.clone()).or_default().entry(to.clone()).or_insert(place);
            }
        }
    }
    families.values().flat_map(cycles).collect()
}

fn child<'t>((folder, path): &Module<'t>, name: &str) -> Module<'t> {
    (folder, path.iter().map(String::as_str).chain([name]).map(str::to_owned).collect())
}

/// Returns for each module the names that it re-exports from its children (`pub use child::Name`, `pub use child::*`), each
/// with its child: an import of such a name from the parent is an import of the child.
fn re_exports<'t>(
    files: &[RustFile<'t>],
    modules: &BTreeSet<Module<'t>>,
) -> BTreeMap<Module<'t>, BTreeMap<String, String>> {
    let sources: BTreeMap<Module<'_>, &RustFile<'_>> =
        files.iter().filter_map(|file| Some((module_of(file.path)?, file))).collect();
    let mut re_exports: BTreeMap<Module<'_>, BTreeMap<String, String>> = BTreeMap::new();
    for (module, file) in &sources {
        for named in named_paths(&file.product) {
            let [first, .., last] = &named.segments[..] else { continue };
            let source = child(module, first);
            if !modules.contains(&source) {
                continue;
            }
            let names = re_exports.entry(module.clone()).or_default();
            match last.as_str() {
                "*" => {
                    let defined =
                        sources.get(&source).into_iter().flat_map(|file| public_names(&file.product));
                    names.extend(defined.map(|name| (name.to_owned(), first.clone())));
                }
                name => drop(names.insert(name.to_owned(), first.clone())),
            }
        }
    }
    re_exports
}

/// Returns the names that a module defines for others.
fn public_names(code: &str) -> impl Iterator<Item = &str> {
    const KINDS: [&str; 7] = ["struct ", "enum ", "trait ", "type ", "const ", "static ", "fn "];
    code.lines().filter_map(|line| {
        let item = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "))?;
        let item = item
            .strip_prefix("const fn ")
            .or_else(|| KINDS.iter().find_map(|kind| item.strip_prefix(kind)))?;
        item.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}

/// Returns one violation for each group of modules that reach each other: its shortest cycle.
fn cycles(imports: &Imports) -> Vec<Violation> {
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for start in imports.keys() {
        let Some(cycle) = shortest_cycle(imports, start) else { continue };
        if cycle.iter().any(|module| told.contains(module)) {
            continue;
        }
        told.extend(&cycle);
        let hops: Vec<String> = cycle
            .iter()
            .zip(cycle.iter().cycle().skip(1))
            .map(|(from, to)| {
                let Place { path, line } = &imports[*from][*to];
                format!("{from} imports {to} ({path}:{line})")
            })
            .collect();
        let Place { path, line } = &imports[cycle[0]][cycle[1 % cycle.len()]];
        let message = format!("{}: move what both need below them", hops.join(", "));
        found.push(Violation::new(path, *line, message));
    }
    found
}

fn shortest_cycle<'i>(imports: &'i Imports, start: &'i str) -> Option<Vec<&'i str>> {
    let mut predecessors: BTreeMap<&str, &str> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(module) = waiting.pop_front() {
        for next in imports.get(module).into_iter().flat_map(|targets| targets.keys()) {
            if next == start {
                let mut cycle = vec![module];
                while let Some(before) = predecessors.get(cycle[cycle.len() - 1]) {
                    cycle.push(before);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !predecessors.contains_key(next.as_str()) {
                predecessors.insert(next, module);
                waiting.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
#[path = "import_cycles_tests.rs"]
mod tests;

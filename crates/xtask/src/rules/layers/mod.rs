//! Dependencies between layers. The table below lists the allowed dependencies of each crate, and the paths that crates
//! without I/O must not use. In the gateway, `app` uses no protocol and no edge uses another; in the store, only one folder
//! uses SQLite; in the operator's side, the parts of a subject point one way and only its routes know HTTP.

use std::collections::BTreeSet;

use crate::manifests::{Manifest, Table, identifier, is_ours, manifests};
use crate::rules::Violation;
use crate::rust_paths::{NamedPath, absolute, module_of, named_paths};
use crate::rust_source::{RustFile, rust_files};
use crate::tree::Tree;

struct Layer {
    folder: &'static str,
    /// Our crates that this one may depend on.
    may_use: &'static [&'static str],
    /// Further crates of ours that its tests may use.
    tests_may_use: &'static [&'static str],
    never: &'static [Ban],
}

struct Ban {
    path: &'static str,
    instead: &'static str,
}

/// Paths that a crate without I/O must not use in product code; its tests may read golden files.
const IMPURE: &[Ban] = &[
    Ban { path: "tokio", instead: "stay synchronous and return what is to be done" },
    Ban { path: "futures", instead: "stay synchronous and return what is to be done" },
    Ban { path: "std::net::TcpStream", instead: "take bytes, return bytes" },
    Ban { path: "std::net::TcpListener", instead: "take bytes, return bytes" },
    Ban { path: "std::net::UdpSocket", instead: "take bytes, return bytes" },
    Ban { path: "std::net::ToSocketAddrs", instead: "name resolution belongs to the gateway" },
    Ban { path: "std::fs", instead: "take the content as an argument" },
    Ban { path: "std::io", instead: "take the content as an argument" },
    Ban { path: "std::env", instead: "take the value as an argument" },
    Ban { path: "std::process", instead: "return what is to be done" },
    Ban { path: "std::thread", instead: "stay synchronous and return what is to be done" },
    Ban { path: "std::time::SystemTime", instead: "take `now` as an argument" },
    Ban { path: "std::time::Instant", instead: "take `now` as an argument" },
];

const LAYERS: [Layer; 9] = [
    layer("crates/domain/", &[], &[], IMPURE),
    layer("crates/smpp/", &[], &[], IMPURE),
    layer("crates/engine/", &["hermod-domain"], &[], IMPURE),
    layer("crates/store/", &["hermod-engine", "hermod-domain"], &[], &[]),
    layer("crates/simulator/", &["hermod-smpp", "hermod-domain"], &[], &[]),
    layer(
        "crates/gateway/",
        &["hermod-store", "hermod-smpp", "hermod-domain"],
        &["hermod-simulator", "hermod-operator"],
        &[],
    ),
    layer("crates/operator/", &["hermod-gateway", "hermod-store", "hermod-smpp", "hermod-domain"], &[], &[]),
    layer("crates/portal/", &["hermod-domain", "hermod-gateway", "hermod-operator"], &[], &[]),
    layer("crates/xtask/", &[], &[], &[]),
];

const fn layer(
    folder: &'static str,
    may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
    never: &'static [Ban],
) -> Layer {
    Layer { folder, may_use, tests_may_use, never }
}

const APP: &str = "crates/gateway/src/app";
const EDGES: &str = "crates/gateway/src/edges/";

/// Crates of protocols, which use cases must not name.
const WIRES: &[Ban] = &[
    Ban { path: "axum", instead: "let the edge translate" },
    Ban { path: "hyper", instead: "let the edge translate" },
    Ban { path: "hyper_util", instead: "let the edge translate" },
    Ban { path: "tokio::net", instead: "let the edge own the socket" },
    Ban { path: "hermod_smpp", instead: "let the edge translate" },
    Ban { path: "crate::edges", instead: "edges call app, never the other way" },
];

const STORE: &str = "crates/store/src/";
/// The SQL, and what is particular to each database.
const DATABASES: [&str; 5] = [
    "crates/store/src/audit/",
    "crates/store/src/postgres/",
    "crates/store/src/record/database/",
    "crates/store/src/sql/",
    "crates/store/src/sqlite/",
];
const BACKENDS: &str = "crates/store/src/backend/";

/// Paths that only the databases of the store may name.
const DRIVERS: &[Ban] =
    &[Ban { path: "rusqlite", instead: "put it behind a function of `sqlite/`, and that behind a backend" }];

/// Paths that only the backends of the store may name. Reads of `sql` run on every database.
const BACKEND_FOLDERS: &[Ban] = &[
    Ban { path: "crate::sql::SqlTables", instead: "ask a backend for its tables" },
    Ban { path: "crate::sqlite", instead: "ask a backend, so that another database can answer" },
    Ban { path: "crate::postgres", instead: "ask a backend, so that another database can answer" },
];

const OPERATOR: &str = "crates/operator/src/";

/// The parts of a subject of the operator's side, by the name of their file or folder, and the modules that each must not name.
/// A file with two of the names is the first that is listed here. A subject of one file has all parts.
const PARTS: [(&str, &[&str]); 6] = [
    ("api", &[]),
    ("routes", &["api"]),
    ("entry", &["api", "http", "routes", "setup", "use_cases"]),
    ("views", &["api", "http", "routes", "use_cases"]),
    ("use_cases", &["api", "http", "routes"]),
    ("", &["api"]),
];

/// Crates of HTTP, which only routes and what they share may name.
const HTTP: &[Ban] = &[
    Ban { path: "axum", instead: "let a route or `http/` translate" },
    Ban { path: "hyper", instead: "let a route or `http/` translate" },
    Ban { path: "http_body_util", instead: "let a route or `http/` translate" },
];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let files = rust_files(tree);
    let edges = edge_names(&files);
    let mut found: Vec<Violation> = manifests(tree).iter().flat_map(check_manifest).collect();
    for file in &files {
        let paths = named_paths(&file.product);
        if let Some(layer) = LAYERS.iter().find(|layer| file.path.starts_with(layer.folder)) {
            found.extend(check_ours(file.path, layer, &named_paths(&file.code)));
            found.extend(check_bans(file.path, layer.never, &paths));
        }
        if file.path.strip_prefix(APP).is_some_and(|rest| rest.starts_with(['/', '.'])) {
            found.extend(check_bans(file.path, WIRES, &paths));
        }
        if file.path.starts_with(STORE) && !DATABASES.iter().any(|folder| file.path.starts_with(folder)) {
            // Its tests too: what tests a database stands beside the SQL.
            let all = named_paths(&file.code);
            found.extend(check_bans(file.path, DRIVERS, &all));
            if !file.path.starts_with(BACKENDS) {
                found.extend(check_bans(file.path, BACKEND_FOLDERS, &all));
            }
        }
        found.extend(check_edge(file.path, &edges, &paths));
        found.extend(check_subject(file.path, &paths));
    }
    found
}

fn check_manifest(manifest: &Manifest) -> Vec<Violation> {
    let Some(layer) = LAYERS.iter().find(|layer| manifest.folder == layer.folder) else { return Vec::new() };
    let ours = manifest.dependencies.iter().filter(|dependency| is_ours(&dependency.key));
    let forbidden = ours.filter(|dependency| {
        let in_tests =
            dependency.table == Table::Dev && layer.tests_may_use.contains(&dependency.key.as_str());
        !in_tests && !layer.may_use.contains(&dependency.key.as_str())
    });
    forbidden.map(|found| arrow(&manifest.path, found.line, layer, &found.key)).collect()
}

/// Checks the crates that code names, in tests too: dev-dependencies are allowed by the manifest.
fn check_ours(path: &str, layer: &Layer, paths: &[NamedPath]) -> Vec<Violation> {
    let allowed: BTreeSet<String> =
        layer.may_use.iter().chain(layer.tests_may_use).map(|key| identifier(key)).collect();
    let own =
        identifier(&format!("hermod-{}", layer.folder.trim_end_matches('/').trim_start_matches("crates/")));
    let names_ours = |path: &&NamedPath| {
        path.segments
            .first()
            .is_some_and(|first| first.starts_with("hermod_") && !allowed.contains(first) && *first != own)
    };
    paths.iter().filter(names_ours).map(|found| arrow(path, found.line, layer, &found.segments[0])).collect()
}

fn arrow(path: &str, line: usize, layer: &Layer, name: &str) -> Violation {
    let folder = layer.folder.trim_end_matches('/');
    let message = match layer.may_use {
        [] => format!("{folder} uses nothing of ours, and here it names {name}"),
        allowed => format!("{folder} may use {} of ours, and here it names {name}", allowed.join(", ")),
    };
    Violation::new(path, line, message)
}

fn check_bans(path: &str, bans: &[Ban], paths: &[NamedPath]) -> Vec<Violation> {
    let mut found = Vec::new();
    for named in paths {
        for ban in bans.iter().filter(|ban| named.names(ban.path)) {
            let message = format!("{} does not belong in this layer: {}", named.text(), ban.instead);
            found.push(Violation::new(path, named.line, message));
        }
    }
    found
}

/// Returns the edges: the files and folders directly under `edges/`.
fn edge_names(files: &[RustFile<'_>]) -> BTreeSet<String> {
    let edges = files.iter().filter_map(|file| edge_of(file.path));
    edges.map(str::to_owned).collect()
}

fn edge_of(path: &str) -> Option<&str> {
    let name = path.strip_prefix(EDGES)?.split('/').next()?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (name != "mod").then_some(name)
}

fn check_edge(path: &str, edges: &BTreeSet<String>, paths: &[NamedPath]) -> Vec<Violation> {
    let (Some(own), Some((_, module))) = (edge_of(path), module_of(path)) else { return Vec::new() };
    let mut found = Vec::new();
    for named in paths {
        let full = absolute(&module, named);
        if let ["edges", other, ..] = full.iter().map(String::as_str).collect::<Vec<_>>().as_slice()
            && *other != own
            && edges.contains(*other)
        {
            let message =
                format!("edge {own} names edge {other}: what both need belongs in app or beside the edges");
            found.push(Violation::new(path, named.line, message));
        }
    }
    found
}

fn check_subject(path: &str, paths: &[NamedPath]) -> Vec<Violation> {
    let (Some(file), Some((_, module))) = (path.strip_prefix(OPERATOR), module_of(path)) else {
        return Vec::new();
    };
    let is =
        |part: &str| part.is_empty() || file.trim_end_matches(".rs").split('/').any(|piece| piece == part);
    let (part, above) = PARTS.iter().find(|(part, _)| is(part)).expect("the last row is every file");
    let knows_http = ["api", "http", "routes"].into_iter().any(is);
    let mut found = check_bans(path, if knows_http { &[] } else { HTTP }, paths);
    for named in paths {
        let full = absolute(&module, named);
        if let Some(segment) = full.iter().find(|segment| above.contains(&segment.as_str())) {
            let part = if part.is_empty() { "a subject" } else { part };
            let message = format!("{} does not belong here: {part} is below {segment}", named.text());
            found.push(Violation::new(path, named.line, message));
        }
    }
    found
}

#[cfg(test)]
mod tests;
